/* SPDX-License-Identifier: GPL-3.0-or-later */
/* vprof.h alone must compile everywhere, evaluate nothing and leave no unused variable. */
#include "vprof.h"

static int calls;

static int count(void)
{
	return ++calls;
}

int main(void)
{
	int id = 1;
	const char *text = "GET";

	vprof_begin("request", id);
	vprof_type(text);
	vprof_type_number(count());
	vprof_work("rows", count());
	vprof_resume("request", &id);
	vprof_suspend("request", &id);
	vprof_enqueue(&id);
	vprof_dequeue(&id);
	vprof_spin_begin(&id);
	vprof_spin_end(&id);
	vprof_wake(&id);
	vprof_false_wakeup();
	if (id)
		vprof_end("request", id);
	else
		vprof_end("request", 0);
	return calls;
}
