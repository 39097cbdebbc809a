/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "tests/simulate/schedule/programs.h"

#include "tests/simulate/schedule/hot.h"
#include "tests/simulate/schedule/process.h"

#define N_LOCKS 8
#define N_QUEUES 5
#define N_FUTEXES 2
#define N_ONCES 12
#define DEPTH_MAX 5
#define STAGES_MAX 4

const char *const sim_site_names[SIM_SITES] = { "fdatasync", "nanosleep", "pthread_mutex_lock", "sem_wait" };

enum action {
	COMPUTE,
	CALL,
	LOCK,
	BLOCK,
	BARRIER,
	ONCE,
	FUTEX_WAIT,
	FUTEX_WAKE,
	COND_WAIT,
	COND_SIGNAL,
	SPAWN,
	NEST,
	FAN_OUT,
	PAUSE,
	ASK,
	N_ACTIONS
};

struct stage {
	struct sim_queue queue;
	bool is_used;
};

struct sim_scene {
	unsigned weights[N_ACTIONS], sum;
	struct sim_lock locks[N_LOCKS];
	struct sim_futex futexes[N_FUTEXES];
	struct sim_once onces[N_ONCES];
	struct sim_barrier barrier;
	struct sim_cond cond;
	struct sim_lock cond_mutex;
	struct sim_queue queues[N_QUEUES]; /* consumers of queue k put into later ones only */
	int has_consumer[N_QUEUES];
	struct sim_queue request, reply; /* channels to and from a thread that serves one request at a time */
	bool is_asked, has_server;
	unsigned max_work;
};

static void body(struct sim_thread *th);
static void do_hot(struct sim_thread *th, int hot);

static void call_begin(struct sim_thread *th, uint32_t code)
{
	struct sim_frame *f;

	hot_enter(th, code);
	f = &th->frames[th->n_frames - 1];
	if (code == VP_CODE_FUNCTION + 1 && !f->is_unseen && !f->is_skipped) /* a root frame */
		f->is_recorded = records_one(th, th->world->now, VP_W(VP_KIND_ENTER, code));
	th->is_broken |= th->n_lost != 0;
}

static void call_end(struct sim_thread *th)
{
	hot_leave(th);
}

static void compute(struct sim_thread *th)
{
	world_work(th, 1 + world_below(th->world, th->world->scene->max_work));
}

static void do_call(struct sim_thread *th)
{
	call_begin(th, VP_CODE_FUNCTION + 1 + (uint32_t)world_below(th->world, SIM_FUNCTIONS));
	body(th);
	call_end(th);
}

static void do_lock(struct sim_thread *th)
{
	struct world *w = th->world;
	struct sim_scene *sc = w->scene;
	unsigned top = th->lock_top;
	struct sim_lock *l;
	bool reads, at_site, has;
	uint64_t until = SIM_NEVER;

	if (top >= N_LOCKS)
		return;
	l = &sc->locks[top + world_below(w, N_LOCKS - top)];
	if (!l->object.is_shared && l->object.address[0] >> 16 != th->process + 1)
		return; /* of another process */
	reads = l->kind == SIM_RWLOCK && world_chance(w, 60);
	if (l->kind == SIM_MUTEX && world_chance(w, 20))
		until = w->now + 1 + world_below(w, 2 * sc->max_work);
	at_site = (l->kind == SIM_MUTEX || l->kind == SIM_SEMAPHORE) && world_chance(w, 30);
	if (at_site)
		call_begin(th, VP_CODE_SITE + (l->kind == SIM_MUTEX ? 3 : 4));
	has = sim_lock_take(th, l, reads, until);
	if (at_site)
		call_end(th);
	if (!has)
		return;
	th->lock_top = l->order;
	body(th);
	th->lock_top = top;
	sim_lock_release(th, l, reads);
}

static void do_block(struct sim_thread *th)
{
	struct world *w = th->world;
	bool is_disk = world_chance(w, 50), at_site = world_chance(w, 50);

	if (at_site)
		call_begin(th, VP_CODE_SITE + (is_disk ? 1 : 2));
	sim_block(th, is_disk ? VP_WAIT_DISK : VP_WAIT_SLEEP, is_disk ? VP_CALL_FDATASYNC : VP_CALL_NANOSLEEP,
		  1 + world_below(w, 2 * w->scene->max_work));
	if (at_site)
		call_end(th);
}

static void do_meet(struct sim_thread *th, enum action what)
{
	struct world *w = th->world;
	struct sim_scene *sc = w->scene;
	uint64_t until = w->now + 1 + world_below(w, 4 * sc->max_work);
	bool woken, all = world_chance(w, 30);

	switch (what) {
	case BARRIER:
		if (!th->lock_top && w->now < w->stop_at)
			sim_barrier_wait(th, &sc->barrier);
		break;
	case ONCE:
		if (!th->lock_top && th->process == 1) {
			th->lock_top = N_LOCKS;
			sim_once_run(th, &sc->onces[world_below(w, N_ONCES)], body);
			th->lock_top = 0;
		}
		break;
	case FUTEX_WAIT:
		sim_futex_wait(th, &sc->futexes[world_below(w, N_FUTEXES)], until);
		break;
	case FUTEX_WAKE:
		sim_futex_wake(th, &sc->futexes[world_below(w, N_FUTEXES)], 1 + (unsigned)world_below(w, 3));
		break;
	case COND_WAIT:
		if (th->lock_top)
			break;
		sim_lock_take(th, &sc->cond_mutex, false, SIM_NEVER);
		th->lock_top = N_LOCKS;
		sim_cond_wait(th, &sc->cond, &sc->cond_mutex, until, &woken);
		body(th);
		th->lock_top = 0;
		sim_lock_release(th, &sc->cond_mutex, false);
		break;
	default:
		sim_cond_signal(th, &sc->cond, all);
		break;
	}
}

static void child(struct sim_thread *th)
{
	compute(th);
	body(th);
	compute(th);
	sim_thread_exit(th);
}

static void do_spawn(struct sim_thread *th)
{
	struct sim_thread *made;

	if (th->lock_top || th->world->n_threads + 4 > SIM_THREADS)
		return;
	made = sim_thread_create(th, child, NULL);
	if (!made)
		return;
	body(th);
	sim_thread_join(th, made);
}

/* An interval within another: afterwards the thread works for the outer one again. */
static void do_nest(struct sim_thread *th)
{
	struct sim_instance *outer = interval_of(th), *inner;

	if (th->world->now >= th->world->stop_at)
		return;
	if (outer)
		outer->n_active++;
	inner = interval_begin(th, world_chance(th->world, 50) ? "request" : "compaction");
	if (world_chance(th->world, 10)) {
		body(th);
		inner = interval_restart(th, inner);
	}
	body(th);
	interval_end(th, inner, NULL);
	inner->n_active--;
	if (!outer)
		return;
	if (world_chance(th->world, 80))
		interval_resume(th, outer, NULL);
	outer->n_active--;
}

/* Event loops leave a request and come back to it. */
static void do_pause(struct sim_thread *th)
{
	struct sim_instance *i = interval_of(th);

	if (!i)
		return;
	i->n_active++;
	interval_suspend(th);
	if (world_chance(th->world, 70))
		body(th);
	interval_resume(th, i, NULL);
	i->n_active--;
}

/* Gives part of the interval's work to other threads; nobody waits for them. */
static void do_fan_out(struct sim_thread *th)
{
	struct sim_scene *sc = th->world->scene;
	struct sim_instance *i = interval_of(th);
	unsigned k = 1 + (unsigned)world_below(th->world, N_QUEUES - 1);

	if (i && !th->lock_top && sc->has_consumer[k])
		sim_queue_put(th, &sc->queues[k], i, NULL);
}

static void server(struct sim_thread *th)
{
	struct sim_scene *sc = th->world->scene;

	for (;;) {
		sim_queue_take(th, &sc->request, true);
		body(th);
		sim_queue_put(th, &sc->reply, NULL, NULL);
	}
}

/* Asks, and waits for the answer. */
static void do_ask(struct sim_thread *th)
{
	struct sim_scene *sc = th->world->scene;

	if (!sc->has_server || sc->is_asked || th->lock_top)
		return;
	sc->is_asked = true;
	sim_queue_put(th, &sc->request, NULL, NULL);
	sim_queue_take(th, &sc->reply, true);
	sc->is_asked = false;
}

static void act(struct sim_thread *th)
{
	struct world *w = th->world;
	struct sim_scene *sc = w->scene;
	unsigned r = (unsigned)world_below(w, sc->sum), what = 0;

	while (r >= sc->weights[what])
		r -= sc->weights[what++];
	switch ((enum action)what) {
	case COMPUTE:
		compute(th);
		break;
	case CALL:
		do_call(th);
		break;
	case LOCK:
		do_lock(th);
		break;
	case BLOCK:
		do_block(th);
		break;
	case SPAWN:
		do_spawn(th);
		break;
	case NEST:
		do_nest(th);
		break;
	case FAN_OUT:
		do_fan_out(th);
		break;
	case PAUSE:
		do_pause(th);
		break;
	case ASK:
		do_ask(th);
		break;
	default:
		do_meet(th, (enum action)what);
		break;
	}
}

struct errand {
	struct sim_process *process;
	struct sim_instance *instance; /* to work for, or NULL */
};

static void executed(struct sim_thread *th)
{
	struct errand *e = th->arg;

	call_begin(th, VP_CODE_FUNCTION + 1);
	body(th);
	call_end(th);
	process_exit(th, e->process);
}

static void forked(struct sim_thread *th)
{
	struct world *w = th->world;
	struct errand *e = th->arg;

	process_begin(th);
	compute(th);
	if (e->instance) {
		interval_resume(th, e->instance, NULL);
		body(th);
		if (interval_of(th) == e->instance)
			interval_suspend(th);
		e->instance->n_active--;
	} else {
		body(th);
	}
	if (world_chance_apart(w, 40) && process_exec(th, executed, e))
		return;
	if (world_chance_apart(w, 50))
		process_return(th);
	process_exit(th, e->process);
}

static void do_fork(struct sim_thread *th)
{
	struct world *w = th->world;
	struct errand *e = world_alloc(w, sizeof *e);
	struct sim_thread *child;

	if (th->lock_top || th->skipped)
		return;
	e->instance = w->shares_ids || world_chance_apart(w, 50) ? NULL : interval_of(th);
	e->process = process_fork(th, forked, e, &child);
	if (!e->process)
		return;
	if (e->instance)
		e->instance->n_active++;
	if (world_chance_apart(w, 50))
		body(th);
	if (world_chance_apart(w, 80))
		process_wait(th, e->process);
}

/* What a short call may do besides: call others, wait. */
static void work_hot(struct sim_thread *th, int hot)
{
	struct world *w = th->world;
	struct sim_lock *l = &w->scene->locks[th->lock_top + world_below_apart(w, N_LOCKS - th->lock_top)];

	if (world_chance_apart(w, 6)) {
		call_begin(th, VP_CODE_FUNCTION + 2 + (uint32_t)world_below_apart(w, SIM_FUNCTIONS - 1));
		world_work(th, 1 + world_below_apart(w, 20));
		call_end(th);
	}
	if (world_chance_apart(w, 1))
		sim_block(th, VP_WAIT_DISK, VP_CALL_FDATASYNC, 1 + world_below_apart(w, 30));
	if (world_chance_apart(w, 1) && th->lock_top < N_LOCKS &&
	    (l->object.is_shared || l->object.address[0] >> 16 == th->process + 1)) {
		sim_lock_take(th, l, false, SIM_NEVER);
		world_work(th, 1 + world_below_apart(w, 20));
		sim_lock_release(th, l, false);
	}
	if (!hot && world_chance_apart(w, 3))
		do_hot(th, 1);
}

/* Many short calls, some of them longer. */
static void do_hot(struct sim_thread *th, int hot)
{
	struct world *w = th->world;

	for (uint64_t n = 1 + world_below_apart(w, hot ? 60 : 250); n > 0; n--) {
		call_begin(th, SIM_HOT_CODE(hot));
		world_work(th, 1 + world_below_apart(w, world_chance_apart(w, 3) ? 60 : 4));
		work_hot(th, hot);
		call_end(th);
		if (world_chance_apart(w, 10))
			world_work(th, 1 + world_below_apart(w, 4));
	}
}

static void body(struct sim_thread *th)
{
	struct world *w = th->world;

	if (th->depth >= DEPTH_MAX) {
		compute(th);
		return;
	}
	th->depth++;
	if (w->with_forks && world_chance_apart(w, 4))
		do_fork(th);
	if (w->with_hot && world_chance_apart(w, w->has_many_hot ? 50 : 10))
		do_hot(th, 0);
	for (uint64_t n = 1 + world_below(w, 3); n > 0; n--)
		act(th);
	th->depth--;
}

/* A later queue that somebody reads, or NULL. */
static struct sim_queue *later_queue(struct sim_scene *sc, struct world *w, unsigned after)
{
	unsigned k = after + (unsigned)world_below(w, N_QUEUES);

	return k < N_QUEUES && sc->has_consumer[k] ? &sc->queues[k] : NULL;
}

/* The thread has finished its part of the interval: hands it over, or ends it. */
static void hand_on(struct sim_thread *th, struct sim_instance *i, unsigned after)
{
	struct world *w = th->world;
	struct sim_queue *q = later_queue(w->scene, w, after);

	if (q) {
		sim_queue_put(th, q, i, NULL);
		if (world_chance(w, 20))
			body(th);
		if (world_chance(w, 80))
			interval_suspend(th);
	} else {
		interval_end(th, i, NULL);
	}
}

static void client(struct sim_thread *th)
{
	struct world *w = th->world;

	call_begin(th, VP_CODE_FUNCTION + 1);
	while (w->now < w->stop_at) {
		struct sim_instance *i = interval_begin(th, world_chance(w, 90) ? "request" : "compaction");

		if (world_chance(w, 2))
			i = interval_restart(th, i);
		body(th);
		hand_on(th, i, 0);
		if (world_chance(w, 50))
			compute(th);
		if (world_chance(w, 20))
			body(th); /* for nobody, or still for the interval that it forgot to leave */
		i->n_active--;
	}
	call_end(th);
}

static void background(struct sim_thread *th)
{
	struct world *w = th->world;

	while (w->now < w->stop_at) {
		body(th);
		compute(th);
	}
}

/* A dispatcher hands over what it has received, without working for it; through a queue, so that it is recorded. */
static bool dispatch(struct sim_thread *th, unsigned k, struct sim_work *work)
{
	struct world *w = th->world;
	struct sim_queue *next = later_queue(w->scene, w, k + 1);

	if (!next || w->scene->queues[k].kind == SIM_QUEUE_SILENT || next->kind != SIM_QUEUE_ANNOTATED)
		return false;
	if (interval_of(th))
		interval_suspend(th);
	sim_queue_put(th, next, work->instance, work);
	return true;
}

static void serve(struct sim_thread *th, unsigned k, struct sim_work *work, bool is_told)
{
	struct world *w = th->world;
	struct sim_queue *q = &w->scene->queues[k];
	struct sim_instance *i = work->instance;
	struct sim_work *cause = q->kind == SIM_QUEUE_SILENT ? NULL : work;

	if (is_told && world_chance(w, 15) && dispatch(th, k, work)) {
		i->n_active--;
		return;
	}
	if (is_told && world_chance(w, 10) && !i->is_complete && interval_of(th) != i) { /* without RESUME */
		interval_end(th, i, cause);
	} else {
		interval_resume(th, i, is_told ? cause : NULL);
		if (!is_told) {
			if (world_chance(w, 50))
				compute(th);
			sim_queue_tell(th, q, work);
			if (cause)
				interval_inside(th, work);
		}
		body(th);
		if (interval_of(th) == i)
			hand_on(th, i, k + 1);
	}
	if (!q->freed_item)
		q->freed_item = work->item;
	i->n_active--;
}

/* Several items are taken before the first is served; of two for one interval one counts, the later if it can. One from
 * a thread that worked for no interval is served at once: no record would tell any more for what it was taken. */
static void serve_batch(struct sim_thread *th, unsigned k)
{
	struct sim_queue *q = &th->world->scene->queues[k];
	struct sim_work *works[3] = { NULL };
	unsigned n = 0;

	do {
		works[n++] = sim_queue_take(th, q, true);
		for (unsigned i = 0; i + 1 < n; i++)
			if (works[i] && works[i]->instance == works[n - 1]->instance) {
				works[i]->instance->n_active--;
				if (!works[n - 1]->segment)
					works[n - 1] = works[i];
				works[i] = NULL;
			}
	} while (n < 3 && works[n - 1]->segment && !sim_queue_is_empty(q));
	if (!works[n - 1]->segment)
		serve(th, k, works[--n], true);
	for (unsigned i = 0; i < n; i++)
		if (works[i])
			serve(th, k, works[i], true);
}

/* The thread works for the interval before it records that it took the item. */
static void serve_then_tell(struct sim_thread *th, unsigned k)
{
	struct sim_queue *q = &th->world->scene->queues[k];
	struct sim_work *work = sim_queue_take(th, q, false);

	if (!work->segment) /* what nobody was at work for could be anybody's */
		sim_queue_tell(th, q, work);
	serve(th, k, work, !work->segment);
}

static void consumer(struct sim_thread *th)
{
	struct world *w = th->world;
	unsigned k = (unsigned)(uintptr_t)th->arg;
	struct sim_queue *q = &w->scene->queues[k];

	call_begin(th, VP_CODE_FUNCTION + 1);
	for (;;) {
		if (q->kind == SIM_QUEUE_ANNOTATED && world_chance(w, 30))
			serve_batch(th, k);
		else if (q->kind == SIM_QUEUE_ANNOTATED && world_chance(w, 20))
			serve_then_tell(th, k);
		else
			serve(th, k, sim_queue_take(th, q, true), true);
		if (world_chance(w, 10))
			compute(th);
	}
}

static void make_scene(struct world *w)
{
	static const unsigned usual[N_ACTIONS] = {
		[COMPUTE] = 20, [CALL] = 20,	  [LOCK] = 20,	    [BLOCK] = 6,     [BARRIER] = 1,
		[ONCE] = 2,	[FUTEX_WAIT] = 2, [FUTEX_WAKE] = 3, [COND_WAIT] = 2, [COND_SIGNAL] = 3,
		[SPAWN] = 1,	[NEST] = 2,	  [FAN_OUT] = 2,    [PAUSE] = 3,     [ASK] = 2
	};
	struct sim_scene *sc = world_alloc(w, sizeof *sc);

	w->scene = sc;
	for (int i = 0; i < N_ACTIONS; i++) {
		sc->weights[i] = world_chance(w, 30) && i > LOCK ? 0 : usual[i] * (1 + (unsigned)world_below(w, 3));
		sc->sum += sc->weights[i];
	}
	sc->max_work = 10u << world_below(w, 5);
	for (unsigned i = 0; i < N_LOCKS; i++) {
		sc->locks[i].kind = (enum sim_lock_kind)world_below(w, SIM_LOCK_KINDS);
		sc->locks[i].order = i + 1;
		bool is_shared = world_chance(w, 50);
		uint32_t process = 1 + (uint32_t)world_below(w, w->n_processes);

		sim_object_init(&sc->locks[i].object, w, is_shared, process);
		sim_object_init(&sc->locks[i].hook, w, is_shared, process);
	}
	for (int i = 0; i < N_FUTEXES; i++)
		sim_object_init(&sc->futexes[i].object, w, true, 0);
	for (int i = 0; i < N_ONCES; i++)
		sim_object_init(&sc->onces[i].object, w, false, 1);
	sim_object_init(&sc->barrier.object, w, true, 0);
	sc->barrier.n = 2 + (unsigned)world_below(w, 2);
	sim_object_init(&sc->cond.object, w, true, 0);
	sim_object_init(&sc->cond_mutex.object, w, true, 0);
	sim_queue_init(&sc->request, w, SIM_QUEUE_CHANNEL, true, 0);
	sim_queue_init(&sc->reply, w, SIM_QUEUE_CHANNEL, true, 0);
	sc->has_server = !w->record_from && world_chance(w, 40);
	for (unsigned k = 0; k < N_QUEUES; k++)
		sim_queue_init(&sc->queues[k], w,
			       (enum sim_queue_kind)world_below(w, SIM_QUEUE_KINDS - (w->record_from > 0)), true,
			       0); /* no channel when what went into it before the trace is not known */
}

void programs_make(struct world *w, unsigned size)
{
	unsigned n_queues = (unsigned)world_below(w, N_QUEUES + 1);
	unsigned n_clients = 1 + (unsigned)world_below(w, 4), n_background = (unsigned)world_below(w, 4);

	w->shares_ids = !n_queues && !w->record_from && world_chance(w, 50);
	make_scene(w);
	w->stop_at = w->now + size * w->scene->max_work;
	for (unsigned i = 0; i < n_clients; i++)
		world_thread(w, 1 + (uint32_t)world_below(w, w->n_processes), client, NULL);
	for (unsigned k = 0; k < n_queues; k++) {
		struct sim_queue *q = &w->scene->queues[k];
		uint64_t n = q->kind == SIM_QUEUE_CHANNEL ? 1 : 1 + world_below(w, 3);

		w->scene->has_consumer[k] = 1;
		for (uint64_t i = 0; i < n; i++)
			world_thread(w, 1 + (uint32_t)world_below(w, w->n_processes), consumer, (void *)(uintptr_t)k);
	}
	if (w->scene->has_server)
		world_thread(w, 1 + (uint32_t)world_below(w, w->n_processes), server, NULL);
	for (unsigned i = 0; i < n_background; i++)
		world_thread(w, 1 + (uint32_t)world_below(w, w->n_processes), background, NULL);
}
