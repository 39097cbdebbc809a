/* SPDX-License-Identifier: GPL-3.0-or-later */
/* How many calls a stretch of time holds is estimated from the trace's chunks, which are a few thousand records each:
 * no call is read to choose the part.
 */
#include "report/export/trace_part.h"

#include "common/files.h"
#include "common/search.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>

struct choice {
	struct vprof_trace_part *part;
	const struct vprof_part_options *o;
	VPROF_ARRAY(uint32_t) candidates; /* complete instances of the name */
	uint32_t only;			  /* the instance that was asked for, or VPROF_NONE */
};

static uint64_t to_ns(const struct vprof_trace_part *part, uint64_t since, uint64_t ticks)
{
	double ns = ticks > since ? (double)(ticks - since) * part->timeline->ns_per_tick : 0;

	return ns < 4e18 ? (uint64_t)llround(ns) : (uint64_t)4e18;
}

uint64_t vprof_part_ns(const struct vprof_trace_part *part, uint64_t ticks)
{
	return to_ns(part, part->start, ticks);
}

/* A clock's time at `ticks`, when it was `at_start` at the header's ticks. */
static uint64_t on_clock(const struct vprof_trace_part *part, uint64_t at_start, uint64_t ticks)
{
	uint64_t reference = part->trace->header.start_ticks ? part->trace->header.start_ticks : part->start;
	uint64_t before = to_ns(part, ticks, reference);

	at_start = at_start < (uint64_t)4e18 ? at_start : 0;
	return ticks >= reference ? at_start + to_ns(part, reference, ticks) :
				    at_start - (before < at_start ? before : at_start);
}

uint64_t vprof_part_unix_ns(const struct vprof_trace_part *part, uint64_t ticks)
{
	return on_clock(part, part->trace->header.start_realtime_ns, ticks);
}

uint64_t vprof_part_monotonic_ns(const struct vprof_trace_part *part, uint64_t ticks)
{
	return on_clock(part, part->trace->header.start_ns, ticks);
}

const char *vprof_part_interval_name(const struct vprof_trace_part *part, const struct vprof_instance *x)
{
	const char *name = vprof_timeline_string(part->timeline, x->name);

	return name ? name : "interval";
}

const char *vprof_part_type(const struct vprof_trace_part *part, const struct vprof_instance *x,
			    struct vprof_part_name *room)
{
	const char *text = x->type_kind == 2 ? vprof_timeline_string(part->timeline, x->type) : NULL;

	if (text || !x->type_kind)
		return text ? text : "";
	snprintf(room->s, sizeof room->s, x->type_kind == 1 ? "%lld" : "type %llx", (long long)x->type);
	return room->s;
}

const char *vprof_part_thread(const struct vprof_trace_part *part, uint32_t thread, struct vprof_part_name *room)
{
	const struct vprof_thread_timeline *line = &part->timeline->threads[thread];

	snprintf(room->s, sizeof room->s, "%s %u", line->pid == line->tid ? "process" : "thread", line->tid);
	return room->s;
}

const char *vprof_part_wait(const struct vprof_trace_part *part, const struct vprof_wait *wait)
{
	return wait->name < part->timeline->n_names ? part->timeline->names[wait->name] : "wait";
}

const struct vprof_probe *vprof_part_call(const struct vprof_trace_part *part, uint32_t code, const char **name,
					  struct vprof_part_name *room)
{
	const struct vprof_probe *probe = vprof_plan_probe(part->plan, code);

	*name = probe ? (probe->display && *probe->display ? probe->display : probe->name) : NULL;
	if (!*name || !**name) {
		snprintf(room->s, sizeof room->s, "code %u", code);
		*name = room->s;
	}
	return probe;
}

static uint64_t end_of(const struct vprof_trace_part *part, const struct vprof_instance *x)
{
	return x->state == VPROF_INSTANCE_OPEN ? part->timeline->t_last : x->end > x->begin ? x->end : x->begin;
}

/* The interval of that name, else the one with the most complete instances. */
static int find_candidates(struct choice *c)
{
	const struct vprof_intervals *all = c->part->intervals;
	const struct vprof_interval_name *best = NULL;

	for (size_t i = 0; i < all->names.n; i++) {
		const struct vprof_interval_name *n = &all->names.v[i];
		const char *text = vprof_timeline_string(c->part->timeline, n->name);

		if (c->o->name && text && !strcmp(text, c->o->name)) {
			best = n;
			break;
		}
		if (!best || n->n_complete > best->n_complete)
			best = n;
	}
	for (size_t i = 0; best && i < all->instances.n; i++) {
		const struct vprof_instance *x = &all->instances.v[i];
		uint32_t *slot;

		if (x->name != best->name || x->state != VPROF_INSTANCE_COMPLETE || x->end < x->begin)
			continue;
		slot = VPROF_PUSH(&c->candidates);
		if (!slot)
			return VPROF_ERR_NOMEM;
		*slot = (uint32_t)i;
	}
	return 0;
}

struct timed {
	uint64_t ticks;
	uint32_t instance;
};

static int slower(const void *a, const void *b)
{
	const struct timed *x = a, *y = b;

	if (x->ticks != y->ticks)
		return x->ticks > y->ticks ? -1 : 1;
	return (x->instance > y->instance) - (x->instance < y->instance);
}

/* Instances by falling latency, in place. */
static int sort_by_latency(const struct vprof_trace_part *part, uint32_t *instances, size_t n)
{
	size_t cap = 0;
	struct timed *order = vprof_array_room(NULL, &cap, n + 1, sizeof *order);
	int ret = order ? 0 : VPROF_ERR_NOMEM;

	for (size_t i = 0; !ret && i < n; i++) {
		const struct vprof_instance *x = &part->intervals->instances.v[instances[i]];

		order[i] = (struct timed){ end_of(part, x) - x->begin, instances[i] };
	}
	if (!ret && vprof_array_sort(order, n, sizeof *order, slower))
		ret = VPROF_ERR_NOMEM;
	for (size_t i = 0; !ret && i < n; i++)
		instances[i] = order[i].instance;
	vprof_array_free(order, cap, sizeof *order);
	return ret;
}

/* The slowest with this id. Candidates are sorted by latency. */
static int find_id(struct choice *c, struct vprof_error *err)
{
	const struct vprof_instance *all = c->part->intervals->instances.v;
	char *end;
	uint64_t id;

	errno = 0;
	id = *c->o->which == '-' ? (uint64_t)strtoll(c->o->which, &end, 0) : strtoull(c->o->which, &end, 0);
	if (errno || end == c->o->which || *end)
		return vprof_error_set(
			err, VPROF_ERR_INPUT,
			"\"%s\" is not an interval: give slowest, median, p99, or an interval's id, a number "
			"(vprof export csv-intervals lists them)",
			c->o->which);
	for (size_t i = 0; i < c->candidates.n && c->only == VPROF_NONE; i++)
		if (all[c->candidates.v[i]].id == id)
			c->only = c->candidates.v[i];
	return c->only != VPROF_NONE ? 0 :
				       vprof_error_set(err, VPROF_ERR_INPUT,
						       "no complete interval of the run has the id %s; vprof export "
						       "csv-intervals lists them",
						       c->o->which);
}

static int find_one(struct choice *c, struct vprof_error *err)
{
	size_t n = c->candidates.n;

	c->only = VPROF_NONE;
	if (!c->o->which)
		return 0;
	if (!n)
		return vprof_error_set(err, VPROF_ERR_INPUT,
				       "the run has no complete interval to choose; vprof doctor says why");
	if (sort_by_latency(c->part, c->candidates.v, n))
		return vprof_error_set(err, VPROF_ERR_NOMEM, "not enough memory for the intervals");
	if (!strcmp(c->o->which, "slowest"))
		c->only = c->candidates.v[0];
	else if (!strcmp(c->o->which, "p99"))
		c->only = c->candidates.v[n / 100];
	else if (!strcmp(c->o->which, "median"))
		c->only = c->candidates.v[n / 2];
	else
		return find_id(c, err);
	return 0;
}

/* What was asked for, in ticks. An interval comes with a twentieth of its length on both sides. */
static int set_stretch(struct choice *c, struct vprof_error *err)
{
	struct vprof_trace_part *part = c->part;
	double per_ns = part->timeline->ns_per_tick > 0 ? 1 / part->timeline->ns_per_tick : 1;
	double length = (double)(part->timeline->t_last - part->start);

	part->from = part->start;
	part->to = part->timeline->t_last + 1;
	if (c->only != VPROF_NONE) {
		const struct vprof_instance *x = &part->intervals->instances.v[c->only];
		uint64_t margin = (x->end - x->begin) / 20 + 1;

		part->from = x->begin - part->start > margin ? x->begin - margin : part->start;
		part->to = x->end + margin;
		return 0;
	}
	if (c->o->from_ns > 0) {
		if (c->o->from_ns * per_ns > length)
			return vprof_error_set(err, VPROF_ERR_INPUT, "the trace is %.6f s long: it ends before --from",
					       (double)vprof_part_ns(part, part->timeline->t_last) / 1e9);
		part->from = part->start + (uint64_t)(c->o->from_ns * per_ns);
	}
	if (c->o->to_ns > 0 && c->o->to_ns * per_ns < length)
		part->to = part->start + (uint64_t)(c->o->to_ns * per_ns) + 1;
	return part->from < part->to ? 0 : vprof_error_set(err, VPROF_ERR_INPUT, "--to comes before --from");
}

static double calls_between(const struct vprof_thread_timeline *line, uint64_t from, uint64_t to)
{
	const struct vprof_block *blocks = line->calls.blocks.v;
	size_t n = line->calls.blocks.n, b;
	double sum = 0;

	if (!n || from >= to)
		return 0;
	for (b = vprof_time_search(&blocks->t1_max, sizeof *blocks, n, from, 0); b < n; b++) {
		uint64_t begin = b ? blocks[b - 1].t1_max : line->t_first, end = blocks[b].t1_max;
		uint64_t low = begin > from ? begin : from, high = end < to ? end : to;

		if (begin >= to)
			break;
		if (end <= begin)
			sum += blocks[b].n_calls;
		else if (high > low)
			sum += blocks[b].n_calls * ((double)(high - low) / (double)(end - begin));
	}
	return sum;
}

static double begun_between(const void *items, size_t size, size_t n, uint64_t from, uint64_t to)
{
	size_t first = from ? vprof_time_search(items, size, n, from - 1, 0) : 0;

	return (double)(vprof_time_search(items, size, n, to - 1, first) - first);
}

static double slices_between(const struct vprof_trace_part *part, uint64_t from, uint64_t to)
{
	const struct vprof_intervals *all = part->intervals;
	double sum = begun_between(all->instances.v, sizeof *all->instances.v, all->instances.n, from, to);

	for (size_t i = 0; i < part->timeline->n_threads; i++) {
		const struct vprof_thread_timeline *line = &part->timeline->threads[i];

		sum += calls_between(line, from, to) +
		       begun_between(line->waits.v, sizeof *line->waits.v, line->waits.n, from, to);
	}
	return sum;
}

/* The middle of the slowest candidate within the stretch. */
static uint64_t focus_of(const struct choice *c)
{
	const struct vprof_trace_part *part = c->part;
	const struct vprof_instance *slowest = NULL;

	for (size_t i = 0; i < c->candidates.n; i++) {
		const struct vprof_instance *x = &part->intervals->instances.v[c->candidates.v[i]];

		if (x->begin >= part->from && x->end <= part->to &&
		    (!slowest || x->end - x->begin > slowest->end - slowest->begin))
			slowest = x;
	}
	return slowest ? slowest->begin + (slowest->end - slowest->begin) / 2 : part->from;
}

static void fit_slices(struct choice *c)
{
	struct vprof_trace_part *part = c->part;
	uint64_t from = part->from, to = part->to, focus;
	double all = slices_between(part, from, to), low = 0, high = 1;

	if (!c->o->limit || all <= (double)c->o->limit)
		return;
	focus = focus_of(c);
	for (int i = 0; i < 40; i++) {
		double middle = (low + high) / 2;
		uint64_t left = focus - (uint64_t)((double)(focus - from) * middle),
			 right = focus + (uint64_t)((double)(to - focus) * middle) + 1;

		if (slices_between(part, left, right) <= (double)c->o->limit) {
			low = middle;
			part->from = left;
			part->to = right < to ? right : to;
		} else {
			high = middle;
		}
	}
	if (part->from == from && part->to == to) { /* not one tick of it: what is written stops at the limit */
		part->from = focus;
		part->to = focus + 1;
	}
	snprintf(part->note, sizeof part->note,
		 "%.6f to %.6f s of the trace, around the slowest interval: about %.0f of %.0f calls, waits and "
		 "intervals. For another part: --from, --to; for one interval: --interval; for more: --limit",
		 (double)vprof_part_ns(part, part->from) / 1e9, (double)vprof_part_ns(part, part->to) / 1e9,
		 slices_between(part, part->from, part->to), all);
}

/* Slices: all that touch the stretch. Intervals: those that begin in it, of which a limit leaves the slowest. */
static int take_instances(struct choice *c, enum vprof_part_kind kind)
{
	struct vprof_trace_part *part = c->part;

	for (size_t i = 0; i < part->intervals->instances.n; i++) {
		const struct vprof_instance *x = &part->intervals->instances.v[i];
		uint32_t *slot;

		if (x->begin >= part->to ||
		    (kind == VPROF_PART_SLICES ? end_of(part, x) < part->from : x->begin < part->from) ||
		    (kind == VPROF_PART_INTERVALS && c->only != VPROF_NONE && c->only != i))
			continue;
		slot = VPROF_PUSH(&part->instances);
		if (!slot)
			return VPROF_ERR_NOMEM;
		*slot = (uint32_t)i;
	}
	if (kind == VPROF_PART_SLICES || !c->o->limit || part->instances.n <= c->o->limit)
		return 0;
	snprintf(part->note, sizeof part->note,
		 "the slowest %llu of %zu intervals. For a stretch of time: --from, --to; for more: --limit",
		 (unsigned long long)c->o->limit, part->instances.n);
	if (sort_by_latency(part, part->instances.v, part->instances.n))
		return VPROF_ERR_NOMEM;
	part->instances.n = c->o->limit;
	qsort(part->instances.v, part->instances.n, sizeof *part->instances.v, vprof_compare_u32);
	return 0;
}

static int load(struct vprof_trace_part *part, const struct vprof_part_options *o, struct vprof_error *err)
{
	int ret = vprof_plan_read(&part->plan, o->plan_path, err);

	if (!ret && o->progress)
		o->progress(o->progress_arg, "read", 0);
	if (!ret)
		ret = vprof_source_open(&part->source, o->trace_dir, 0, NULL, NULL, err);
	part->trace = part->source.trace;
	part->timeline = part->source.timeline;
	part->intervals = part->source.intervals;
	return ret;
}

/* By the analysis' own rule: windows, losses, and in a live session what was open. */
static int find_analysed(struct choice *c)
{
	struct vprof_trace_part *part = c->part;
	struct vprof_source *s = &part->source;

	part->is_analysed = calloc(part->intervals->instances.n + 1, 1);
	if (!part->is_analysed)
		return VPROF_ERR_NOMEM;
	if (!c->candidates.n)
		return 0;
	s->plan = part->plan;
	if (vprof_source_choose(s, part->intervals->instances.v[c->candidates.v[0]].name, 1, 0, 0, 0))
		return VPROF_ERR_NOMEM;
	for (size_t i = 0; i < s->chosen.n; i++)
		part->is_analysed[s->chosen.v[i]] = 1;
	return 0;
}

/* The program is the first module that the first process told of. */
static void name_program(struct vprof_trace_part *part)
{
	if (part->timeline->modules.n) {
		const char *path = part->timeline->modules.v[0].path;

		snprintf(part->program, sizeof part->program, "%s", path ? vprof_path_name(path) : "");
	}
}

int vprof_part_open(struct vprof_trace_part **out, enum vprof_part_kind kind, const struct vprof_part_options *o,
		    struct vprof_error *err)
{
	struct vprof_trace_part *part = calloc(1, sizeof *part);
	struct choice c = { .part = part, .o = o, .only = VPROF_NONE };
	uint64_t start_ticks;
	int ret = part ? load(part, o, err) : vprof_error_no_memory(err);

	*out = NULL;
	if (ret)
		goto out;
	start_ticks = part->trace->header.start_ticks;
	if (!part->timeline->n_records)
		ret = vprof_error_set(err, VPROF_ERR_INPUT, "the run's trace holds no records; vprof doctor says why");
	part->start = start_ticks && start_ticks < part->timeline->t_first ? start_ticks : part->timeline->t_first;
	part->limit = o->limit;
	name_program(part);
	if (!ret && find_candidates(&c))
		ret = vprof_error_set(err, VPROF_ERR_NOMEM, "not enough memory for the intervals");
	if (!ret && kind == VPROF_PART_INTERVALS && find_analysed(&c))
		ret = vprof_error_set(err, VPROF_ERR_NOMEM, "not enough memory for the intervals");
	if (!ret)
		ret = find_one(&c, err);
	if (!ret)
		ret = set_stretch(&c, err);
	if (ret)
		goto out;
	if (kind == VPROF_PART_SLICES)
		fit_slices(&c);
	if (take_instances(&c, kind))
		ret = vprof_error_set(err, VPROF_ERR_NOMEM, "not enough memory for the intervals");
out:
	VPROF_ARRAY_RELEASE(&c.candidates);
	if (ret) {
		vprof_part_free(part);
		return ret;
	}
	*out = part;
	return 0;
}

void vprof_part_free(struct vprof_trace_part *part)
{
	if (!part)
		return;
	VPROF_ARRAY_RELEASE(&part->instances);
	free(part->is_analysed);
	vprof_source_release(&part->source);
	vprof_plan_free(part->plan);
	free(part);
}
