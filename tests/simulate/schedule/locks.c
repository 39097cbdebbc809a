/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Locks: whoever takes one first gets it, even before a waiter that was woken for it. */
#include "tests/simulate/schedule/locks.h"

static const char *const call_names[VP_CALL_COUNT] = {
#define CALL_NAME(id, name) [VP_CALL_##id] = name,
	VP_CALLS(CALL_NAME)
#undef CALL_NAME
};

const char *sim_call_name(uint8_t call)
{
	return call_names[call];
}

void sim_object_init(struct sim_object *o, struct world *w, bool is_shared, uint32_t process)
{
	uint64_t place = UINT64_C(0x10000) * (1 + process) + 16 * w->next_handle++;

	o->is_shared = is_shared;
	/* mapped elsewhere in some processes, at the same place in the page */
	for (uint32_t p = 0; p < SIM_PROCESSES; p++)
		o->address[p] = place + (is_shared && world_chance(w, 30) ? UINT64_C(0x7f0000000000) + 0x10000 * p : 0);
	o->last_waiter = &o->waiters;
}

static uint64_t address(const struct sim_thread *th, const struct sim_object *o)
{
	return o->address[th->world->maps_as[th->process - 1] - 1];
}

static uint32_t shared(const struct sim_object *o)
{
	return o->is_shared ? VP_FLAG_SHARED : 0;
}

static void line_up(struct sim_object *o, struct sim_waiter *me)
{
	me->next = NULL;
	me->is_listed = true;
	*o->last_waiter = me;
	o->last_waiter = &me->next;
}

static void leave_line(struct sim_object *o, struct sim_waiter *me)
{
	struct sim_waiter **at = &o->waiters;

	if (!me->is_listed)
		return;
	while (*at != me)
		at = &(*at)->next;
	*at = me->next;
	if (!me->next)
		o->last_waiter = at;
	me->is_listed = false;
}

static struct sim_waiter *wake_first(struct sim_object *o, struct sim_release *by)
{
	struct sim_waiter *first = o->waiters;

	if (first) {
		leave_line(o, first);
		first->woken_by = by;
		world_wake(first->th);
	}
	return first;
}

/* The runtime's part of a wait and of a release. */
struct hook {
	struct sim_object *object;
	uint32_t ticket, before, seq, wait; /* wait: index + 1 */
	uint64_t t0;
	struct sim_release *release;
	bool had_waiters;
};

static void wait_begin(struct sim_thread *th, struct hook *h, struct sim_object *o, uint8_t kind, const char *name)
{
	h->object = o;
	h->t0 = th->world->now;
	h->wait = world_wait_begin(th, kind, o, name);
}

static void arrive(struct hook *h)
{
	h->ticket = ++h->object->arrivals;
	h->object->waiting++;
}

static void wait_cancel(struct sim_thread *th, struct hook *h)
{
	h->object->waiting--;
	world_wait_end(th, h->wait, NULL, false);
}

static void wait_end(struct sim_thread *th, struct hook *h, uint8_t kind, uint8_t call, uint32_t flags, uint32_t seq,
		     struct sim_release *release)
{
	const struct sim_wait_record r = { .kind = kind,
					   .call = call,
					   .flags = flags | shared(h->object),
					   .ticket = h->ticket,
					   .seq = seq,
					   .object = address(th, h->object),
					   .t0 = h->t0 };

	h->object->waiting--;
	th->waits[h->wait - 1].timed_out = flags & VP_FLAG_TIMEOUT;
	th->waits[h->wait - 1].holds = h->object->holds;
	world_wait_end(th, h->wait, release, records_wait(th, &r));
}

static uint32_t next_seq(struct sim_object *o)
{
	return o->seq = o->seq == VP_SEQ_MASK ? 1 : o->seq + 1;
}

static void release_begin(struct sim_thread *th, struct hook *h, struct sim_object *o)
{
	h->object = o;
	h->before = o->arrivals;
	h->had_waiters = o->waiting != 0;
	h->release = sim_release_new(th);
	h->seq = 0;
	if (h->had_waiters)
		sim_release_stamp(h->release);
}

static void release_end(struct sim_thread *th, struct hook *h, uint8_t kind, uint32_t flags)
{
	struct sim_object *o = h->object;

	if (!h->release->stamp && o->arrivals == h->before)
		return;
	if (!h->release->stamp) {
		sim_release_stamp(h->release);
		flags |= VP_FLAG_LATE;
	}
	h->release->is_recorded = records_wake(th, kind, flags | shared(o), h->seq, address(th, o), h->before,
					       o->arrivals, h->release->stamp);
}

static bool try_lock(struct sim_thread *th, struct sim_lock *l, bool reads)
{
	if (l->owner || (l->n_readers && !reads))
		return false;
	if (reads)
		l->n_readers++;
	else
		l->owner = th;
	return true;
}

static const struct {
	uint8_t kind, call;
} kinds[SIM_LOCK_KINDS][2] = {
	[SIM_MUTEX] = { { VP_WAIT_MUTEX, VP_CALL_MUTEX_LOCK }, { VP_WAIT_MUTEX, VP_CALL_MUTEX_LOCK } },
	[SIM_RWLOCK] = { { VP_WAIT_RWLOCK_WRITE, VP_CALL_WRLOCK }, { VP_WAIT_RWLOCK_READ, VP_CALL_RDLOCK } },
	[SIM_SPIN] = { { VP_WAIT_SPIN, VP_CALL_SPIN_LOCK }, { VP_WAIT_SPIN, VP_CALL_SPIN_LOCK } },
	[SIM_SEMAPHORE] = { { VP_WAIT_SEMAPHORE, VP_CALL_SEM_WAIT }, { VP_WAIT_SEMAPHORE, VP_CALL_SEM_WAIT } },
	[SIM_ANNOTATED] = { { VP_WAIT_SEMAPHORE, VP_CALL_SEM_WAIT }, { VP_WAIT_SEMAPHORE, VP_CALL_SEM_WAIT } },
};

enum taken { TIMED_OUT, AT_ONCE, AFTER_WAIT };

static enum taken take(struct sim_thread *th, struct sim_lock *l, bool reads, uint64_t until)
{
	struct world *w = th->world;
	uint8_t kind = kinds[l->kind][reads].kind, call = kinds[l->kind][reads].call;
	struct sim_waiter me = { .th = th, .reads = reads };
	struct hook h;
	bool has;

	if (try_lock(th, l, reads))
		return AT_ONCE;
	if (until != SIM_NEVER && l->kind == SIM_MUTEX)
		call = VP_CALL_MUTEX_TIMEDLOCK;
	wait_begin(th, &h, &l->object, kind, call_names[call]);
	world_lag(th);
	arrive(&h);
	world_lag(th);
	if (try_lock(th, l, reads)) {
		wait_cancel(th, &h);
		return AFTER_WAIT;
	}
	do {
		line_up(&l->object, &me);
		if (l->kind == SIM_SPIN ? !world_spin(th, until) : !world_park(th, until))
			leave_line(&l->object, &me);
		has = try_lock(th, l, reads);
	} while (!has && w->now < until);
	if (!has) {
		COVER(w, WAIT_TIMED_OUT);
		wait_end(th, &h, kind, call, VP_FLAG_TIMEOUT, 0, NULL);
		return TIMED_OUT;
	}
	h.seq = l->object.seq;
	h.release = reads ? l->last_by_writer : l->last;
	if (l->kind != SIM_SPIN)
		world_lag(th);
	if (l->kind == SIM_SPIN && w->now - h.t0 < SIM_WAIT_TICKS)
		wait_cancel(th, &h);
	else
		wait_end(th, &h, kind, call, 0, h.seq, h.release);
	return AFTER_WAIT;
}

/* Readers wake one writer; a writer wakes one writer, or all readers in front of it. */
static void hand_over(struct sim_lock *l, struct sim_release *by)
{
	bool was_reader = l->object.waiters && l->object.waiters->reads;

	do
		wake_first(&l->object, by);
	while (was_reader && l->object.waiters && l->object.waiters->reads);
}

/* `annotated`: what the records tell of instead, NULL: of this release itself. */
static void release(struct sim_thread *th, struct sim_lock *l, bool reads, const struct sim_release *annotated)
{
	struct hook h;

	release_begin(th, &h, &l->object);
	h.seq = reads ? l->object.seq : next_seq(&l->object);
	if (!reads)
		world_lag(th);
	if (reads)
		l->n_readers--;
	else
		l->owner = NULL;
	l->last = h.release;
	if (!reads)
		l->last_by_writer = h.release;
	if (annotated)
		world_hold_end(th->world, &l->hook.holds, annotated, false);
	else if (l->kind != SIM_SEMAPHORE)
		world_hold_end(th->world, &l->object.holds, h.release, reads);
	if (!l->n_readers)
		hand_over(l, h.release);
	if (reads) /* readers' times are taken after their unlock, at once */
		h.release->stamp = 0;
	else
		world_lag(th);
	if (!reads || h.had_waiters || l->object.arrivals != h.before) {
		if (reads) {
			sim_release_stamp(h.release);
			h.release->is_recorded =
				records_wake(th, kinds[l->kind][1].kind, VP_FLAG_LATE | shared(&l->object), h.seq,
					     address(th, &l->object), h.before, l->object.arrivals, h.release->stamp);
		} else {
			release_end(th, &h, kinds[l->kind][0].kind, 0);
		}
	}
}

bool sim_lock_take(struct sim_thread *th, struct sim_lock *l, bool reads, uint64_t until)
{
	struct sim_release *leaving = l->leaving;
	bool had_to_wait;
	struct hook h;

	if (l->kind != SIM_ANNOTATED)
		return take(th, l, reads, until) != TIMED_OUT;
	wait_begin(th, &h, &l->hook, VP_WAIT_ANNOTATED, "lwlock_acquire");
	arrive(&h);
	had_to_wait = take(th, l, false, SIM_NEVER) != AT_ONCE;
	world_lag(th);
	if (th->world->now - h.t0 < SIM_WAIT_TICKS) {
		wait_cancel(th, &h);
	} else {
		const struct sim_wait_record r = { .kind = VP_WAIT_ANNOTATED,
						   .flags = shared(&l->hook),
						   .ticket = h.ticket,
						   .object = address(th, &l->hook),
						   .t0 = h.t0,
						   .result = records_hash("lwlock_acquire") };

		l->hook.waiting--;
		th->waits[h.wait - 1].holds = l->hook.holds;
		world_wait_end(th, h.wait, had_to_wait ? l->last_hook : leaving, records_wait(th, &r));
	}
	return true;
}

void sim_lock_release(struct sim_thread *th, struct sim_lock *l, bool reads)
{
	struct hook h;
	bool had_moved;

	if (l->kind != SIM_ANNOTATED) {
		release(th, l, reads, NULL);
		return;
	}
	release_begin(th, &h, &l->hook);
	sim_release_stamp(h.release);
	l->last_hook = l->leaving = h.release;
	world_lag(th);
	release(th, l, false, h.release);
	l->leaving = NULL;
	had_moved = l->hook.arrivals != h.before;
	if (h.had_waiters || had_moved)
		release_end(th, &h, VP_WAIT_ANNOTATED, had_moved ? VP_FLAG_LATE : 0);
}

/* Signals are alike: who returns first has the first one that counted it; of those that the trace knows, if there are
 * any. */
static struct sim_release *take_token(struct sim_cond *c, uint32_t ticket, uint64_t record_from)
{
	struct sim_token *found = NULL;

	for (struct sim_token *t = c->tokens; t && (!found || found->release->stamp < record_from); t = t->next)
		if (t->n_left && (int32_t)(t->upto - ticket) >= 0 && (!found || t->release->stamp >= record_from))
			found = t;
	if (!found)
		return NULL;
	found->n_left -= found->n_left > 0;
	return found->release;
}

uint32_t sim_cond_wait(struct sim_thread *th, struct sim_cond *c, struct sim_lock *m, uint64_t until, bool *woken)
{
	struct sim_waiter me = { .th = th }, relock = { .th = th };
	struct sim_release *ended_by = NULL;
	struct hook r, h;

	release_begin(th, &r, &m->object); /* recorded at once; the unlock comes later, inside libc */
	r.seq = next_seq(&m->object);
	sim_release_stamp(r.release);
	r.release->is_recorded = records_wake(th, VP_WAIT_MUTEX, VP_FLAG_LATE | shared(&m->object), r.seq,
					      address(th, &m->object), r.before, r.before, r.release->stamp);
	world_lag(th);
	wait_begin(th, &h, &c->object, VP_WAIT_COND,
		   call_names[until == SIM_NEVER ? VP_CALL_COND_WAIT : VP_CALL_COND_TIMEDWAIT]);
	arrive(&h);
	line_up(&c->object, &me);
	m->owner = NULL;
	m->last = m->last_by_writer = r.release;
	world_hold_end(th->world, &m->object.holds, r.release, false);
	hand_over(m, r.release);
	*woken = world_park(th, until);
	leave_line(&c->object, &me);
	while (!try_lock(th, m, false)) {
		line_up(&m->object, &relock);
		world_park(th, SIM_NEVER);
	}
	if (*woken) {
		ended_by = take_token(c, h.ticket, th->world->record_from);
	} else {
		COVER(th->world, WAIT_TIMED_OUT);
	}
	wait_end(th, &h, VP_WAIT_COND, until == SIM_NEVER ? VP_CALL_COND_WAIT : VP_CALL_COND_TIMEDWAIT,
		 *woken ? 0 : VP_FLAG_TIMEOUT, 0, ended_by);
	return h.wait;
}

void sim_cond_signal(struct sim_thread *th, struct sim_cond *c, bool all)
{
	struct sim_token *t;
	struct hook h;

	release_begin(th, &h, &c->object);
	if (h.had_waiters) {
		t = world_alloc(th->world, sizeof *t);
		*t = (struct sim_token){ NULL, h.release, c->object.arrivals, all ? -1 : 1 };
		if (!c->last_token)
			c->last_token = &c->tokens;
		*c->last_token = t;
		c->last_token = &t->next;
	}
	while (wake_first(&c->object, h.release) && all)
		;
	if (th->world->now >= th->world->record_from)
		world_lag(th);
	release_end(th, &h, VP_WAIT_COND, all ? VP_FLAG_ALL : 0);
}

void sim_barrier_wait(struct sim_thread *th, struct sim_barrier *b)
{
	struct sim_waiter me = { .th = th };
	struct hook r, h;

	release_begin(th, &r, &b->object); /* no time before the arrival, which tells what came before it */
	sim_release_stamp(r.release);
	wait_begin(th, &h, &b->object, VP_WAIT_BARRIER, call_names[VP_CALL_BARRIER_WAIT]);
	arrive(&h); /* and it counts at once: who lies between the two may belong to either round, no record tells */
	if (++b->n_here == b->n) {
		b->n_here = 0;
		while (wake_first(&b->object, r.release))
			;
		world_lag(th);
		wait_cancel(th, &h);
		release_end(th, &r, VP_WAIT_BARRIER, VP_FLAG_ALL);
		return;
	}
	line_up(&b->object, &me);
	world_park(th, SIM_NEVER);
	world_lag(th);
	wait_end(th, &h, VP_WAIT_BARRIER, VP_CALL_BARRIER_WAIT, 0, 0, me.woken_by);
}

void sim_once_run(struct sim_thread *th, struct sim_once *o, void (*init)(struct sim_thread *th))
{
	struct sim_waiter me = { .th = th };
	struct hook r, h;

	if (o->state == 2)
		return;
	release_begin(th, &r, &o->object);
	r.release->stamp = 0;
	wait_begin(th, &h, &o->object, VP_WAIT_ONCE, call_names[VP_CALL_ONCE]);
	arrive(&h);
	world_lag(th);
	if (o->state != 1) {
		wait_cancel(th, &h);
		if (o->state == 2)
			return;
		o->state = 1;
		init(th);
		sim_release_stamp(r.release);
		world_lag(th);
		o->state = 2;
		while (wake_first(&o->object, r.release))
			;
		world_lag(th);
		if (r.had_waiters || o->object.arrivals - r.before > 1)
			release_end(th, &r, VP_WAIT_ONCE, VP_FLAG_ALL);
		return;
	}
	line_up(&o->object, &me);
	world_park(th, SIM_NEVER);
	world_lag(th);
	wait_end(th, &h, VP_WAIT_ONCE, VP_CALL_ONCE, 0, 0, me.woken_by);
}

bool sim_futex_wait(struct sim_thread *th, struct sim_futex *f, uint64_t until)
{
	struct sim_waiter me = { .th = th };
	struct hook h;
	bool woken;

	wait_begin(th, &h, &f->object, VP_WAIT_FUTEX, call_names[VP_CALL_FUTEX]);
	me.wait = h.wait;
	arrive(&h);
	line_up(&f->object, &me);
	woken = world_park(th, until);
	leave_line(&f->object, &me);
	world_lag(th);
	wait_end(th, &h, VP_WAIT_FUTEX, VP_CALL_FUTEX, woken ? 0 : VP_FLAG_TIMEOUT, 0, woken ? me.woken_by : NULL);
	return woken;
}

void sim_futex_wake(struct sim_thread *th, struct sim_futex *f, unsigned n)
{
	struct hook h;
	unsigned woken = 0;

	release_begin(th, &h, &f->object);
	sim_release_stamp(h.release);
	for (struct sim_waiter *first; woken < n && (first = wake_first(&f->object, h.release)); woken++)
		first->th->waits[first->wait - 1].is_unmapped = true;
	world_lag(th);
	h.seq = woken;
	if (woken)
		release_end(th, &h, VP_WAIT_FUTEX, 0);
}

struct sim_thread *sim_thread_create(struct sim_thread *th, void (*program)(struct sim_thread *), void *arg)
{
	struct world *w = th->world;
	struct sim_thread *child = world_thread(w, th->process, program, arg);

	if (!child)
		return NULL;
	child->start_token = w->next_token++;
	records_two(th, w->now, VP_W(VP_KIND_CREATE, 0), child->start_token, 0);
	return child;
}

void sim_thread_exit(struct sim_thread *th)
{
	struct world *w = th->world;

	th->exit = sim_release_new(th);
	world_work(th, 1);
	sim_release_stamp(th->exit);
	th->exit->is_recorded = records_wake(th, VP_WAIT_JOIN, VP_FLAG_ALL, 0, th->handle, 0, 0, w->now);
	world_lag(th);
	records_one(th, w->now, VP_W(VP_KIND_EXIT, 0));
	world_lag(th);
	th->is_over = true;
	if (th->joiner)
		world_wake(th->joiner);
}

void sim_thread_join(struct sim_thread *th, struct sim_thread *child)
{
	struct world *w = th->world;
	uint64_t t0 = w->now;
	uint32_t wait = world_wait_begin(th, VP_WAIT_JOIN, child, call_names[VP_CALL_JOIN]);
	bool is_recorded = false;

	world_lag(th);
	if (!child->is_over) {
		child->joiner = th;
		world_park(th, SIM_NEVER);
	}
	if (w->now - t0 >= SIM_WAIT_TICKS)
		is_recorded = records_wait(th, &(struct sim_wait_record){ .kind = VP_WAIT_JOIN,
									  .call = VP_CALL_JOIN,
									  .ticket = 1,
									  .object = child->handle,
									  .t0 = t0 });
	world_wait_end(th, wait, child->exit, is_recorded);
}

void sim_block(struct sim_thread *th, uint8_t kind, uint8_t call, uint64_t ticks)
{
	struct world *w = th->world;
	uint64_t t0 = w->now;
	uint32_t wait = world_wait_begin(th, kind, NULL, call_names[call]);
	bool is_recorded = false;

	for (uint64_t until = t0 + ticks; w->now < until;) {
		uint64_t part = 1 + world_below(w, until - w->now);

		if (kind != VP_WAIT_SLEEP && world_chance(w, 40))
			world_work(th, part);
		else
			world_park(th, w->now + (world_chance(w, 40) ? part : until - w->now));
	}
	if (w->now - t0 >= SIM_WAIT_TICKS)
		is_recorded = records_wait(
			th, &(struct sim_wait_record){ .kind = kind, .call = call, .object = 7, .t0 = t0 });
	world_wait_end(th, wait, NULL, is_recorded);
}
