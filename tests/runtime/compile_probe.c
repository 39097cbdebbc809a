/* SPDX-License-Identifier: GPL-3.0-or-later */
/* clang-format off */
/* Every form of probe.h and vprof.h in one file that must compile, strictly, from C89 to C++20. */
#include "vprof.h"

struct client {
	int id;
	const char *name;
};

static int leaf(int x)
{
	VP_FUNCTION(0x100, 0x2UL, 1)
	return x + 1;
}

static void nothing(void)
{
	VP_FUNCTION(0x101, 0x1UL, 2)
}

static int handle(struct client *c, const char *text, char *line, unsigned long n)
{
	VP_ROOT(0x102, 0xffffffffffffffffUL, 3)
	VP_ACQUIRE(1, c, "handle") VP_RELEASE(2, &c->id) VP_BEGIN(3, "request", c)
		VP_IF(4, c->id > 0, RESUME, "request", c->id) VP_AT_EXIT(5, END, "request", c->id) VP_TYPE(6, text)
			VP_TYPE(7, n) VP_TYPE(8, line) VP_TYPE(9, "GET") VP_TYPE(10, c->id) VP_WORK(11, "rows", n)
				VP_ENQUEUE(12, c) VP_DEQUEUE(13, n) VP_SUSPEND(14, "request", c)
					VP_RESUME(15, "request", c) VP_END(16, "request", c) VP_AT_EXIT(17, DEQUEUE, c)
						VP_IF(18, n, TYPE, text) VP_AT_EXIT(19, WORK, "rows", n) VP_KEEP(20, c)
							VP_IF(21, c, RELEASE, c) VP_AT_EXIT(22, RELEASE, c)
								VP_AT_EXIT(23, ENQUEUE, c) int i;
	int sum = 0;

	for (i = 0; i < 3; i++)
		sum += (__extension__({ VP_SITE(0x800001, 0x8UL, 1) leaf(i); }));
	(__extension__({ VP_SITE(8388610, 0x8UL, 1) nothing(); }));
	if (sum > 100)
		goto out;
	{
		nothing();
	}
	vprof_begin("request", c);
	vprof_resume("request", c->id);
	vprof_resume("request", vprof_traceparent(text));
	vprof_suspend("request", c->id);
	vprof_type(c->name);
	vprof_type_number(n);
	vprof_work("rows", sum);
	vprof_enqueue(c);
	vprof_dequeue(c);
	vprof_spin_begin(&c->id);
	vprof_spin_end(&c->id);
	vprof_wake(&c->id);
	vprof_false_wakeup();
	vprof_end("request", c);
out:
#ifndef __cplusplus
	return (__extension__({
		int vp_return_ = (sum);
		VP_DO_END("request", vp_return_);
		VP_DO_TYPE(text);
		VP_DO_TYPE(vp_return_);
		VP_DO_DEQUEUE(vp_keep_20);
		vp_return_;
	}));
#else
	return sum;
#endif
}

#if defined(__cplusplus) && __cplusplus >= 201103L
static int lambda(int x)
{
	VP_FUNCTION(0x103, 0x1UL, 4)
	VP_AT_EXIT_DO(1, if (x > 1) VP_DO_END("request", x)) auto inner = [&](int y) {
		VP_FUNCTION(0x104, 0x1UL, 4) return x + y;
	};

	return inner(2);
}
#endif

int main(void)
{
	struct client c = { 1, "one" };
	char line[8] = "x";
	int r = handle(&c, "SET", line, 4);

#if defined(__cplusplus) && __cplusplus >= 201103L
	r += lambda(1) - 3;
#endif
	return r == 6 ? 0 : 1;
}
