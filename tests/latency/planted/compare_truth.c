/* SPDX-License-Identifier: GPL-3.0-or-later */
/* compare_truth TRACE TRUTH [all]: how inferred instances agree with the calls that a program says it made
 * (requests.c). Prints for each function: calls, how many of them and of the slowest 1 % were seen, instances of one
 * call and of several, relative errors of both bounds. Exit status 1 when a bound does not hold, within the error of
 * the clocks; with "all" also when a call of store was not seen although nothing was lost. */
#include <inttypes.h>
#include <math.h>
#include <stdio.h>

#include "analysis/latency/annotated_tree.h"
#include "analysis/latency/input/latency_input.h"

#define FUNCTIONS_MAX 16
#define CLOCK_NS 2000 /* the recorder's own error is added */

struct call {
	uint32_t function;
	uint64_t before, begin, end, after;
	uint32_t instance; /* + 1, 0: not seen */
};

struct function {
	char name[32];
	uint64_t n, n_seen, n_slow, n_slow_seen, n_single, n_several, n_wrong;
	double low_error, high_error; /* summed over instances of one call */
};

struct instances {
	const struct vprof_annotated_tree *tree;
	VPROF_ARRAY(struct vprof_latency_instance) v;
};

static struct function functions[FUNCTIONS_MAX];
static size_t n_functions;
static VPROF_ARRAY(struct call) calls;

static uint32_t function_number(const char *name)
{
	for (uint32_t i = 0; i < n_functions; i++)
		if (!strcmp(functions[i].name, name))
			return i;
	if (n_functions == FUNCTIONS_MAX)
		exit(2);
	snprintf(functions[n_functions].name, sizeof functions->name, "%s", name);
	return (uint32_t)n_functions++;
}

static void read_truth(const char *path)
{
	FILE *f = fopen(path, "re");
	char name[32];
	struct call c = { 0 };

	while (f && fscanf(f, "%31s %" SCNu64 " %" SCNu64 " %" SCNu64 " %" SCNu64, name, &c.before, &c.begin, &c.end,
			   &c.after) == 5) {
		c.function = function_number(name);
		functions[c.function].n++;
		*VPROF_PUSH(&calls) = c;
	}
	if (!f || fclose(f) || !calls.n)
		exit(2);
}

static int collect(void *instances, const struct vprof_latency_instance *i)
{
	struct instances *all = instances;

	*VPROF_PUSH(&all->v) = *i;
	return 0;
}

static int compare_durations(const void *a, const void *b)
{
	uint64_t x = calls.v[*(const uint32_t *)a].end - calls.v[*(const uint32_t *)a].begin;
	uint64_t y = calls.v[*(const uint32_t *)b].end - calls.v[*(const uint32_t *)b].begin;

	return x < y ? 1 : x > y ? -1 : 0;
}

/* Calls of a function come in order of time, and so do its instances. */
static void match(struct instances *all, uint32_t function, uint64_t start, uint64_t error)
{
	struct function *f = &functions[function];
	size_t next = 0;

	for (size_t k = 0; k < all->v.n; k++) {
		const struct vprof_latency_instance *i = &all->v.v[k];
		uint64_t first = i->first + start, last = i->last + start, n = 0;
		const struct call *c = NULL;

		if (strcmp(vprof_annotated_function(all->tree, i->node)->name, f->name))
			continue;
		while (next < calls.n && (calls.v[next].function != function || calls.v[next].after + error < first))
			next++;
		for (size_t j = next; j < calls.n && calls.v[j].before <= last + error; j++)
			if (calls.v[j].function == function) {
				calls.v[j].instance = (uint32_t)k + 1;
				c = &calls.v[j];
				n++;
			}
		f->n_single += n == 1;
		f->n_several += n > 1;
		if (n != 1 || i->flags)
			continue;
		if (last - first > c->after - c->before + 2 * error ||
		    i->after - i->before + 2 * error < c->end - c->begin) {
			f->n_wrong++;
			printf("%s of %" PRIu64 " .. %" PRIu64 " ns: inferred %" PRIu64 " .. %" PRIu64 "\n", f->name,
			       c->end - c->begin, c->after - c->before, last - first, i->after - i->before);
		}
		f->low_error += (double)(last - first) / (double)(c->after - c->before) - 1;
		f->high_error += (double)(i->after - i->before) / (double)(c->after - c->before) - 1;
	}
}

static void count_seen(uint32_t function)
{
	struct function *f = &functions[function];
	uint32_t *order = malloc((f->n + 1) * sizeof *order);
	size_t n = 0;

	for (uint32_t i = 0; i < calls.n; i++)
		if (calls.v[i].function == function) {
			f->n_seen += calls.v[i].instance != 0;
			order[n++] = i;
		}
	qsort(order, n, sizeof *order, compare_durations);
	f->n_slow = (n + 99) / 100;
	for (size_t i = 0; i < f->n_slow; i++)
		f->n_slow_seen += calls.v[order[i]].instance != 0;
	free(order);
}

static double part(uint64_t n, uint64_t of)
{
	return of ? 100 * (double)n / (double)of : NAN;
}

static int report(const struct vprof_latency_input *in, int all)
{
	int bad = 0;

	printf("%zu events, %" PRIu64 " lost, left out: %" PRIu64 " without, %" PRIu64 " cut, %" PRIu64 " unpaired\n",
	       in->history.events.n, in->n_lost, in->counts.n_without, in->counts.n_cut, in->n_unpaired);
	printf("function  calls   seen  of the slowest 1 %%   one call  several  wrong  conservative  longest\n");
	for (uint32_t i = 0; i < n_functions; i++) {
		struct function *f = &functions[i];

		count_seen(i);
		printf("%-8s %6" PRIu64 " %5.1f%% %18.1f%% %10" PRIu64 " %8" PRIu64 " %6" PRIu64 " %12.1f%% %7.1f%%\n",
		       f->name, f->n, part(f->n_seen, f->n), part(f->n_slow_seen, f->n_slow), f->n_single, f->n_several,
		       f->n_wrong, 100 * f->low_error / (double)f->n_single, 100 * f->high_error / (double)f->n_single);
		bad |= f->n_wrong > 0;
		if (all && !strcmp(f->name, "store") && f->n_seen < f->n && !in->n_lost && !in->counts.n_cut) {
			printf("FAILED: calls of store were not seen\n");
			bad = 1;
		}
	}
	return bad;
}

int main(int argc, char **argv)
{
	struct vprof_annotated_tree tree;
	struct vprof_latency_gaps gaps = { 0 };
	struct vprof_latency_input in;
	struct vprof_trace *trace;
	struct vprof_error err = { "" };
	struct instances all = { .tree = &tree };
	struct vprof_latency_inference g = { .gaps = &gaps, .instance = collect, .arg = &all };
	uint64_t error;

	if (argc < 3)
		return 2;
	read_truth(argv[2]);
	if (vprof_trace_open(&trace, argv[1], &err) || vprof_latency_input_read(&in, trace, &err) ||
	    vprof_annotated_tree_build(&tree, &in.history, 0, &err)) {
		fprintf(stderr, "%s\n", err.message);
		return 2;
	}
	g.history = &in.history;
	g.tree = &tree.tree;
	g.nodes = tree.nodes;
	g.paths = tree.paths;
	for (uint32_t i = 0; i < in.history.threads.n; i++)
		if (vprof_latency_infer(&g, i))
			return 2;
	error = CLOCK_NS + (uint64_t)trace->header.kernel_error_ns;
	for (uint32_t i = 0; i < n_functions; i++)
		match(&all, i, trace->header.start_ns, error);
	return report(&in, argc > 3);
}
