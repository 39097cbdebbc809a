/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "analysis/timeline/stack_texts.h"

#include <string.h>

#include "common/elf/elf_symbols.h"
#include "common/text.h"

struct file {
	const struct vprof_kernel_module *module; /* the first of this path and build id */
	struct vprof_elf *elf;			  /* NULL: cannot be read, or was built again */
};

struct vprof_stack_texts {
	const struct vprof_kernel_tables *tables;
	VPROF_ARRAY(struct file) files;
	struct vprof_arena texts;
};

struct vprof_stack_texts *vprof_stack_texts_new(const struct vprof_kernel_tables *tables)
{
	struct vprof_stack_texts *t = calloc(1, sizeof *t);

	if (t)
		t->tables = tables;
	return t;
}

void vprof_stack_texts_free(struct vprof_stack_texts *t)
{
	if (!t)
		return;
	for (size_t i = 0; i < t->files.n; i++)
		vprof_elf_free(t->files.v[i].elf);
	VPROF_ARRAY_RELEASE(&t->files);
	vprof_arena_release(&t->texts);
	free(t);
}

static struct vprof_elf *elf_of(struct vprof_stack_texts *t, const struct vprof_kernel_module *m)
{
	struct file *f;

	for (size_t i = 0; i < t->files.n; i++) {
		const struct vprof_kernel_module *known = t->files.v[i].module;

		if (!strcmp(known->path, m->path) && known->n_build_id == m->n_build_id &&
		    !memcmp(known->build_id, m->build_id, m->n_build_id))
			return t->files.v[i].elf;
	}
	f = VPROF_PUSH(&t->files);
	if (!f)
		return NULL;
	f->module = m;
	if (vprof_elf_open(&f->elf, m->path, NULL, NULL))
		f->elf = NULL;
	if (f->elf && !vprof_elf_same_build(f->elf, m->build_id, m->n_build_id)) {
		vprof_elf_free(f->elf);
		f->elf = NULL;
	}
	return f->elf;
}

static const char *file_name(const char *path)
{
	const char *slash = strrchr(path, '/');

	return slash ? slash + 1 : path;
}

static void add_name(struct vprof_text *text, const char *name)
{
	vprof_text_addf(text, "%s%s", text->len ? " < " : "", name);
}

static void add_user_frame(struct vprof_stack_texts *t, const struct vprof_kernel_process *p, uint64_t address,
			   int is_return, struct vprof_text *text)
{
	const struct vprof_kernel_module *m = vprof_kernel_module_find(p, address - (uint64_t)is_return);
	struct vprof_elf *elf = m ? elf_of(t, m) : NULL;
	struct vprof_frame frames[VPROF_ELF_FRAMES_MAX];
	struct vprof_place places[VPROF_ELF_FRAMES_MAX];
	uint64_t at = m ? address - (uint64_t)is_return - m->bias : 0;
	size_t n = elf ? vprof_elf_frames(elf, at, frames, VPROF_ELF_FRAMES_MAX) : 0,
	       n_places = n ? vprof_elf_places(elf, at, places, VPROF_ELF_FRAMES_MAX) : 0;

	for (size_t i = 0; i < n; i++) {
		add_name(text, frames[i].symbol->name);
		if (i < n_places && places[i].file)
			vprof_text_addf(text, " (%s:%d)", file_name(places[i].file), places[i].line);
	}
	if (n)
		return;
	if (m)
		vprof_text_addf(text, "%s%s+0x%llx", text->len ? " < " : "", file_name(m->path),
				(unsigned long long)(address - m->bias));
	else
		vprof_text_addf(text, "%s0x%llx", text->len ? " < " : "", (unsigned long long)address);
}

/* What every kernel stack begins or ends with. */
static int is_common(const char *name)
{
	static const char *const whole[] = { "schedule",
					     "io_schedule",
					     "schedule_timeout",
					     "schedule_hrtimeout",
					     "try_to_wake_up",
					     "wake_up_q",
					     "wake_up_process",
					     "default_wake_function",
					     "do_syscall_64",
					     "x64_sys_call",
					     "ret_from_fork",
					     "ret_from_fork_asm",
					     "el0t_64_sync",
					     "el0_svc",
					     "invoke_syscall",
					     "do_el0_svc",
					     "autoremove_wake_function" };
	static const char *const first[] = {
		"__schedule", "entry_SYSCALL", "asm_", "__wake_up", "schedule_hrtimeout_range", "el0_svc_"
	};

	for (size_t i = 0; i < sizeof whole / sizeof *whole; i++)
		if (!strcmp(name, whole[i]))
			return 1;
	for (size_t i = 0; i < sizeof first / sizeof *first; i++)
		if (!strncmp(name, first[i], strlen(first[i])))
			return 1;
	return 0;
}

static void add_kernel(const struct vprof_stack_texts *t, const struct vprof_kernel_stack *s, struct vprof_text *text)
{
	struct vprof_text kernel = VPROF_TEXT_INIT;

	for (uint32_t i = 0; i < s->n; i++) {
		const struct vprof_kernel_symbol *k =
			vprof_kernel_symbol_find(t->tables, t->tables->addresses.v[s->first + i]);

		if (k && !is_common(k->name))
			add_name(&kernel, k->name);
	}
	if (kernel.len)
		vprof_text_addf(text, "%s[kernel: %s]", text->len ? " " : "", kernel.s);
	text->failed |= kernel.failed;
	vprof_text_release(&kernel);
}

const char *vprof_stack_text(struct vprof_stack_texts *t, uint32_t kernel_stack, uint32_t user_stack)
{
	const struct vprof_kernel_stack *kernel = vprof_kernel_stack_find(t->tables, kernel_stack),
					*user = vprof_kernel_stack_find(t->tables, user_stack);
	struct vprof_text text = VPROF_TEXT_INIT;
	const char *copy;

	if (user && user->process != VPROF_NONE)
		for (uint32_t i = 0; i < user->n; i++)
			add_user_frame(t, &t->tables->processes.v[user->process],
				       t->tables->addresses.v[user->first + i], i > 0, &text);
	if (user && user->is_cut && text.len)
		add_name(&text, "...");
	if (kernel && kernel->process == VPROF_NONE)
		add_kernel(t, kernel, &text);
	copy = text.len ? vprof_arena_copy(&t->texts, text.s, text.len) : "";
	vprof_text_release(&text);
	return copy;
}
