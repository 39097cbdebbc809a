/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "tests/simulate/schedule/coroutine.h"

#include <string.h>

#if defined(__SANITIZE_THREAD__)
#define WITH_FIBERS 1
#elif defined(__has_feature)
#if __has_feature(thread_sanitizer)
#define WITH_FIBERS 1
#endif
#endif

#ifdef WITH_FIBERS
#include <sanitizer/tsan_interface.h>
#endif

void coroutine_main(struct coroutine *c)
{
	memset(c, 0, sizeof *c);
#ifdef WITH_FIBERS
	c->fiber = __tsan_get_current_fiber();
#endif
}

void coroutine_init(struct coroutine *c, void *stack, size_t n_stack, void (*entry)(void))
{
	memset(c, 0, sizeof *c);
	getcontext(&c->context);
	c->stack = stack;
	c->n_stack = n_stack;
	c->context.uc_stack.ss_sp = stack;
	c->context.uc_stack.ss_size = n_stack;
	makecontext(&c->context, entry, 0);
#ifdef WITH_FIBERS
	c->fiber = __tsan_create_fiber(0);
#endif
}

void coroutine_release(struct coroutine *c)
{
#ifdef WITH_FIBERS
	if (c->stack)
		__tsan_destroy_fiber(c->fiber);
#else
	(void)c;
#endif
}

void coroutine_switch(struct coroutine *from, struct coroutine *to)
{
#ifdef WITH_FIBERS
	__tsan_switch_to_fiber(to->fiber, 0);
#endif
	swapcontext(&from->context, &to->context);
}
