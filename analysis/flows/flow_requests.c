/* SPDX-License-Identifier: GPL-3.0-or-later */
/* First the events with what was registered for them, then the requests on each descriptor, then the pointer that the
 * events of each request have in common, at last the functions: the outermost ones below the loop by which beginning,
 * going on and ending can be told apart. */
#include "analysis/flows/flow_requests.h"

#include <inttypes.h>

#include "analysis/flows/flow_events_seen.h"
#include "analysis/flows/flow_places.h"
#include "analysis/flows/flow_verdict.h"

#define IDENTITIES (1 + (int)VPROF_FLOW_EVENT_LINKS) /* the registered pointer, or one that is read there */
#define IDLE_MAX 20				     /* one in so many requests */

struct descriptor { /* from its first transfer to its closing */
	uint32_t process;
	int fd;
	uint64_t closed;
	int is_server, is_sending;
	const struct vprof_flow_mark *received, *sent; /* of the request in hand: first and last */
};

struct request {
	const struct vprof_flow_mark *received, *sent;
	struct vprof_flow_event_seen *begin, *end; /* NULL: no event was in hand */
	uint32_t descriptor;
};

struct holder { /* of an identity's value */
	uint32_t process, descriptor;
	uint64_t value;
};

struct finder {
	struct vprof_flow_requests *out;
	const struct vprof_flow_trace *t;
	const struct vprof_flow_places *places;
	struct vprof_arena *arena;
	struct vprof_flow_events events;
	VPROF_ARRAY(struct descriptor) descriptors;
	VPROF_ARRAY(uint32_t) open; /* of each number the last one */
	struct vprof_hash_index open_index;
	VPROF_ARRAY(struct request) requests; /* apart only */
	VPROF_ARRAY(struct holder) holders;
	struct vprof_hash_index holder_index;
	int identity, failed;
};

/* ---- requests ---- */

static int fd_of(const struct vprof_flow_mark *m)
{
	return (int)(uint32_t)m->record->c;
}

/* The open one of this number, made if there is none; VPROF_NONE without memory. */
static uint32_t descriptor_of(struct finder *f, const struct vprof_flow_mark *m)
{
	uint64_t hash = vprof_mix((uint64_t)m->process << 32 | (uint32_t)fd_of(m));
	struct descriptor *d;
	uint32_t *slot = NULL;
	size_t at;

	if (vprof_hash_index_room(&f->open_index, 1))
		goto failed;
	VPROF_HASH_EACH(&f->open_index, hash, at, i)
	{
		d = &f->descriptors.v[f->open.v[i]];
		if (d->process != m->process || d->fd != fd_of(m))
			continue;
		if (!d->closed)
			return f->open.v[i];
		slot = &f->open.v[i];
		break;
	}
	d = VPROF_PUSH(&f->descriptors);
	if (d && !slot) {
		slot = VPROF_PUSH(&f->open);
		if (slot)
			vprof_hash_index_put(&f->open_index, at, hash, (uint32_t)f->open.n - 1);
	}
	if (!d || !slot)
		goto failed;
	*d = (struct descriptor){ .process = m->process,
				  .fd = fd_of(m),
				  .is_server = m->record->flags & VPROF_FLOW_RECEIVED };
	*slot = (uint32_t)f->descriptors.n - 1;
	return *slot;
failed:
	f->failed = 1;
	return VPROF_NONE;
}

/* The descriptor's request is over: what begins it was received for an event of this descriptor. */
static void end_request(struct finder *f, uint32_t descriptor)
{
	struct descriptor *d = &f->descriptors.v[descriptor];
	struct request r = { d->received, d->sent, NULL, NULL, descriptor }, *slot;

	d->received = d->sent = NULL;
	d->is_sending = 0;
	if (!r.received || !r.sent)
		return;
	r.begin = vprof_flow_event_find(&f->events, r.received->record->b);
	r.end = vprof_flow_event_find(&f->events, r.sent->record->b);
	f->out->n_requests++;
	if (!r.begin || r.begin->fd != d->fd || !r.end) {
		f->out->n_elsewhere++;
	} else if (r.begin == r.end) {
		f->out->n_within++;
		r.begin->is_request = 1;
	} else {
		r.begin->is_request = r.end->is_request = 1;
		f->out->n_apart++;
		slot = VPROF_PUSH(&f->requests);
		if (slot)
			*slot = r;
		else
			f->failed = 1;
	}
}

/* Of a process of whose events enough were recorded: its last requests are not known to the end. */
static int is_cut(const struct finder *f, uint32_t process)
{
	for (size_t i = 0; i < f->t->enough.n; i++)
		if (!f->t->enough.v[i].caller && f->t->enough.v[i].process == process)
			return 1;
	return 0;
}

/* What has begun is a request, though nobody knows where it ends. */
static void drop_request(struct finder *f, const struct descriptor *d)
{
	struct vprof_flow_event_seen *begin = d->received ? vprof_flow_event_find(&f->events, d->received->record->b) :
							    NULL;

	if (begin)
		begin->is_request = 1;
}

static void find_requests(struct finder *f)
{
	for (size_t i = 0; i < f->t->transfers.n && !f->failed; i++) {
		const struct vprof_flow_mark *m = &f->t->transfers.v[i];
		uint32_t number = descriptor_of(f, m);
		struct descriptor *d = number == VPROF_NONE ? NULL : &f->descriptors.v[number];

		if (!d)
			return;
		if (m->record->flags & VPROF_FLOW_CLOSED) {
			end_request(f, number);
			d->closed = m->record->a;
		} else if (m->record->flags & VPROF_FLOW_SENT) {
			d->sent = d->is_server ? m : NULL;
			d->is_sending = 1;
		} else {
			if (d->is_sending)
				end_request(f, number);
			d->received = d->received || !d->is_server ? d->received : m;
		}
	}
	for (uint32_t i = 0; i < f->descriptors.n && !f->failed; i++)
		if (is_cut(f, f->descriptors.v[i].process))
			drop_request(f, &f->descriptors.v[i]);
		else
			end_request(f, i);
}

static void count_descriptors(struct finder *f)
{
	unsigned char *seen = calloc(f->descriptors.n + 1, 1);

	f->failed |= !seen;
	for (size_t i = 0; seen && i < f->requests.n; i++) {
		f->out->n_descriptors += !seen[f->requests.v[i].descriptor];
		seen[f->requests.v[i].descriptor] = 1;
	}
	free(seen);
}

/* ---- the object ---- */

static uint64_t value_of(const struct vprof_flow_event_seen *e, int identity)
{
	return identity ? e->links[identity - 1] : e->value;
}

/* Do requests on descriptors that are open at the same time have different values? */
static int is_own(struct finder *f, const struct request *r, uint64_t value)
{
	const struct descriptor *d = &f->descriptors.v[r->descriptor];
	uint64_t hash = vprof_mix(value) ^ vprof_mix(d->process);
	struct holder *holder;
	size_t at;

	f->failed |= vprof_hash_index_room(&f->holder_index, 1);
	if (f->failed)
		return 0;
	VPROF_HASH_EACH(&f->holder_index, hash, at, i)
	{
		holder = &f->holders.v[i];
		if (holder->process == d->process && holder->value == value) {
			const struct descriptor *other = &f->descriptors.v[holder->descriptor];
			int is_free = holder->descriptor == r->descriptor ||
				      (other->closed && other->closed < r->received->record->a);

			holder->descriptor = r->descriptor;
			return is_free;
		}
	}
	holder = VPROF_PUSH(&f->holders);
	if (!holder) {
		f->failed = 1;
		return 0;
	}
	*holder = (struct holder){ d->process, r->descriptor, value };
	vprof_hash_index_put(&f->holder_index, at, hash, (uint32_t)f->holders.n - 1);
	return 1;
}

/* Have all requests the same value at begin and end, and others another? */
static int identifies(struct finder *f, int identity)
{
	int fits = 1;

	for (size_t i = 0; i < f->requests.n && fits && !f->failed; i++) {
		const struct request *r = &f->requests.v[i];
		uint64_t value = value_of(r->begin, identity);

		fits = value && value == value_of(r->end, identity) && is_own(f, r, value);
	}
	VPROF_ARRAY_RELEASE(&f->holders);
	vprof_hash_index_release(&f->holder_index);
	return fits;
}

static const char *find_object(struct finder *f)
{
	int n = 0;

	for (int i = 0; i < IDENTITIES && !(n && !f->identity); i++)
		if (identifies(f, i)) {
			f->identity = n++ ? f->identity : i;
			f->out->offset = f->identity ? 8 * (f->identity - 1) : -1;
		}
	if (!n)
		return "the events of a request have no pointer in common: neither what was registered, nor one that is read from it";
	if (n > 1 && f->out->n_descriptors < 2)
		return "all requests are of one descriptor, so that which of several pointers is the request's is not known: put load on several connections";
	return NULL;
}

/* ---- the functions ---- */

static int same_function(const struct vprof_flow_function *a, const struct vprof_flow_function *b)
{
	return !strcmp(a->name, b->name) && (!a->file || !b->file || !strcmp(a->file, b->file));
}

static struct vprof_flow_step *step_of(struct finder *f, enum vprof_flow_step_kind kind,
				       const struct vprof_flow_function *function, int add)
{
	struct vprof_flow_step *steps = f->out->steps[kind];
	size_t *n = &f->out->n_steps[kind];

	for (size_t i = 0; i < *n; i++)
		if (same_function(&steps[i].function, function))
			return &steps[i];
	if (!add || *n == VPROF_FLOW_STEPS)
		return NULL;
	steps[*n].function = *function;
	return &steps[(*n)++];
}

/* Counts the function at this depth of a path; 0: the path is not so long. */
static int count_step(struct finder *f, enum vprof_flow_step_kind kind, const struct vprof_flow_path *path,
		      size_t depth)
{
	struct vprof_flow_step *step;

	if (!path || depth >= path->n)
		return 0;
	step = step_of(f, kind, &path->functions[depth], 1);
	if (step)
		step->n++;
	return step != NULL;
}

/* The handler of an event in between: where it received or sent, or else the function that its registration names, if
 * the handlers of beginnings are named so. */
static void count_between(struct finder *f, const struct vprof_flow_event_seen *e, size_t depth, int is_named)
{
	const struct vprof_flow_function named = { e->handler, NULL, 0 };
	struct vprof_flow_step *step = NULL;

	if (e->path && count_step(f, VPROF_FLOW_RESUMES, e->path, depth))
		return;
	if (is_named && e->handler)
		step = step_of(f, VPROF_FLOW_RESUMES, &named, 1);
	if (step)
		step->n++;
	else
		f->out->n_unknown++;
}

struct place_in_time { /* of an event of an object */
	uint64_t value, section;
	uint32_t process, event;
};

static int by_object(const void *a, const void *b)
{
	const struct place_in_time *x = a, *y = b;

	if (x->process != y->process)
		return x->process < y->process ? -1 : 1;
	if (x->value != y->value)
		return x->value < y->value ? -1 : 1;
	return x->section < y->section ? -1 : x->section > y->section;
}

/* Marks the events that lie between a request's begin and end, of the same object. */
static void find_between(struct finder *f)
{
	size_t n = 0;
	struct place_in_time *list = calloc(f->events.list.n + 1, sizeof *list);

	f->failed |= !list;
	for (size_t i = 0; list && i < f->events.list.n; i++) {
		const struct vprof_flow_event_seen *e = &f->events.list.v[i];

		if (value_of(e, f->identity))
			list[n++] =
				(struct place_in_time){ value_of(e, f->identity), e->section, e->process, (uint32_t)i };
	}
	if (f->failed || vprof_array_sort(list, n, sizeof *list, by_object)) {
		f->failed = 1;
		free(list);
		return;
	}
	for (size_t i = 0; i < f->requests.n; i++) {
		const struct request *r = &f->requests.v[i];
		const struct place_in_time from = { value_of(r->begin, f->identity), r->begin->section,
						    r->begin->process, 0 };
		size_t low = 0, high = n;

		while (low < high) {
			size_t middle = low + (high - low) / 2;

			if (by_object(&list[middle], &from) <= 0)
				low = middle + 1;
			else
				high = middle;
		}
		for (; low < n && list[low].process == from.process && list[low].value == from.value &&
		       list[low].section < r->end->section;
		     low++)
			f->events.list.v[list[low].event].is_between = 1;
	}
	free(list);
}

/* Are the handlers at this depth those that registrations name? */
static int are_named(const struct finder *f, size_t depth)
{
	for (size_t i = 0; i < f->requests.n; i++) {
		const struct vprof_flow_event_seen *e = f->requests.v[i].begin;

		if (!e->handler || !e->path || depth >= e->path->n ||
		    strcmp(e->handler, e->path->functions[depth].name))
			return 0;
	}
	return 1;
}

static int are_disjoint(struct finder *f)
{
	for (int kind = 0; kind < VPROF_FLOW_STEP_KINDS; kind++)
		for (int other = kind + 1; other < VPROF_FLOW_STEP_KINDS; other++)
			for (size_t i = 0; i < f->out->n_steps[kind]; i++)
				if (step_of(f, (enum vprof_flow_step_kind)other, &f->out->steps[kind][i].function, 0))
					return 0;
	return 1;
}

/* Events of handlers at which requests begin, that began none. */
static void count_idle(struct finder *f, size_t depth, int is_named)
{
	for (size_t i = 0; i < f->events.list.n; i++) {
		const struct vprof_flow_event_seen *e = &f->events.list.v[i];
		struct vprof_flow_function function = { is_named ? e->handler : NULL, NULL, 0 };

		if (e->is_request || e->is_between)
			continue;
		if (e->path && depth < e->path->n)
			function = e->path->functions[depth];
		f->out->n_idle += function.name && step_of(f, VPROF_FLOW_BEGINS, &function, 0);
	}
}

/* All requests' functions at one depth below the loop: 1, told apart; 0, not; -1: not all paths are so long. */
static int try_depth(struct finder *f, size_t depth)
{
	int is_named = are_named(f, depth);

	memset(f->out->n_steps, 0, sizeof f->out->n_steps);
	memset(f->out->steps, 0, sizeof f->out->steps);
	f->out->n_unknown = 0;
	for (size_t i = 0; i < f->requests.n; i++)
		if (!count_step(f, VPROF_FLOW_BEGINS, f->requests.v[i].begin->path, depth) ||
		    !count_step(f, VPROF_FLOW_ENDS,
				vprof_flow_path_of(&f->events, f->requests.v[i].end, f->requests.v[i].sent), depth))
			return -1;
	for (size_t i = 0; i < f->events.list.n; i++)
		if (f->events.list.v[i].is_between)
			count_between(f, &f->events.list.v[i], depth, is_named);
	if (!are_disjoint(f))
		return 0;
	count_idle(f, depth, is_named);
	return 1;
}

/* Are the functions those that one library was told as handlers? */
static unsigned library_of(const struct finder *f)
{
	unsigned library = f->requests.n ? f->requests.v[0].begin->library : 0;

	for (size_t i = 0; i < f->requests.n; i++)
		if (f->requests.v[i].begin->library != library || f->requests.v[i].end->library != library)
			return 0;
	for (size_t i = 0; i < f->events.list.n; i++)
		if (f->events.list.v[i].is_between && f->events.list.v[i].library != library)
			return 0;
	return library;
}

static int is_number(const struct finder *f)
{
	return !f->identity && f->requests.n && f->requests.v[0].begin->value & VPROF_FLOW_NUMBER;
}

static const char *find_handlers(struct finder *f)
{
	const struct vprof_flow_step *begin = &f->out->steps[VPROF_FLOW_BEGINS][0];
	const char *last = NULL;
	size_t depth = 0;
	int told = 0;

	for (; depth < VPROF_FLOW_DEPTH; depth++) {
		told = try_depth(f, depth);
		if (told)
			break;
		last = vprof_arena_printf(f->arena, "%s", begin->function.name);
	}
	if (told <= 0) {
		memset(f->out->n_steps, 0, sizeof f->out->n_steps);
		return last ? vprof_arena_printf(
				      f->arena,
				      "requests are received in %s, which also runs while they go on or end: call vprof_begin, vprof_suspend, vprof_resume and vprof_end (vprof.h) where it tells these apart",
				      last) :
			      "which functions received and sent is not known: their units were not compiled for discovery, or the loop itself does it";
	}
	f->out->library = depth ? 0 : library_of(f);
	f->out->is_number = is_number(f);
	if (f->out->n_idle * IDLE_MAX > f->out->n_apart)
		return vprof_arena_printf(
			f->arena,
			"%" PRIu64
			" of the events in %s began no request: call vprof_begin (vprof.h) where it has received one",
			f->out->n_idle, begin->function.name);
	return NULL;
}

static const char *reason_of(struct finder *f)
{
	const struct vprof_flow_requests *out = f->out;
	const char *reason;

	if (out->n_apart < VPROF_FLOW_FEWEST || 2 * out->n_apart < out->n_requests)
		return vprof_arena_printf(
			f->arena,
			"of %" PRIu64 " requests %" PRIu64 " were received and replied to in one handler, %" PRIu64
			" by threads that handled no event, and only %" PRIu64 " in handlers of different events",
			out->n_requests, out->n_within, out->n_elsewhere, out->n_apart);
	if (out->n_apart < out->n_requests)
		return vprof_arena_printf(f->arena,
					  "of %" PRIu64 " requests %" PRIu64
					  " were received and replied to in handlers of different events, but %" PRIu64
					  " in one and %" PRIu64 " outside of handlers",
					  out->n_requests, out->n_apart, out->n_within, out->n_elsewhere);
	reason = find_object(f);
	if (reason)
		return reason;
	find_between(f);
	return f->failed ? "" : find_handlers(f);
}

static void copy_names(struct finder *f)
{
	for (int kind = 0; kind < VPROF_FLOW_STEP_KINDS; kind++)
		for (size_t i = 0; i < f->out->n_steps[kind]; i++) {
			struct vprof_flow_function *function = &f->out->steps[kind][i].function;

			function->name = vprof_arena_printf(f->arena, "%s", function->name);
			function->file = function->file ? vprof_arena_printf(f->arena, "%s", function->file) : NULL;
		}
}

int vprof_flow_requests_find(struct vprof_flow_requests *out, const struct vprof_flow_trace *t,
			     const struct vprof_flow_places *places, struct vprof_arena *arena, struct vprof_error *err)
{
	struct finder f = { .out = out, .t = t, .places = places, .arena = arena };

	memset(out, 0, sizeof *out);
	out->offset = -1;
	f.failed = vprof_flow_events_read(&f.events, t, places) != 0;
	if (!f.failed)
		find_requests(&f);
	if (!f.failed)
		count_descriptors(&f);
	if (!f.failed && out->n_requests)
		out->open = reason_of(&f);
	if (!f.failed)
		copy_names(&f);
	f.failed |= arena->failed;
	VPROF_ARRAY_RELEASE(&f.descriptors);
	VPROF_ARRAY_RELEASE(&f.open);
	vprof_hash_index_release(&f.open_index);
	VPROF_ARRAY_RELEASE(&f.requests);
	VPROF_ARRAY_RELEASE(&f.holders);
	vprof_hash_index_release(&f.holder_index);
	vprof_flow_events_release(&f.events);
	return f.failed ? vprof_error_no_memory(err) : VPROF_OK;
}
