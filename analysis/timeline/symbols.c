/* SPDX-License-Identifier: GPL-3.0-or-later */
/* One reader of symbols for each file, shared by all processes that map it, and what it said of each address: stacks
 * repeat the same ones. */
#include "analysis/timeline/symbols.h"

#include <string.h>

#include "common/files.h"

struct answer {
	uint64_t address;
	uint32_t first, n; /* in the file's frames */
	int is_known;
};

struct file {
	const struct vprof_module *module; /* the first of this path and build id */
	struct vprof_elf *elf;		   /* NULL: not opened yet, cannot be read, or built again since the run */
	char *damage;			   /* why it could not be opened although it is there */
	int is_open, is_changed;
	struct answer *answers; /* open addressing, size a power of two */
	size_t n_answers, n_slots;
	VPROF_ARRAY(const struct vprof_symbol *) frames;
};

struct vprof_symbols {
	const struct vprof_timeline *timeline;
	VPROF_ARRAY(struct file) files;
};

struct vprof_symbols *vprof_symbols_new(const struct vprof_timeline *timeline)
{
	struct vprof_symbols *s = calloc(1, sizeof *s);

	if (s)
		s->timeline = timeline;
	return s;
}

void vprof_symbols_free(struct vprof_symbols *s)
{
	if (!s)
		return;
	for (size_t i = 0; i < s->files.n; i++) {
		vprof_elf_free(s->files.v[i].elf);
		free(s->files.v[i].damage);
		free(s->files.v[i].answers);
		VPROF_ARRAY_RELEASE(&s->files.v[i].frames);
	}
	VPROF_ARRAY_RELEASE(&s->files);
	free(s);
}

int vprof_symbols_is_runtime(const char *module)
{
	return !strncmp(vprof_path_name(module), "libvprof.so", strlen("libvprof.so"));
}

size_t vprof_symbols_changed(const struct vprof_symbols *s, const char **first)
{
	size_t n = 0;

	*first = NULL;
	for (size_t i = 0; i < s->files.n; i++) {
		const struct file *f = &s->files.v[i];

		if (f->is_changed && !vprof_symbols_is_runtime(f->module->path))
			*first = n++ ? *first : f->module->path;
	}
	return n;
}

const char *vprof_symbols_damage(const struct vprof_symbols *s)
{
	for (size_t i = 0; i < s->files.n; i++) {
		const struct file *f = &s->files.v[i];
		const char *damage = f->elf ? vprof_elf_damage(f->elf) : f->damage;

		if (damage)
			return damage;
	}
	return NULL;
}

/* When the trace ended, in CLOCK_REALTIME; 0: not known. */
static int64_t run_end_ns(const struct vprof_timeline *timeline)
{
	const struct vp_file_header *h = &timeline->trace->header;
	uint64_t last = h->end_ticks > timeline->t_last ? h->end_ticks : timeline->t_last;
	double ns = last > h->start_ticks ? (double)(last - h->start_ticks) * timeline->ns_per_tick : 0;

	return h->start_realtime_ns && ns < 1e18 ? (int64_t)h->start_realtime_ns + (int64_t)ns : 0;
}

static void open_file(struct file *f, const struct vprof_timeline *timeline)
{
	int64_t end = run_end_ns(timeline);
	struct vprof_error err;
	int rc, same;

	f->is_open = 1;
	rc = vprof_elf_open(&f->elf, f->module->path, NULL, &err);
	if (rc == VPROF_ERR_INPUT)
		f->damage = strdup(err.message);
	if (rc)
		return;
	same = vprof_elf_same_build(f->elf, f->module->id, f->module->n_id);
	f->is_changed = same < 0 ? end && vprof_elf_changed_ns(f->elf) > end : !same;
	if (f->is_changed) {
		vprof_elf_free(f->elf);
		f->elf = NULL;
	}
}

static struct file *file_of(struct vprof_symbols *s, const struct vprof_module *m)
{
	struct file *f;

	for (size_t i = 0; i < s->files.n; i++)
		if (!strcmp(s->files.v[i].module->path, m->path) && s->files.v[i].module->n_id == m->n_id &&
		    !memcmp(s->files.v[i].module->id, m->id, m->n_id))
			return &s->files.v[i];
	f = VPROF_PUSH(&s->files);
	if (f)
		f->module = m;
	return f;
}

static struct answer *slot_of(struct answer *slots, size_t n_slots, uint64_t address)
{
	size_t i = (size_t)vprof_mix(address) & (n_slots - 1);

	while (slots[i].is_known && slots[i].address != address)
		i = (i + 1) & (n_slots - 1);
	return &slots[i];
}

/* The address' place among the answers; NULL without memory. */
static struct answer *answer_of(struct file *f, uint64_t address)
{
	if (2 * f->n_answers >= f->n_slots) {
		size_t n_slots = f->n_slots ? 2 * f->n_slots : 64;
		struct answer *slots = calloc(n_slots, sizeof *slots);

		if (!slots)
			return NULL;
		for (size_t i = 0; i < f->n_slots; i++)
			if (f->answers[i].is_known)
				*slot_of(slots, n_slots, f->answers[i].address) = f->answers[i];
		free(f->answers);
		f->answers = slots;
		f->n_slots = n_slots;
	}
	return slot_of(f->answers, f->n_slots, address);
}

/* Inlined from the headers that vprof adds to instrumented code. */
static int is_probe(const struct vprof_frame *frame)
{
	const char *header = frame->declared_in ? vprof_path_name(frame->declared_in) : "";

	return (!strcmp(header, "probe.h") && !strncmp(frame->symbol->name, "vp_", strlen("vp_"))) ||
	       (!strcmp(header, "vprof.h") && !strncmp(frame->symbol->name, "vprof_", strlen("vprof_")));
}

static void ask(struct file *f, struct answer *answer, uint64_t address)
{
	struct vprof_frame frames[VPROF_ELF_FRAMES_MAX];
	size_t n = vprof_elf_frames(f->elf, address, frames, VPROF_ELF_FRAMES_MAX);

	*answer = (struct answer){ .address = address, .first = (uint32_t)f->frames.n, .is_known = 1 };
	f->n_answers++;
	for (size_t i = 0; i < n; i++) {
		const struct vprof_symbol **room = is_probe(&frames[i]) ? NULL : VPROF_PUSH(&f->frames);

		if (!room)
			continue;
		*room = frames[i].symbol;
		answer->n++;
	}
}

size_t vprof_symbols_find(struct vprof_symbols *s, uint32_t process_seq, uint64_t address,
			  const struct vprof_symbol *const **found)
{
	const struct vprof_module *m = NULL;
	struct answer *answer;
	struct file *f;
	uint64_t offset;

	for (size_t i = s->timeline->modules.n; i-- > 0 && !m;) {
		const struct vprof_module *c = &s->timeline->modules.v[i];

		if (c->process_seq == process_seq && address >= c->low && address < c->high)
			m = c;
	}
	f = m ? file_of(s, m) : NULL;
	if (!f)
		return 0;
	if (!f->is_open)
		open_file(f, s->timeline);
	if (!f->elf)
		return 0;
	offset = address - m->bias - 1; /* inside the call instruction that it returns behind */
	answer = answer_of(f, offset);
	if (!answer)
		return 0;
	if (!answer->is_known)
		ask(f, answer, offset);
	*found = f->frames.v + answer->first;
	return answer->n;
}
