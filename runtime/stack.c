/* SPDX-License-Identifier: Apache-2.0 */
/* Call stacks at the events where work is handed from thread to thread.
 *
 * Samples: each thread's first events of each kind, then few, since a stack costs microseconds. The unwinder is linked
 * in statically and needs no memory of its own.
 *
 * Call paths, at each mark of an interval and of a queue: a stack is walked once and then found again by what lies at
 * the places of its return addresses. A return address says which code runs in the frame around it and so how large
 * that frame is: if the innermost place and all return addresses are as they were, it is the same stack. (Of frames
 * whose size varies, a return address that was left behind at the very place would be taken for it.)
 */
#define _GNU_SOURCE
#include "runtime/runtime.h"

#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>
#include <unwind.h>

/* The range of our own code. */
#ifdef VPROF_STATIC
extern const char __start_vprof_text[] __attribute__((visibility("hidden"))); /* make_static */
extern const char __stop_vprof_text[] __attribute__((visibility("hidden")));
#define OWN_START __start_vprof_text
#define OWN_END __stop_vprof_text
#else
extern const char __ehdr_start[] __attribute__((visibility("hidden")));
extern const char _end[] __attribute__((visibility("hidden")));
#define OWN_START __ehdr_start
#define OWN_END _end
#endif

struct walk {
	uint64_t pcs[VP_STACK_MAX];
	unsigned n;
	uint64_t caller;
};

static _Unwind_Reason_Code frame(struct _Unwind_Context *context, void *arg)
{
	struct walk *w = arg;
	uint64_t pc = (uint64_t)_Unwind_GetIP(context);

	if (!pc)
		return _URC_END_OF_STACK;
	if (pc >= (uint64_t)(uintptr_t)OWN_START && pc < (uint64_t)(uintptr_t)OWN_END)
		return _URC_NO_REASON;
	if (pc == w->caller)
		w->n = 0; /* the frames inside it are ours */
	w->pcs[w->n++] = pc;
	return w->n == VP_STACK_MAX ? _URC_END_OF_STACK : _URC_NO_REASON;
}

#ifdef VPROF_STATIC
__thread bool rt_in_unwinder __attribute__((tls_model("initial-exec")));
#endif

/* In a static program without signals: a handler's own waits are the program's, and an exception in it would need the
 * lock that the interrupted unwinder has taken. */
static void unwind(_Unwind_Trace_Fn each, void *w)
{
#ifdef VPROF_STATIC
	uint64_t mask = rt_signals_block();

	rt_unwinding_set(true);
#endif
	_Unwind_Backtrace(each, w);
#ifdef VPROF_STATIC
	rt_unwinding_set(false);
	rt_signals_restore(mask);
#endif
}

/* The unwinder's first walk fills its tables: done early, not during a measurement. */
static void first_walk(void)
{
	struct walk w = { .n = 0 };

	unwind(frame, &w);
}

#ifdef VPROF_STATIC

/* A static program registers its frames with the unwinder in the first constructor without a priority. Before that the
 * unwinder would abort. */
static bool is_ready;

__attribute__((constructor)) static void stack_start(void)
{
	is_ready = true;
	first_walk();
}

void rt_stack_init(void)
{
}

#else

static const bool is_ready = true;

void rt_stack_init(void)
{
	first_walk();
}

#endif

void rt_stack(struct rt_thread *th, enum vp_stack kind, const void *caller)
{
	uint32_t limit = rt_process.shm->stack_samples;
	uint32_t nth;
	struct vp_unit head;
	struct walk w;

	if (!limit || th->in_stack || !is_ready)
		return;
	nth = th->n_stacks[kind]++;
	if (nth >= limit && nth % RT_STACK_EVERY)
		return;
	th->in_stack = (uintptr_t)__builtin_frame_address(0);
	rt_modules_check(th);
	w.n = 0;
	w.caller = (uint64_t)(uintptr_t)caller;
	unwind(frame, &w);
	if (w.n) {
		if (w.n % 2 && w.n < VP_STACK_MAX)
			w.pcs[w.n] = 0;
		head = (struct vp_unit){ rt_now(), VP_W(VP_KIND_STACK, w.n | (uint64_t)kind << 8) };
		rt_write_long(th, &head, 1, w.pcs, w.n * sizeof(w.pcs[0]));
	}
	th->in_stack = 0;
}

#define CACHED 32u  /* stacks, of a thread */
#define KNOWN 512u  /* paths */
#define WALKS 2048u /* of a thread; beyond, one in WALK_EVERY of the marks whose stack is not cached */
#define WALK_EVERY 16u

struct cached_path {
	uintptr_t frame; /* of the hook */
	uint32_t n, id;
	uint32_t place[VP_STACK_MAX]; /* of each return address, above `frame` */
	uint64_t address[VP_STACK_MAX];
};

/* Filled from the front, so that a thread with a few paths touches two pages. */
struct rt_paths {
	uint32_t thread_seq, n_cached, n_known, n_walks, n_skipped, oldest;
	uintptr_t frame[CACHED];
	struct cached_path cached[CACHED];
	uint64_t hash[KNOWN]; /* of the path with number i + 1 */
};

struct path_walk {
	struct cached_path *path; /* all frames outside our own code */
	unsigned first;		  /* the frame at `caller`: those inside it are the probe's */
	uint64_t caller;
	bool is_cachable;
};

static _Unwind_Reason_Code path_frame(struct _Unwind_Context *context, void *arg)
{
	struct path_walk *w = arg;
	struct cached_path *path = w->path;
	uint64_t pc = (uint64_t)_Unwind_GetIP(context);
	uintptr_t place = (uintptr_t)_Unwind_GetCFA(context) - sizeof(uint64_t);

	if (!pc)
		return _URC_END_OF_STACK;
	if (pc >= (uint64_t)(uintptr_t)OWN_START && pc < (uint64_t)(uintptr_t)OWN_END)
		return _URC_NO_REASON;
	if (pc == w->caller)
		w->first = path->n;
#if defined(__x86_64__)
	if (place < path->frame || place - path->frame > UINT32_MAX || *(const uint64_t *)place != pc)
		w->is_cachable = false;
#else
	w->is_cachable = false; /* a return address may lie anywhere in its frame */
#endif
	path->place[path->n] = (uint32_t)(place - path->frame);
	path->address[path->n++] = pc;
	return path->n == VP_STACK_MAX ? _URC_END_OF_STACK : _URC_NO_REASON;
}

/* As it is now? Each place is in a frame that the addresses before it have shown to be there. */
__attribute__((no_sanitize("address"))) static bool is_same(const struct cached_path *path)
{
	for (uint32_t i = 0; i < path->n; i++)
		if (*(const uint64_t *)(path->frame + path->place[i]) != path->address[i])
			return false;
	return true;
}

static uint64_t path_hash(const uint64_t *addresses, unsigned n)
{
	uint64_t hash = n;

	for (unsigned i = 0; i < n; i++)
		hash = ((hash ^ addresses[i]) * UINT64_C(0x9e3779b97f4a7c15)) ^ hash >> 29;
	return hash;
}

/* The number of a path, which is recorded when it is new; 0: no room. */
static uint32_t path_number(struct rt_thread *th, struct rt_paths *p, const uint64_t *addresses, unsigned n)
{
	uint64_t hash = path_hash(addresses, n);
	struct vp_unit head;

	for (uint32_t i = 0; i < p->n_known; i++)
		if (p->hash[i] == hash)
			return i + 1;
	if (p->n_known == KNOWN)
		return 0;
	head = (struct vp_unit){ rt_now(), VP_W(VP_KIND_STACK, n | (uint64_t)VP_STACK_PATH << 8 |
								       (uint64_t)(p->n_known + 1) << VP_PATH_SHIFT) };
	if (!rt_write_long(th, &head, 1, addresses, n * sizeof(addresses[0])))
		return 0;
	p->hash[p->n_known++] = hash;
	return p->n_known;
}

static void cache(struct rt_paths *p, const struct cached_path *path)
{
	uint32_t i = p->n_cached < CACHED ? p->n_cached : p->oldest++ % CACHED;

	p->cached[i] = *path;
	p->frame[i] = path->frame;
	p->n_cached += p->n_cached < CACHED;
}

static uint32_t path_walk(struct rt_thread *th, struct rt_paths *p, uintptr_t frame, uint64_t caller)
{
	struct cached_path path = { .frame = frame };
	struct path_walk w = { .path = &path, .caller = caller, .is_cachable = true };

	if (p->n_walks >= WALKS && p->n_skipped++ % WALK_EVERY)
		return 0;
	p->n_walks++;
	rt_modules_check(th);
	unwind(path_frame, &w);
	if (path.n == w.first)
		return 0;
	path.id = path_number(th, p, path.address + w.first, path.n - w.first);
	if (path.id && w.is_cachable)
		cache(p, &path);
	return path.id;
}

void rt_paths_forget(struct rt_thread *th)
{
	if (th->paths)
		th->paths->thread_seq = 0;
}

static struct rt_paths *paths_of(struct rt_thread *th)
{
	struct rt_paths *p = th->paths;

	if (!p) {
		p = (void *)syscall(SYS_mmap, NULL, sizeof(*p), PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1,
				    0L);
		if (p == MAP_FAILED)
			return NULL;
		th->paths = p;
	}
	if (p->thread_seq != th->thread_seq) { /* numbers are the thread's own */
		p->n_cached = p->n_known = p->n_walks = p->n_skipped = 0;
		p->thread_seq = th->thread_seq;
	}
	return p;
}

uint32_t rt_path(struct rt_thread *th, uintptr_t frame, const void *caller)
{
	struct rt_paths *p;
	uint32_t id = 0, i = 0;

	if (!rt_process.shm->stack_samples || th->in_stack || !is_ready)
		return 0;
	th->in_stack = (uintptr_t)__builtin_frame_address(0);
	p = paths_of(th);
	if (p) {
		while (i < p->n_cached && (p->frame[i] != frame || !is_same(&p->cached[i])))
			i++;
		id = i < p->n_cached ? p->cached[i].id : path_walk(th, p, frame, (uint64_t)(uintptr_t)caller);
	}
	th->in_stack = 0;
	return id;
}
