/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "analysis/results/warning_list.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/text.h"
#include "common/utf8.h"

int vprof_warning_add_va(struct vprof_results *r, const char *format, va_list ap)
{
	char **all = realloc(r->warnings, (r->n_warnings + 1) * sizeof *all);
	struct vprof_text clean = VPROF_TEXT_INIT;
	char text[1024];

	if (!all)
		return VPROF_ERR_NOMEM;
	r->warnings = all;
	vsnprintf(text, sizeof text, format, ap);
	vprof_text_add_utf8(&clean, text);
	all[r->n_warnings] = clean.failed ? NULL : vprof_text_detach(&clean);
	vprof_text_release(&clean);
	if (!all[r->n_warnings])
		return VPROF_ERR_NOMEM;
	r->n_warnings++;
	return 0;
}

struct vprof_warned_name vprof_warned_name(const char *name)
{
	struct vprof_warned_name shown;
	size_t n = strlen(name), head = VPROF_WARNED_BYTES * 2 / 3, tail = VPROF_WARNED_BYTES - 3 - head;

	if (n <= VPROF_WARNED_BYTES) {
		memcpy(shown.s, name, n + 1);
		return shown;
	}
	while (head && (name[head] & 0xc0) == 0x80) /* not within a character of UTF-8 */
		head--;
	while (tail && (name[n - tail] & 0xc0) == 0x80)
		tail--;
	memcpy(shown.s, name, head);
	memcpy(shown.s + head, "...", 3);
	memcpy(shown.s + head + 3, name + n - tail, tail + 1);
	return shown;
}

/* Where a factor of blame sits: beneath queue delays, beneath waits, or both; by each node's innermost wait or queue.
 */
static const char *blame_place(const struct vprof_results *r, const struct vprof_factor *f)
{
	int queued = 0, waited = 0;

	for (size_t i = 0; i < f->n_nodes; i++) {
		int is_pair = f->kind == VPROF_FACTOR_COVARIANCE;
		uint32_t at = is_pair ? r->covariances[f->nodes[i]].a : f->nodes[i];

		while (at && r->nodes[at].is_blame)
			at = r->nodes[at].parent;
		if (r->nodes[at].kind == VPROF_NODE_QUEUED)
			queued = 1;
		else
			waited = 1;
	}
	return queued && waited ? "queued and beneath waits" : queued ? "queued" : "beneath a wait";
}

static int has_namesake(const struct vprof_results *r, const struct vprof_factor *f)
{
	for (size_t i = 0; i < r->n_factors; i++)
		if (&r->factors[i] != f && r->factors[i].name && !strcmp(r->factors[i].name, f->name))
			return 1;
	return 0;
}

struct vprof_warned_factor vprof_warned_factor(const struct vprof_results *r, const struct vprof_factor *f)
{
	struct vprof_warned_factor shown;
	struct vprof_warned_name name = vprof_warned_name(f->name);

	if (has_namesake(r, f))
		snprintf(shown.s, sizeof shown.s, "%s, %s", name.s, f->is_blame ? blame_place(r, f) : "own");
	else
		snprintf(shown.s, sizeof shown.s, "%s", name.s);
	return shown;
}

int vprof_warning_add(struct vprof_results *r, const char *format, ...)
{
	va_list ap;
	int ret;

	va_start(ap, format);
	ret = vprof_warning_add_va(r, format, ap);
	va_end(ap);
	return ret;
}
