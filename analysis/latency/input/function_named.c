/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "analysis/latency/input/function_named.h"

#include <stdlib.h>
#include <string.h>

#include "common/elf/function_search.h"
#include "common/files.h"
#include "common/nearest.h"

#define SHOWN 4
#define BEGINS_MOST 16
#define NEAR 3 /* letters */

struct asked {
	char *name;
	const char *file; /* NULL: of any */
};

static const char *file_of(const struct vprof_latency_function *f)
{
	return f->layer == VPROF_LATENCY_KERNEL ? "kernel" : f->file;
}

/* "handle" for "ns::Server::handle". */
static int ends_with_part(const char *name, const char *part)
{
	size_t n = strlen(name), m = strlen(part);

	return n > m + 2 && !strcmp(name + n - m, part) && name[n - m - 1] == ':' && name[n - m - 2] == ':';
}

static int is_in_source(const struct vprof_latency_function *f, const char *source)
{
	return f->display && !strcmp(f->display + strlen(f->name) + 1, source);
}

/* Of a function of the C library, in vprof's runtime: it is no function of the program. */
static int is_wrapper(const struct vprof_latency_function *f)
{
	return f->layer == VPROF_LATENCY_LIBRARY && !strncmp(f->file, "libvprof", 8);
}

static int has_other(const struct vprof_latency_history *h, const struct vprof_latency_function *f)
{
	for (size_t i = 0; i < h->functions.n; i++)
		if (!is_wrapper(&h->functions.v[i]) && !strcmp(h->functions.v[i].name, f->name))
			return 1;
	return 0;
}

/* The functions of the history that it may be: at most `most` are written, all counted. */
static size_t find(const struct vprof_latency_history *h, const struct asked *w, int by_part, uint32_t *found,
		   size_t most)
{
	size_t n = 0;

	for (uint32_t i = 0; i < h->functions.n; i++) {
		const struct vprof_latency_function *f = &h->functions.v[i];

		if ((w->file && strcmp(file_of(f), w->file) != 0 && !is_in_source(f, w->file)) ||
		    (!w->file && is_wrapper(f) && has_other(h, f)) ||
		    (by_part ? !ends_with_part(f->name, w->name) : strcmp(f->name, w->name) != 0))
			continue;
		if (n < most)
			found[n] = i;
		n++;
	}
	return n;
}

static void add_list(struct vprof_text *t, size_t i, size_t n, size_t shown)
{
	if (i)
		vprof_text_add(t, i + 1 == shown && n == shown ? " and " : ", ");
}

static int tell_several(const struct vprof_latency_history *h, const char *wanted, const uint32_t *found, size_t n,
			struct vprof_error *err)
{
	struct vprof_text list = VPROF_TEXT_INIT;
	size_t shown = n < SHOWN ? n : SHOWN;
	int rc;

	for (size_t i = 0; i < shown; i++) {
		const struct vprof_latency_function *f = &h->functions.v[found[i]];

		add_list(&list, i, n, shown);
		if (f->display)
			vprof_text_add(&list, f->display);
		else
			vprof_text_addf(&list, "%s@%s", f->name, file_of(f));
	}
	if (n > shown)
		vprof_text_addf(&list, " and %zu more", n - shown);
	rc = list.failed ? vprof_error_no_memory(err) :
			   vprof_error_set(err, VPROF_ERR_INPUT, "%s is ambiguous: name one of %s", wanted, list.s);
	vprof_text_release(&list);
	return rc;
}

/* Static functions of one name in one file: stacks cannot tell which of them the name means. */
static int tell_namesakes(struct vprof_elf *elf, const struct vprof_latency_function *f, const uint64_t *lows, size_t n,
			  struct vprof_error *err)
{
	struct vprof_text list = VPROF_TEXT_INIT;
	size_t shown = n < SHOWN ? n : SHOWN;
	int rc;

	for (size_t i = 0; i < shown; i++) {
		struct vprof_place place;

		add_list(&list, i, n, shown);
		if (vprof_elf_places(elf, lows[i], &place, 1) && place.file)
			vprof_text_addf(&list, "%s:%d", place.file, place.line);
		else
			vprof_text_addf(&list, "%s+0x%llx", f->file, (unsigned long long)lows[i]);
	}
	if (n > shown)
		vprof_text_addf(&list, " and %zu more", n - shown);
	rc = list.failed ?
		     vprof_error_no_memory(err) :
		     vprof_error_set(err, VPROF_ERR_INPUT,
				     "%s is ambiguous: %s has %zu functions of this name (%s). Take a function that "
				     "calls it, or that it calls, and whose name is its own",
				     f->name, f->file, n, list.s);
	vprof_text_release(&list);
	return rc;
}

static void add_into(struct vprof_text *t, const struct vprof_function_search *s)
{
	for (size_t i = 0; i < s->n_into; i++) {
		add_list(t, i, s->n_into, s->n_into);
		vprof_text_add(t, s->into[i]);
	}
	if (!s->n_into)
		vprof_text_add(t, "its callers");
	else if (s->n_into == VPROF_SEARCH_INTO)
		vprof_text_add(t, " and perhaps others");
}

/* Why no stack shows it. */
static int tell_missing(const struct vprof_latency_input *input, const char *wanted, const struct asked *w,
			struct vprof_error *err)
{
	const struct vprof_latency_history *h = &input->history;
	struct vprof_nearest nearest;
	struct vprof_elf *elf;
	const char *path;
	int n_stripped = 0;

	for (size_t i = 0; (path = vprof_stack_frames_file(input->frames, i, &elf)); i++) {
		struct vprof_text into = VPROF_TEXT_INIT;
		struct vprof_function_search s;
		int rc = VPROF_OK;

		if (!elf || (w->file && strcmp(vprof_path_name(path), w->file) != 0))
			continue;
		n_stripped += !strstr(vprof_path_name(path), ".so") && !vprof_elf_has_symbols(elf);
		vprof_function_search(elf, w->name, &s);
		add_into(&into, &s);
		if (into.failed)
			rc = vprof_error_no_memory(err);
		else if (s.n_inlined)
			rc = vprof_error_set(
				err, VPROF_ERR_INPUT,
				"%s has no calls of its own in %s: the compiler inlined it into %s, which can be taken "
				"instead%s",
				w->name, vprof_path_name(path), into.s,
				s.is_linked ? "; and where it is called, no stack shows it" : "");
		else if (s.is_linked)
			rc = vprof_error_set(
				err, VPROF_ERR_INPUT,
				"no call of %s was seen, although %s has it: it was not called while stacks were taken, or its "
				"calls are so short that no event fell into one; --timer 4000 takes more stacks",
				w->name, vprof_path_name(path));
		vprof_text_release(&into);
		if (rc)
			return rc;
	}
	vprof_nearest_begin(&nearest, w->name, NEAR);
	for (size_t i = 0; i < h->functions.n; i++)
		vprof_nearest_offer(&nearest, h->functions.v[i].name);
	return vprof_error_set(
		err, VPROF_ERR_INPUT,
		"no call of %s was seen: no program or library of this run has it, unless it was inlined where there is no debug information%s%s%s Name a function as vprof report latency does%s",
		wanted, nearest.best ? "; did you mean " : "", nearest.best ? nearest.best : "",
		nearest.best ? "?" : ".",
		n_stripped ? "; a program without symbols has names only where its debug files are installed" : "");
}

static int look_into(struct vprof_function_named *out, const struct vprof_latency_input *input, uint32_t function,
		     struct vprof_error *err)
{
	const struct vprof_latency_function *f = &input->history.functions.v[function];
	struct vprof_function_search s = { 0 };
	uint64_t lows[BEGINS_MOST];
	struct vprof_elf *elf;
	const char *path;
	size_t n;

	out->name = vprof_latency_function_display(f);
	out->file = f->file;
	for (size_t i = 0; (path = vprof_stack_frames_file(input->frames, i, &elf)); i++) {
		if (!elf || !*f->file || strcmp(vprof_path_name(path), f->file) != 0)
			continue;
		n = vprof_stack_frames_begins(input->frames, function, lows, BEGINS_MOST);
		n = vprof_function_tell_apart(elf, lows, n);
		if (n > 1)
			return tell_namesakes(elf, f, lows, n, err);
		vprof_function_search(elf, f->name, &s);
		out->n_inlined = s.n_inlined;
		if (s.n_inlined)
			add_into(&out->into, &s);
		break;
	}
	return out->into.failed ? vprof_error_no_memory(err) : VPROF_OK;
}

int vprof_function_named(struct vprof_function_named *out, const struct vprof_latency_input *input, const char *wanted,
			 struct vprof_error *err)
{
	const struct vprof_latency_history *h = &input->history;
	const char *at = strrchr(wanted, '@');
	struct asked w = { .name = at ? strndup(wanted, (size_t)(at - wanted)) : strdup(wanted),
			   .file = at ? at + 1 : NULL };
	uint32_t found[SHOWN];
	size_t n;
	int rc;

	*out = (struct vprof_function_named){ .name = NULL };
	if (!w.name)
		return vprof_error_no_memory(err);
	n = find(h, &w, 0, found, SHOWN);
	if (!n)
		n = find(h, &w, 1, found, SHOWN);
	rc = !n	   ? tell_missing(input, wanted, &w, err) :
	     n > 1 ? tell_several(h, wanted, found, n, err) :
		     look_into(out, input, found[0], err);
	free(w.name);
	return rc;
}

void vprof_function_named_release(struct vprof_function_named *named)
{
	vprof_text_release(&named->into);
}
