/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "spool.h"

#include <unistd.h>

static NOINLINE void print_page(struct job *j, struct plant_log *pages)
{
	PLANT_STRETCH(pages, j->ns[PRINT_PAGE]);
}

static NOINLINE void print_job(struct job *j, struct plant_log *pages)
{
	j->resumed.low = PLANT_NOW();
	vprof_resume("job", j->id);
	j->resumed.high = PLANT_NOW();
	PLANT_LOG(pages, PLANT_CALL(j->took[PRINT_PAGE], print_page(j, pages)));
	plant_log_last(pages, &j->took[PRINT_PAGE]);
	j->at.to = PLANT_NOW();
	vprof_end("job", j->id);
	j->at.after = PLANT_NOW();
}

int print_all(int pipe_end, struct job *jobs, size_t n, struct plant_log *pages)
{
	uint64_t place;

	while (read(pipe_end, &place, sizeof place) == sizeof place && place < n)
		print_job(&jobs[place], pages);
	return 0;
}
