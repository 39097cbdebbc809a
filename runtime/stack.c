/* SPDX-License-Identifier: Apache-2.0 */
/* Samples of call stacks at the events where work is handed from thread to thread.
 *
 * Each thread's first events of each kind, then few, since a stack costs microseconds. The unwinder is linked
 * in statically and needs no memory of its own.
 */
#define _GNU_SOURCE
#include "runtime/runtime.h"

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
static void unwind(struct walk *w)
{
#ifdef VPROF_STATIC
	uint64_t mask = rt_signals_block();

	rt_unwinding_set(true);
#endif
	_Unwind_Backtrace(frame, w);
#ifdef VPROF_STATIC
	rt_unwinding_set(false);
	rt_signals_restore(mask);
#endif
}

/* The unwinder's first walk fills its tables: done early, not during a measurement. */
static void first_walk(void)
{
	struct walk w = { .n = 0 };

	unwind(&w);
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
	unwind(&w);
	if (w.n) {
		if (w.n % 2 && w.n < VP_STACK_MAX)
			w.pcs[w.n] = 0;
		head = (struct vp_unit){ rt_now(), VP_W(VP_KIND_STACK, w.n | (uint64_t)kind << 8) };
		rt_write_long(th, &head, 1, w.pcs, w.n * sizeof(w.pcs[0]));
	}
	th->in_stack = 0;
}
