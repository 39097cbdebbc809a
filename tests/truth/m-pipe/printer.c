/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "spool.h"

#include <unistd.h>

static NOINLINE void print_page(struct job *j)
{
	PLANT_SPIN(j->ns[PRINT_PAGE], j->took[PRINT_PAGE]);
}

static NOINLINE void print_job(struct job *j)
{
	vprof_resume("job", j->id);
	j->took[QUEUED] = PLANT_NOW() - j->sent;
	print_page(j);
	j->end = PLANT_NOW();
	vprof_end("job", j->id);
}

int print_all(int pipe_end, struct job *jobs, size_t n)
{
	uint64_t place;

	while (read(pipe_end, &place, sizeof place) == sizeof place && place < n)
		print_job(&jobs[place]);
	return 0;
}
