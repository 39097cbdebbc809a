/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Infers from events with stacks (latency_text.h, one history after the other on standard input, "end" after each),
 * with one thread and with three, and prints of each as one line of JSON what compare_latencies compares: all instances
 * in the order in which they close, all contexts. */
#include <inttypes.h>
#include <stdlib.h>

#include "analysis/latency/annotated_tree.h"
#include "tests/unit/analysis/history_stream.h"
#include "latency_text.h"

struct printing {
	const struct vprof_annotated_tree *tree;
	struct vprof_text *out;
	size_t n;
};

static void add_path(const struct vprof_annotated_tree *t, uint32_t node, struct vprof_text *out)
{
	if (t->tree.nodes.v[node].parent)
		add_path(t, t->tree.nodes.v[node].parent, out);
	vprof_text_addf(out, "/%s", vprof_annotated_function(t, node)->name);
}

static int print_instance(void *printing, const struct vprof_latency_instance *i)
{
	struct printing *p = printing;

	vprof_text_addf(p->out, "%s[\"", p->n++ ? "," : "");
	add_path(p->tree, i->node, p->out);
	vprof_text_addf(p->out, "\",%" PRIu64 ",%" PRIu64 ",%" PRIu64 ",%" PRIu64 ",%" PRIu64 ",%u,%u,%u]", i->before,
			i->first, i->last, i->after, i->sure_ns, i->n_unsure, i->flags, i->thread);
	return 0;
}

static void print_context(const struct vprof_annotated_tree *t, uint32_t node, struct vprof_text *out)
{
	const struct vprof_latency_context *c = &t->contexts[node];
	size_t first = t->first_kept[node];

	vprof_text_add(out, node ? ",\"" : "\"");
	if (node)
		add_path(t, node, out);
	vprof_text_addf(out,
			"\":[%" PRIu64 ",%" PRIu64 ",%" PRIu64 ",%" PRIu64 ",%" PRIu64 ",%" PRIu64 ",%" PRIu64
			",%" PRIu64 ",%" PRIu64 ",%" PRIu64 ",%" PRIu64 ",%" PRIu64 ",%" PRIu64 "]",
			c->n, c->n_cut, c->n_unsure, c->low_ns, c->high_ns, c->own_low_ns, c->own_ns, c->own_high_ns,
			c->own_off_ns, c->aggressive_ns, c->longest_ns, c->slowest_ns,
			t->first_kept[node + 1] > first ? vprof_instance_conservative(&t->kept.v[first]) : 0);
}

static void analyse(const char *text, int n_threads, struct vprof_text *out)
{
	struct vprof_latency_gaps gaps = { 0 };
	struct latency_text t;
	struct vprof_annotated_tree tree;
	struct printing p = { &tree, out, 0 };
	struct vprof_latency_inference g = {
		.history = &t.history, .gaps = &gaps, .instance = print_instance, .arg = &p
	};

	latency_text_read(&t, text);
	if (vprof_latency_history_check(&t.history, NULL) ||
	    vprof_annotated_tree_build(&tree, &t.history, n_threads, NULL))
		exit(2);
	g.tree = &tree.tree;
	g.nodes = tree.nodes;
	g.paths = tree.paths;
	vprof_text_add(out, "{\"instances\":[");
	for (uint32_t i = 0; i < t.history.threads.n; i++)
		if (vprof_latency_infer(&g, i))
			exit(2);
	vprof_text_add(out, "],\"contexts\":{");
	for (uint32_t i = 0; i < tree.tree.nodes.n; i++)
		print_context(&tree, i, out);
	vprof_text_addf(out, "},\"total\":%" PRIu64 ",\"unsure\":%" PRIu64 "}", tree.total_ns, tree.unsure_ns);
	vprof_latency_gaps_release(&gaps);
	vprof_annotated_tree_release(&tree);
	latency_text_release(&t);
}

static const char *next(const char *text)
{
	struct latency_text t;
	const char *end = latency_text_read(&t, text);

	latency_text_release(&t);
	return end;
}

int main(void)
{
	return history_stream_print(analyse, next);
}
