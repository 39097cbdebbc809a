/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Analyses wait histories (history_text.h, one after the other on standard input, "end" after each) with one thread and
 * with three, and prints of each as one line of JSON what compare_histories compares: vertices by their first entity,
 * edges, knots. */
#include <inttypes.h>

#include "tests/unit/analysis/history_stream.h"
#include "history_text.h"

static const char *const ends[VPROF_WAITS_ENDS] = { "vertex", "cycle", "heavy", "parts", "background" };

static uint32_t first(const struct vprof_waits *w, uint32_t vertex)
{
	return w->graph.vertices.v[vertex].entity;
}

static void print_knot(const struct vprof_waits *w, const struct vprof_waits_knot *k, struct vprof_text *out)
{
	vprof_text_addf(out, "{\"end\":\"%s\",\"depth\":%u,\"vertices\":[", ends[k->end], k->depth);
	for (uint32_t i = 0; i < k->n_vertices; i++)
		vprof_text_addf(out, "%s%u", i ? "," : "", first(w, w->knots.vertices.v[k->first_vertex + i]));
	vprof_text_addf(out, "],\"edges\":[");
	for (uint32_t i = 0; i < k->n_edges; i++) {
		const struct vprof_waits_edge *e = &w->graph.edges.v[w->knots.edges.v[k->first_edge + i]];

		vprof_text_addf(out, "%s[%u,%u]", i ? "," : "", first(w, e->from), first(w, e->to));
	}
	vprof_text_addf(out, "],\"busy\":%" PRIu64 "}", k->busy_ns);
}

static void print(const struct vprof_waits *w, struct vprof_text *out)
{
	vprof_text_addf(out, "{\"vertices\":[");
	for (uint32_t i = 0; i < w->graph.vertices.n; i++) {
		const struct vprof_waits_vertex *v = &w->graph.vertices.v[i];

		vprof_text_addf(out, "%s[%u,%u,%" PRIu64 ",%" PRIu64 ",%" PRIu64 "]", i ? "," : "", v->entity,
				v->n_entities, v->running_ns, v->runnable_ns, v->blocked_ns);
	}
	vprof_text_addf(out, "],\"edges\":[");
	for (uint32_t i = 0; i < w->graph.edges.n; i++) {
		const struct vprof_waits_edge *e = &w->graph.edges.v[i];

		vprof_text_addf(out, "%s[%u,%u,%" PRIu64 ",%" PRIu64 ",%" PRIu64 "]", i ? "," : "", first(w, e->from),
				first(w, e->to), e->n_waits, e->own_ns, e->weight_ns);
	}
	vprof_text_addf(out, "],\"knots\":[");
	for (size_t i = 0; i < w->knots.knots.n; i++) {
		vprof_text_addf(out, "%s", i ? "," : "");
		print_knot(w, &w->knots.knots.v[i], out);
	}
	vprof_text_addf(out, "],\"gains\":[");
	for (size_t i = 0; i < w->estimates.v.n; i++) /* as texts: NaN is no JSON */
		vprof_text_addf(out, "%s\"%.17g %.17g\"", i ? "," : "", w->estimates.v.v[i].halved,
				w->estimates.v.v[i].gone);
	vprof_text_addf(out, "],\"circular\":%" PRIu64 "}", w->reasons.n_circular);
}

static void analyse(const char *text, int n_threads, struct vprof_text *out)
{
	struct vprof_error err = { "" };
	struct history_text t;
	struct vprof_waits w;

	history_text_read(&t, text);
	t.options.n_threads = n_threads;
	if (vprof_waits_analyze(&w, &t.history, &t.options, &err))
		vprof_text_addf(out, "{\"error\":\"%s\"}", err.message);
	else
		print(&w, out);
	vprof_waits_release(&w);
	history_text_release(&t);
}

static const char *next(const char *text)
{
	const char *end = strstr(text, "\nend\n");

	return end && end[5] ? end + 5 : NULL;
}

int main(void)
{
	return history_stream_print(analyse, next);
}
