/* SPDX-License-Identifier: GPL-3.0-or-later */
/* User functions come from the files that a process had mapped, the kernel's from the trace's own table. */
#include "analysis/waits/input/stack_names.h"

#include "analysis/timeline/edges/thread_roles.h"
#include "common/elf/elf_symbols.h"
#include "common/files.h"
#include "common/text.h"

#define USER_FRAMES 6	      /* shown */
#define KERNEL_FRAMES 2	      /* ... without the scheduler's own */
#define ROLE_SEGMENTS 1000000 /* of a thread, that are looked at for a stack that tells its role */
#define ROLE_STACKS 64

struct named_file {
	const char *path;
	struct vprof_elf *elf; /* NULL: cannot be read, or is another one now */
};

struct naming {
	const struct vprof_kernel_tables *tables;
	VPROF_ARRAY(struct named_file) files;
	struct vprof_text text;
	size_t n_shown;
};

/* An address as an offset into its file; an address in no file is the process's own. */
struct code_place {
	const struct vprof_kernel_module *module; /* NULL: none */
	uint64_t offset;
	uint32_t pid; /* 0: does not matter */
};

static struct code_place code_place(const struct vprof_kernel_tables *t, const struct vprof_kernel_stack *s, uint32_t i)
{
	const struct vprof_kernel_process *p = s->process == VPROF_NONE ? NULL : &t->processes.v[s->process];
	uint64_t address = t->addresses.v[s->first + i];
	const struct vprof_kernel_module *m = p ? vprof_kernel_module_find(p, address) : NULL;

	return (struct code_place){ m, m ? address - m->bias : address, m || !p ? 0 : p->pid };
}

static uint64_t stack_hash(const struct vprof_kernel_tables *t, const struct vprof_kernel_stack *s)
{
	uint64_t hash = s->process == VPROF_NONE;

	for (uint32_t i = 0; i < s->n; i++)
		hash = vprof_mix(hash + code_place(t, s, i).offset);
	return hash;
}

static int is_same_file(const struct vprof_kernel_module *a, const struct vprof_kernel_module *b)
{
	if (!a || !b || a == b)
		return a == b;
	if (a->n_build_id || b->n_build_id)
		return a->n_build_id == b->n_build_id && !memcmp(a->build_id, b->build_id, a->n_build_id);
	return !strcmp(a->path, b->path);
}

static int is_same(const struct vprof_kernel_tables *t, const struct vprof_kernel_stack *a,
		   const struct vprof_kernel_stack *b)
{
	if (a->n != b->n || (a->process == VPROF_NONE) != (b->process == VPROF_NONE))
		return 0;
	for (uint32_t i = 0; i < a->n; i++) {
		struct code_place p = code_place(t, a, i), q = code_place(t, b, i);

		if (p.offset != q.offset || p.pid != q.pid || !is_same_file(p.module, q.module))
			return 0;
	}
	return 1;
}

int vprof_stacks_find_same(uint32_t *same, const struct vprof_kernel_tables *t)
{
	struct vprof_hash_index index = { 0 };

	for (uint32_t i = 0; i < t->stacks.n; i++) {
		uint64_t hash = stack_hash(t, &t->stacks.v[i]);
		size_t at;

		same[i] = i;
		if (vprof_hash_index_room(&index, 1)) {
			vprof_hash_index_release(&index);
			return VPROF_ERR_NOMEM;
		}
		VPROF_HASH_EACH(&index, hash, at, k)
		{
			if (is_same(t, &t->stacks.v[i], &t->stacks.v[k])) {
				same[i] = k;
				break;
			}
		}
		if (same[i] == i)
			vprof_hash_index_put(&index, at, hash, i);
	}
	vprof_hash_index_release(&index);
	return VPROF_OK;
}

static struct vprof_elf *open_file(struct naming *g, const struct vprof_kernel_module *m)
{
	struct vprof_error err;
	struct named_file *f;

	for (size_t i = 0; i < g->files.n; i++)
		if (!strcmp(g->files.v[i].path, m->path))
			return g->files.v[i].elf;
	f = VPROF_PUSH(&g->files);
	if (!f)
		return NULL;
	f->path = m->path;
	if (!vprof_elf_open(&f->elf, m->path, NULL, &err) && m->n_build_id &&
	    !vprof_elf_same_build(f->elf, m->build_id, m->n_build_id)) {
		vprof_elf_free(f->elf);
		f->elf = NULL;
	}
	if (f->elf)
		vprof_elf_want_lines(f->elf);
	return f->elf;
}

static void add_name(struct naming *g, const char *name, const struct vprof_place *place)
{
	vprof_text_addf(&g->text, "%s%s", g->n_shown++ ? " < " : "", name);
	if (place && place->file && place->line)
		vprof_text_addf(&g->text, " (%s:%d)", vprof_path_name(place->file), place->line);
}

/* A function without a symbol: "memcached+0x1c3d0", from which addr2line finds the line, given the debug file. */
static void add_offset(struct naming *g, const struct vprof_kernel_module *m, uint64_t offset)
{
	vprof_text_addf(&g->text, "%s%s+0x%llx", g->n_shown++ ? " < " : "", vprof_path_name(m->path),
			(unsigned long long)offset);
}

/* Of code that lies in no file: what a just-in-time compiler wrote. */
static void add_address(struct naming *g, uint64_t address)
{
	vprof_text_addf(&g->text, "%s0x%llx", g->n_shown++ ? " < " : "", (unsigned long long)address);
}

static void add_user(struct naming *g, const struct vprof_kernel_stack *s)
{
	const struct vprof_kernel_process *p = &g->tables->processes.v[s->process];

	for (uint32_t i = 0; i < s->n && g->n_shown < USER_FRAMES; i++) {
		uint64_t address = g->tables->addresses.v[s->first + i];
		const struct vprof_kernel_module *m = vprof_kernel_module_find(p, address);
		struct vprof_elf *elf = m ? open_file(g, m) : NULL;
		struct vprof_frame frames[VPROF_ELF_FRAMES_MAX];
		struct vprof_place places[VPROF_ELF_FRAMES_MAX];
		uint64_t offset = m ? address - m->bias - (i > 0) : 0; /* inside the call that it returns behind */
		size_t n = elf ? vprof_elf_frames(elf, offset, frames, VPROF_ELF_FRAMES_MAX) : 0;
		size_t n_places = n ? vprof_elf_places(elf, offset, places, VPROF_ELF_FRAMES_MAX) : 0;

		for (size_t k = 0; k < n && g->n_shown < USER_FRAMES; k++)
			add_name(g, frames[k].symbol->name, k < n_places ? &places[k] : NULL);
		if (!n && m)
			add_offset(g, m, offset);
		else if (!n)
			add_address(g, address - (i > 0));
	}
}

static int is_scheduler(const char *name)
{
	return strstr(name, "schedule") != NULL || !strncmp(name, "bpf_", 4) || !strncmp(name, "__bpf_", 6) ||
	       !strncmp(name, "__traceiter_", 12) || !strncmp(name, "try_to_wake_up", 14);
}

static void add_kernel(struct naming *g, const struct vprof_kernel_stack *s)
{
	int n = 0;

	for (uint32_t i = 0; i < s->n && n < KERNEL_FRAMES; i++) {
		const struct vprof_kernel_symbol *symbol =
			vprof_kernel_symbol_find(g->tables, g->tables->addresses.v[s->first + i]);

		if (!symbol || is_scheduler(symbol->name))
			continue;
		vprof_text_addf(&g->text, "%s%s", n ? " < " : g->text.len ? " [kernel: " : "[kernel: ", symbol->name);
		n++;
	}
	if (n)
		vprof_text_add(&g->text, "]");
}

static const char *name_stack(struct naming *g, struct vprof_waits_input *input, uint64_t ids)
{
	const struct vprof_kernel_stack *user = vprof_kernel_stack_find(g->tables, (uint32_t)(ids >> 32));
	const struct vprof_kernel_stack *kernel = vprof_kernel_stack_find(g->tables, (uint32_t)ids);

	vprof_text_clear(&g->text);
	g->n_shown = 0;
	if (user && user->process != VPROF_NONE)
		add_user(g, user);
	if (kernel && kernel->process == VPROF_NONE)
		add_kernel(g, kernel);
	return g->text.failed ? NULL : vprof_strings_keep(&input->strings, g->text.s);
}

static void release_naming(struct naming *g)
{
	for (size_t i = 0; i < g->files.n; i++)
		vprof_elf_free(g->files.v[i].elf);
	VPROF_ARRAY_RELEASE(&g->files);
	vprof_text_release(&g->text);
}

int vprof_waits_input_name_stacks(struct vprof_waits_input *input, const unsigned char *wanted, struct vprof_error *err)
{
	struct naming g = { .tables = &input->tables, .text = VPROF_TEXT_INIT };
	int ret = VPROF_OK;

	for (size_t i = 1; i < input->stack_ids.n && !ret; i++) {
		if (!wanted[i] || !input->stack_ids.v[i])
			continue;
		input->history.stacks.v[i] = name_stack(&g, input, input->stack_ids.v[i]);
		if (!input->history.stacks.v[i]) {
			input->history.stacks.v[i] = "";
			ret = vprof_error_no_memory(err);
		}
	}
	release_naming(&g);
	return ret;
}

/* What the address tells of the thread whose stack it is on, or NULL: it is of what starts threads. */
static const char *role_at(struct naming *g, const struct vprof_kernel_module *m, uint64_t offset)
{
	struct vprof_elf *elf = open_file(g, m);
	struct vprof_frame frames[VPROF_ELF_FRAMES_MAX];
	size_t n = elf ? vprof_elf_frames(elf, offset, frames, VPROF_ELF_FRAMES_MAX) : 0;
	uint64_t start;

	for (size_t i = n; i-- > 0;)
		if (vprof_symbol_tells(frames[i].symbol))
			return frames[i].symbol->name;
	if (n || !vprof_module_tells(m->path))
		return NULL;
	start = elf ? vprof_elf_frame_start(elf, offset) : 0;
	vprof_text_clear(&g->text);
	g->n_shown = 0;
	add_offset(g, m, start ? start : offset);
	return g->text.failed ? NULL : g->text.s;
}

/* The outermost function on a whole stack that tells something. */
static const char *role_on(struct naming *g, const struct vprof_kernel_stack *s)
{
	const struct vprof_kernel_process *p = &g->tables->processes.v[s->process];
	const char *role = NULL;

	for (uint32_t i = s->n; i-- > 0 && !role;) {
		uint64_t address = g->tables->addresses.v[s->first + i];
		const struct vprof_kernel_module *m = vprof_kernel_module_find(p, address);

		if (m)
			role = role_at(g, m, address - m->bias - (i > 0));
	}
	return role;
}

static int find_role(struct naming *g, struct vprof_waits_input *input, struct vprof_waits_entity *e)
{
	const char *role = NULL;
	size_t n = 0;

	for (size_t i = 0; i < e->segments.n && i < ROLE_SEGMENTS && n < ROLE_STACKS && !role; i++) {
		uint32_t number = e->segments.v[i].wait_stack;
		uint64_t ids = number ? input->stack_ids.v[number] : 0;
		const struct vprof_kernel_stack *user = vprof_kernel_stack_find(g->tables, (uint32_t)(ids >> 32));

		if (!user || user->process == VPROF_NONE || user->cut)
			continue;
		role = e->tid == e->pid ? "main" : role_on(g, user);
		n++;
	}
	e->role = role ? vprof_strings_keep(&input->strings, role) : NULL;
	return role && !e->role ? VPROF_ERR_NOMEM : VPROF_OK;
}

int vprof_waits_input_find_roles(struct vprof_waits_input *input, struct vprof_error *err)
{
	struct naming g = { .tables = &input->tables, .text = VPROF_TEXT_INIT };
	int ret = VPROF_OK;

	for (size_t i = 0; i < input->history.entities.n && input->tables.stacks.n && !ret; i++)
		if (input->history.entities.v[i].kind == VPROF_WAITS_THREAD)
			ret = find_role(&g, input, &input->history.entities.v[i]);
	release_naming(&g);
	return ret ? vprof_error_no_memory(err) : VPROF_OK;
}
