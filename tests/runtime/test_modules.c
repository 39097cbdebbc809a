/* SPDX-License-Identifier: GPL-3.0-or-later */
/* C++ and a library loaded with dlopen (modules_target.cpp, module.c): counts. */
#include "tests/runtime/session.h"

int modules_target(void);

int main(int argc, char **argv)
{
	struct session s;

	(void)argv;
	if (argc > 2)
		return modules_target();
	if (session_run(&s, "modules", 16u << 20, 10))
		return 1;
	CHECK(session_count(&s, 0x201) == 2, "roots");
	CHECK(session_count(&s, 0x202) == 3000, "calls that throw: %d", (int)session_count(&s, 0x202));
	CHECK(session_count(&s, 0x203) == 3000, "calls in the library: %d", (int)session_count(&s, 0x203));
	CHECK(session_count(&s, 0x206) == 2, "thread_local destructors: %d", (int)session_count(&s, 0x206));
	CHECK(session_count(&s, VP_KIND_END) == 2 && session_count(&s, VP_KIND_TYPE) == 2, "at exit");
	CHECK(session_count(&s, VP_KIND_CREATE) == 2, "creations");
	session_end(&s);
	printf("%d checks failed\n", n_failed);
	return n_failed != 0;
}
