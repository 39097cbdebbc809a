/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "analysis/join/views/views.h"

#include <stdlib.h>

#include "analysis/join/tier_work.h"
#include "analysis/requests/input/socket_input.h"
#include "analysis/requests/tiers.h"

#define TIERS_MAX 32 /* what else there is counts as one */
#define OTHERS "other processes"

struct sockets {
	struct vprof_socket_input input;
	struct vprof_connections connections;
	struct vprof_exchanges exchanges;
	struct vprof_tiers tiers;
};

struct named { /* of the processes that work for the intervals */
	struct vprof_strings names;
	uint32_t *of_thread; /* [n threads of the timeline] index into names */
};

static int read_sockets(struct sockets *s, const struct vprof_trace *trace, struct vprof_error *err)
{
	int ret = vprof_socket_input_add(&s->input, trace, err);

	ret = ret ? ret : vprof_socket_history_check(&s->input.history, err);
	if (!ret && vprof_socket_history_sort(&s->input.history))
		ret = VPROF_ERR_NOMEM;
	ret = ret ? ret : vprof_connections_find(&s->connections, &s->input.history);
	ret = ret ? ret : vprof_exchanges_find(&s->exchanges, &s->input.history, &s->connections);
	return ret ? ret : vprof_tiers_find(&s->tiers, &s->input.history, &s->connections, &s->exchanges);
}

static void release_sockets(struct sockets *s)
{
	vprof_tiers_release(&s->tiers);
	vprof_exchanges_release(&s->exchanges);
	vprof_connections_release(&s->connections);
	vprof_socket_input_release(&s->input);
}

/* What each process is called: its tier, or its program where it serves at no address, or at several. */
static int name_processes(const struct sockets *s, const char **names)
{
	const struct vprof_socket_history *h = &s->input.history;
	uint32_t *tier = malloc((h->processes.n + 1) * sizeof *tier);

	if (!tier)
		return VPROF_ERR_NOMEM;
	memset(tier, 0xff, h->processes.n * sizeof *tier); /* VPROF_NONE */
	for (size_t i = 0; i < h->processes.n; i++)
		names[i] = h->processes.v[i].name;
	for (size_t i = 0; i < s->exchanges.v.n; i++) {
		const struct vprof_exchange *e = &s->exchanges.v.v[i];
		uint32_t thread = e->server.request_thread != VPROF_NONE ? e->server.request_thread :
									   e->server.reply_thread;
		uint32_t at = s->tiers.of_connection.v[e->connection], process;

		if (thread == VPROF_NONE || at == VPROF_NONE)
			continue;
		process = h->threads.v[thread].process;
		names[process] = tier[process] == VPROF_NONE || tier[process] == at ? s->tiers.names.kept.v[at] :
										      h->processes.v[process].name;
		tier[process] = tier[process] == VPROF_NONE ? at : tier[process];
	}
	free(tier);
	return VPROF_OK;
}

/* A thread that stands for a tier without probes has waits of the tier's name, and no others; else NULL. */
static const char *tier_of_waits(const struct vprof_timeline *timeline, const struct vprof_thread_timeline *t)
{
	const char *name = t->waits.n && t->waits.v[0].name < timeline->n_names ? timeline->names[t->waits.v[0].name] :
										  "";

	return vprof_wait_name_is_tier(name) ? name + strlen(VPROF_TIER_PREFIX) : NULL;
}

/* Threads are found in the other history by their process' number; one that several had one after the other tells
 * nothing. */
static int name_threads(struct named *named, const struct sockets *s, const struct vprof_timeline *timeline)
{
	const struct vprof_socket_history *h = &s->input.history;
	const char **names = calloc(h->processes.n + 1, sizeof *names);
	int ret = names ? name_processes(s, names) : VPROF_ERR_NOMEM;

	named->of_thread = calloc(timeline->n_threads + 1, sizeof *named->of_thread);
	ret = named->of_thread ? ret : VPROF_ERR_NOMEM;
	for (size_t t = 0; t < timeline->n_threads && !ret; t++) {
		const struct vprof_thread_timeline *thread = &timeline->threads[t];
		const char *name = tier_of_waits(timeline, thread);

		for (size_t i = 0; i < h->processes.n && !tier_of_waits(timeline, thread); i++)
			if (h->processes.v[i].pid == timeline->threads[t].pid)
				name = !name || !strcmp(name, names[i]) ? names[i] : OTHERS;
		if (!name ||
		    (named->names.kept.n >= TIERS_MAX - 1 && vprof_strings_find(&named->names, name) == VPROF_NONE))
			name = OTHERS;
		named->of_thread[t] = vprof_strings_number(&named->names, name);
		ret = named->of_thread[t] == VPROF_NONE ? VPROF_ERR_NOMEM : VPROF_OK;
	}
	free(names);
	return ret;
}

static int join(struct vprof_results *r, struct vprof_source *source, const struct named *named, int n_threads,
		struct vprof_error *err)
{
	const char *names[TIERS_MAX];
	struct vprof_tier_work work = { 0 };
	size_t n = named->names.kept.n;
	int ret = vprof_source_connect(source, err);

	for (size_t i = 0; i < n && !ret; i++) {
		names[i] = vprof_results_string(r, named->names.kept.v[i]);
		ret = names[i] ? VPROF_OK : VPROF_ERR_NOMEM;
	}
	ret = ret ? ret : vprof_tier_work_fill(&work, source, named->of_thread, n, n_threads);
	ret = ret ? ret : vprof_tier_work_tell(r, &work, names);
	vprof_tier_work_release(&work);
	return ret;
}

int vprof_tiers_fill(struct vprof_results *r, struct vprof_source *source, int n_threads, struct vprof_error *err)
{
	struct sockets sockets = { 0 };
	struct named named = { 0 };
	int ret;

	if (!(source->trace->header.kernel_kinds & VP_KERNEL_SOCKETS) || !source->chosen.n)
		return VPROF_OK;
	ret = read_sockets(&sockets, source->trace, err);
	if (!ret)
		ret = name_threads(&named, &sockets, source->timeline);
	if (!ret && named.names.kept.n > 1)
		ret = join(r, source, &named, n_threads, err);
	free(named.of_thread);
	vprof_strings_release(&named.names);
	release_sockets(&sockets);
	return ret == VPROF_ERR_NOMEM ?
		       vprof_error_set(err, ret, "not enough memory for the tiers: record a shorter run") :
		       VPROF_OK;
}
