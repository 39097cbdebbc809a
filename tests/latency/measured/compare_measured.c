/* SPDX-License-Identifier: GPL-3.0-or-later */
/* compare_measured RUN [TOP]: how instances inferred from stacks agree with the calls that probes measured in the same
 * run (a folder of .vprof/runs, recorded with vprof run --stacks --every-call). One line for each function, those with
 * the longest time first, and one for all of them:
 *
 *   calls        measured, in all threads
 *   seen         of them, and of the slowest 1 % and 0.1 % of all calls of the function: within some instance
 *   single       of the instances: within one measured call; several: of more than one, as the same place calls again
 *   low, high    relative error of the conservative estimate and of the longest, mean over single instances
 *   held         of the single instances: the measured time lies between both, within the error of the clocks
 *
 * Functions that the compiler inlined have no frame: they are left out and counted. Those that have one, but were never
 * seen, count as such. Behind that, what coverage.h tells. */
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/elf/function_search.h"
#include "coverage.h"
#include "measured_run.h"

struct instance {
	uint64_t before, first, last, after;
	uint32_t tid, depth, is_cut;
};

struct function {
	const char *name;
	size_t first, n; /* calls, by tid and begin */
	uint64_t n_seen, n_slow, n_slow_seen, n_slowest, n_slowest_seen, n_instances, n_single, n_several, n_held;
	double low_error, high_error, total_ns;
};

static VPROF_ARRAY(struct instance) instances;
static VPROF_ARRAY(struct function) functions;
static struct measured_run run;
static const char *wanted;
static int is_wrapped; /* the runtime has a function of this name around it, which is part of what is measured */
static unsigned char *has_frame; /* [codes] */

static int by_time(const void *a, const void *b)
{
	const struct instance *x = a, *y = b;

	if (x->tid != y->tid)
		return x->tid < y->tid ? -1 : 1;
	return x->first != y->first ? (x->first < y->first ? -1 : 1) : 0;
}

static int slower(const void *a, const void *b)
{
	const struct measured_call *x = *(const struct measured_call *const *)a,
				   *y = *(const struct measured_call *const *)b;
	uint64_t d = x->t1 - x->t0, e = y->t1 - y->t0;

	return d != e ? (d > e ? -1 : 1) : 0;
}

static int by_total(const void *a, const void *b)
{
	const struct function *x = a, *y = b;

	return x->total_ns != y->total_ns ? (x->total_ns > y->total_ns ? -1 : 1) : 0;
}

/* The C library has one function by several names: open, open64, __open64. */
static int is_same(const char *name, const char *as)
{
	size_t n, n_as;

	name += strspn(name, "_");
	as += strspn(as, "_");
	n = strlen(name);
	n_as = strlen(as);
	n -= n > 2 && !strcmp(name + n - 2, "64") ? 2 : 0;
	n_as -= n_as > 2 && !strcmp(as + n_as - 2, "64") ? 2 : 0;
	return n == n_as && !memcmp(name, as, n);
}

static int is_wanted(const struct vprof_latency_function *f)
{
	if (!strncmp(f->file, "libvprof", 8))
		return !strcmp(f->name, wanted);
	return !is_wrapped && (strncmp(f->file, "libc.so", 7) ? !strcmp(f->name, wanted) : is_same(f->name, wanted));
}

static void want(const char *name)
{
	wanted = name;
	is_wrapped = 0;
	for (size_t i = 0; i < run.input.history.functions.n && !is_wrapped; i++)
		is_wrapped = !strncmp(run.input.history.functions.v[i].file, "libvprof", 8) &&
			     !strcmp(run.input.history.functions.v[i].name, name);
}

static int collect(void *unused, const struct vprof_latency_instance *i)
{
	(void)unused;
	uint32_t depth = 0;

	if (!is_wanted(vprof_annotated_function(&run.tree, i->node)))
		return 0;
	for (uint32_t node = run.tree.tree.nodes.v[i->node].parent; node != VPROF_NONE && node != VPROF_CONTEXT_ROOT;
	     node = run.tree.tree.nodes.v[node].parent)
		depth += (uint32_t)is_wanted(vprof_annotated_function(&run.tree, node));
	*VPROF_PUSH(&instances) = (struct instance){ .before = i->before,
						     .first = i->first,
						     .last = i->last,
						     .after = i->after,
						     .tid = run.input.history.threads.v[i->thread].tid,
						     .depth = depth,
						     .is_cut = i->flags != 0 };
	return 0;
}

static void infer(const char *name)
{
	struct vprof_latency_gaps gaps = { 0 };
	struct vprof_latency_inference g = { .history = &run.input.history,
					     .tree = &run.tree.tree,
					     .nodes = run.tree.nodes,
					     .paths = run.tree.paths,
					     .gaps = &gaps,
					     .instance = collect };

	want(name);
	instances.n = 0;
	for (uint32_t i = 0; i < run.input.history.threads.n; i++)
		if (vprof_latency_infer(&g, i))
			exit(2);
	vprof_latency_gaps_release(&gaps);
	qsort(instances.v, instances.n, sizeof *instances.v, by_time);
}

/* Calls and instances in order of time; those of recursive functions may enclose one another. */
static void match(struct function *f)
{
	struct measured_call *v = run.calls.v + f->first;
	size_t next = 0;

	for (size_t k = 0; k < instances.n; k++) {
		const struct instance *i = &instances.v[k];
		const struct measured_call *only = NULL;
		uint64_t n = 0, ns;

		while (next < f->n &&
		       (v[next].tid < i->tid || (v[next].tid == i->tid && v[next].t1 + run.error_ns < i->first)))
			next++;
		for (size_t c = next; c < f->n && v[c].tid == i->tid && v[c].t0 <= i->last + run.error_ns; c++) {
			if (v[c].t1 + run.error_ns < i->first || v[c].depth != i->depth)
				continue;
			/* those that only touch its ends by the clocks' error are others */
			if (v[c].t1 < i->first || v[c].t0 > i->last) {
				only = only ? only : &v[c];
				continue;
			}
			v[c].is_seen = 1;
			only = &v[c];
			n++;
		}
		f->n_instances++;
		f->n_several += n > 1;
		if (n != 1 || i->is_cut)
			continue;
		ns = only->t1 - only->t0;
		f->n_single++;
		f->n_held += i->last - i->first <= ns + 2 * run.error_ns &&
			     i->after - i->before + 2 * run.error_ns >= ns;
		f->low_error += ((double)(i->last - i->first) - (double)ns) / (double)(ns + 1);
		f->high_error += ((double)(i->after - i->before) - (double)ns) / (double)(ns + 1);
	}
}

static void count_seen(struct function *f)
{
	const struct measured_call **order = malloc((f->n + 1) * sizeof *order);

	for (size_t i = 0; i < f->n; i++) {
		order[i] = &run.calls.v[f->first + i];
		f->n_seen += order[i]->is_seen;
		f->total_ns += (double)(order[i]->t1 - order[i]->t0);
	}
	qsort(order, f->n, sizeof *order, slower);
	f->n_slow = (f->n + 99) / 100;
	f->n_slowest = (f->n + 999) / 1000;
	for (size_t i = 0; i < f->n_slow; i++) {
		f->n_slow_seen += order[i]->is_seen;
		f->n_slowest_seen += i < f->n_slowest && order[i]->is_seen;
	}
	free(order);
}

static double part(uint64_t n, uint64_t of)
{
	return of ? 100 * (double)n / (double)of : NAN;
}

static void print(const struct function *f)
{
	printf("%-28.28s %8zu %6.1f %6.1f %6.1f %9" PRIu64 " %8" PRIu64 " %7.1f %7.1f %6.2f\n", f->name, f->n,
	       part(f->n_seen, f->n), part(f->n_slow_seen, f->n_slow), part(f->n_slowest_seen, f->n_slowest),
	       f->n_single, f->n_several, 100 * f->low_error / (double)f->n_single,
	       100 * f->high_error / (double)f->n_single, part(f->n_held, f->n_single));
}

static void add(struct function *all, const struct function *f)
{
	all->n += f->n;
	all->n_seen += f->n_seen;
	all->n_slow += f->n_slow;
	all->n_slow_seen += f->n_slow_seen;
	all->n_slowest += f->n_slowest;
	all->n_slowest_seen += f->n_slowest_seen;
	all->n_single += f->n_single;
	all->n_several += f->n_several;
	all->n_held += f->n_held;
	all->low_error += f->low_error;
	all->high_error += f->high_error;
}

/* Has the program a function of this name that is not inlined anywhere? */
static int is_linked(const char *name)
{
	struct vprof_elf *elf;

	for (size_t i = 0; vprof_stack_frames_file(run.input.frames, i, &elf); i++) {
		struct vprof_function_search s;

		if (!elf)
			continue;
		vprof_function_search(elf, name, &s);
		if (s.is_linked || s.n_inlined)
			return s.is_linked && !s.n_inlined;
	}
	return 0;
}

/* One probe for functions that a macro makes: their calls are not told apart. */
static int is_several(uint32_t code)
{
	const struct vprof_probe *p = vprof_plan_probe(run.plan, code);

	return p && p->display && strstr(p->display, " (+");
}

static const char *name_of(uint32_t code)
{
	const struct vprof_probe *p = vprof_plan_probe(run.plan, code);

	return p ? p->name : "?";
}

static uint32_t find_frames(void)
{
	uint32_t n = run.calls.n ? run.calls.v[run.calls.n - 1].code + 1 : 0;

	has_frame = calloc(n + 1, 1);
	for (size_t i = 0; i < run.calls.n; i++) {
		if ((i && run.calls.v[i].code == run.calls.v[i - 1].code) || is_several(run.calls.v[i].code))
			continue;
		want(name_of(run.calls.v[i].code));
		for (size_t k = 0; k < run.input.history.functions.n && !has_frame[run.calls.v[i].code]; k++)
			has_frame[run.calls.v[i].code] = (unsigned char)is_wanted(&run.input.history.functions.v[k]);
		if (!has_frame[run.calls.v[i].code])
			has_frame[run.calls.v[i].code] = (unsigned char)(2 * is_linked(wanted));
	}
	return n;
}

static void compare(size_t top)
{
	struct function all = { .name = "all" };
	size_t n_inlined = 0, n_never = 0, n_several = 0;
	uint32_t n_codes = find_frames();

	coverage_find_contexts(&run, has_frame, n_codes);
	for (size_t i = 0, end; i < run.calls.n; i = end) {
		struct function f = { .name = name_of(run.calls.v[i].code), .first = i };

		for (end = i; end < run.calls.n && run.calls.v[end].code == run.calls.v[i].code;)
			end++;
		f.n = end - i;
		n_several += (size_t)is_several(run.calls.v[i].code);
		n_inlined += !has_frame[run.calls.v[i].code] && !is_several(run.calls.v[i].code);
		n_never += has_frame[run.calls.v[i].code] == 2;
		if (!has_frame[run.calls.v[i].code])
			continue;
		infer(f.name);
		match(&f);
		count_seen(&f);
		*VPROF_PUSH(&functions) = f;
		add(&all, &f);
	}
	qsort(functions.v, functions.n, sizeof *functions.v, by_total);
	printf("%-28s %8s %6s %6s %6s %9s %8s %7s %7s %6s\n", "function", "calls", "seen %", "1 %", "0.1 %", "single",
	       "several", "low %", "high %", "held %");
	for (size_t i = 0; i < functions.n && i < top; i++)
		print(&functions.v[i]);
	print(&all);
	printf("%zu functions compared, %zu of them never seen; %zu others are inlined, %zu stand for several\n",
	       functions.n, n_never, n_inlined, n_several);
	coverage_print(&run, has_frame);
}

int main(int argc, char **argv)
{
	if (argc < 2)
		return 2;
	measured_run_read(&run, argv[1]);
	printf("%zu events with stacks, %" PRIu64 " lost, %" PRIu64 " left out for their stacks, %zu windows\n",
	       run.input.history.events.n, run.input.n_lost, run.input.counts.n_without + run.input.counts.n_cut,
	       run.input.history.windows.n);
	compare(argc > 2 ? (size_t)atol(argv[2]) : 20);
	return 0;
}
