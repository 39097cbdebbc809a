/* SPDX-License-Identifier: Apache-2.0 */
/* longjmp skips the probes of the frames that it leaves: their records are written here, and the gate of the frame
 * that it returns to is restored.
 *
 * Only scopes between the current stack pointer and the target's are touched, so a jump to another stack changes
 * nothing. glibc mangles the saved stack pointer; where we do not know how, the jump passes through and the gate
 * is restored when the next outer measured frame is left.
 */
#define _GNU_SOURCE
#include "runtime/runtime.h"

#include <setjmp.h>
#include <ucontext.h>

#define SAME_MAX 64 /* scopes that began in one tick of a coarse clock */

void __longjmp_chk(struct __jmp_buf_tag env[1], int value) __attribute__((noreturn));

#if defined(__aarch64__)
#define SAVED_SP 13 /* JB_SP of glibc */

/* The guard with which glibc mangles the stack pointer, found from a jump buffer whose stack pointer is known. */
static __attribute__((noinline)) uintptr_t pointer_guard(void)
{
	struct __jmp_buf_tag env[1];
	uintptr_t sp;

	__asm__ volatile("mov %0, sp" : "=r"(sp));
	if (_setjmp(env))
		return 0;
	return (uintptr_t)env->__jmpbuf[SAVED_SP] ^ sp;
}
#endif

static uintptr_t saved_stack(const struct __jmp_buf_tag *env)
{
#if defined(__x86_64__)
	uintptr_t sp = (uintptr_t)env->__jmpbuf[6];

	__asm__("ror $17, %0\n\txor %%fs:0x30, %0" : "+r"(sp) : : "cc");
	return sp;
#elif defined(__aarch64__)
	return (uintptr_t)env->__jmpbuf[SAVED_SP] ^ pointer_guard();
#else
	(void)env;
	return 0;
#endif
}

static void scopes_close(const struct __jmp_buf_tag *env)
{
	struct rt_thread *th = rt_self;
	uintptr_t here = (uintptr_t)__builtin_frame_address(0), there;
	uint64_t now, inner_start = UINT64_MAX;
	struct vp_scope *s;
	int n_same = 0;

	if (!th || atomic_load_explicit(&th->state, memory_order_relaxed) != RT_THREAD_LIVE)
		return;
	there = saved_stack(env);
	if (th->in_stack >= here && th->in_stack < there) {
		th->in_stack = 0;
		rt_unwinding_set(false);
	}
	now = rt_now();
	for (s = th->probe.top; (uintptr_t)s >= here && (uintptr_t)s < there && n_same < SAME_MAX; s = th->probe.top) {
		bool skipped = s->code & VP_SKIPPED;
		uint64_t duration = s->start && now > s->start ? now - s->start : 0;
		struct vp_unit unit = { s->start ? s->start : now,
					VP_W(s->code, duration < VP_PAYLOAD_MAX ? duration : VP_PAYLOAD_MAX) };

		/* Outer scopes began earlier (they may lie lower: two of one frame); else it is what pthread_exit left.
		 */
		if (!skipped && s->start > inner_start)
			break;
		n_same = skipped || s->start == inner_start ? n_same + 1 : 0;
		if (!skipped)
			inner_start = s->start;
		if (s->code & ~(uint64_t)(VP_CODE_MASK | VP_SKIPPED)) { /* hot, or skipped in a pause */
			rt_hot_leave(&th->probe, s, now);
			continue;
		}
		th->probe.gate = s->gate;
		th->probe.top = s->outer;
		if (!skipped)
			rt_write(th, &unit, 1);
	}
}

/* A coroutine has its own open frames, which are restored when it is switched to again, perhaps on another thread.
 * Noinline, so that the thread is looked up anew. */
static __attribute__((noinline)) void frames_get(vp_u64 *gate, struct vp_scope **top, uint32_t *session)
{
	struct rt_thread *th = rt_self;

	*gate = th ? th->probe.gate : 0;
	*top = th ? th->probe.top : NULL;
	*session = th ? th->session : RT_RESTING;
}

static __attribute__((noinline)) void frames_put(vp_u64 gate, struct vp_scope *top, uint32_t session)
{
	struct rt_thread *th = rt_self;

	if (!th || atomic_load_explicit(&th->state, memory_order_relaxed) != RT_THREAD_LIVE)
		return;
	if (RT_UNLIKELY(!rt_thread_is_current(th) || th->session != session)) {
		rt_scopes_settle(top); /* of another session */
		th->probe.top = NULL;
		return;
	}
	if (rt_active())
		th->probe.gate = gate;
	th->probe.top = top;
	rt_hot_elsewhere(th);
}

RT_NEXT(swapcontext);
RT_EXPORT int swapcontext(ucontext_t *restrict from, const ucontext_t *restrict to)
{
	struct vp_scope *top;
	uint32_t session;
	vp_u64 gate;
	int result;

	if (!rt_self || !(rt_active() || rt_self->probe.top))
		return REAL(swapcontext)(from, to);
	frames_get(&gate, &top, &session);
	result = REAL(swapcontext)(from, to);
	frames_put(gate, top, session);
	return result;
}

RT_NEXT(longjmp);
RT_NEXT(_longjmp);
RT_NEXT(siglongjmp);
RT_NEXT(__longjmp_chk);

#define JUMP(name)                                                                                                     \
	RT_EXPORT void name(struct __jmp_buf_tag env[1], int value)                                                    \
	{                                                                                                              \
		if (rt_active() || (rt_self && rt_self->probe.top))                                                    \
			scopes_close(env);                                                                             \
		REAL(name)(env, value);                                                                                \
		__builtin_unreachable();                                                                               \
	}
JUMP(longjmp)
JUMP(_longjmp)
JUMP(siglongjmp)
JUMP(__longjmp_chk)
