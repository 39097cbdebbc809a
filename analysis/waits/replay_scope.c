/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A search from the threads that count, along reasons of waits, which are those of the whole recording: a part of it
 * has no others. Devices are entities, too: once one is used, all who use it matter. */
#include "analysis/waits/replay_scope.h"

struct scope {
	const struct vprof_waits_history *history;
	unsigned char *matters;
	uint32_t *found; /* [n entities] in the order in which they were */
	size_t n_found;
};

static void add(struct scope *s, uint32_t entity)
{
	if (entity == VPROF_NONE || s->matters[entity])
		return;
	s->matters[entity] = 1;
	s->found[s->n_found++] = entity;
}

/* first[e] .. first[e + 1]: reasons of entity e. */
static void search(struct scope *s, const struct vprof_waits_reasons *reasons, const size_t *first,
		   const unsigned char *counts, size_t *at)
{
	for (; *at < s->n_found; ++*at) {
		uint32_t e = s->found[*at];
		int is_counted = counts[e] != 0;

		if (!is_counted)
			add(s, s->history->entities.v[e].creator);
		for (size_t i = first[e]; i < first[e + 1]; i++) {
			uint32_t to = reasons->v.v[i].to;

			if (!is_counted || !s->history->entities.v[to].segments.n)
				add(s, to);
		}
	}
}

/* Of a request one end may matter: then the other does, too. */
static void add_requests(struct scope *s)
{
	for (size_t i = 0; i < s->history->requests.n; i++) {
		const struct vprof_waits_request *r = &s->history->requests.v[i];

		if (r->thread == VPROF_NONE)
			continue;
		if (s->matters[r->device])
			add(s, r->thread);
		else if (s->matters[r->thread])
			add(s, r->device);
	}
}

int vprof_waits_replay_scope(unsigned char *matters, const struct vprof_waits_program *p,
			     const struct vprof_waits_reasons *reasons, const unsigned char *counts)
{
	size_t n = p->history->entities.n, at = 0, n_before;
	size_t *first = calloc(n + 2, sizeof *first);
	struct scope s = { p->history, matters, malloc((n + 1) * sizeof *s.found), 0 };
	int ret = first && s.found ? VPROF_OK : VPROF_ERR_NOMEM;

	memset(matters, p->n_cpus ? 1 : 0, n);
	if (!ret && !p->n_cpus) {
		for (size_t i = 0; i < reasons->v.n; i++)
			first[reasons->v.v[i].from + 1]++;
		for (size_t e = 0; e < n; e++) {
			first[e + 1] += first[e];
			if (counts[e])
				add(&s, (uint32_t)e);
		}
		do {
			n_before = s.n_found;
			search(&s, reasons, first, counts, &at);
			add_requests(&s);
		} while (s.n_found > n_before);
	}
	free(first);
	free(s.found);
	return ret;
}
