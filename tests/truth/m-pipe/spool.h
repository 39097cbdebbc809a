/* SPDX-License-Identifier: GPL-3.0-or-later */
/* (m) A spooler hands jobs to another process through a pipe, nothing annotated but the job itself. What a job waits
 * for in the pipe is the cause; what the spooler still does for a job after it wrote it there is not on its path. */
#ifndef SPOOL_H
#define SPOOL_H

#include "annotate_or_not.h"
#include "plant.h"

enum { REQUEST, QUEUED, PRINT_JOB, PRINT_PAGE, OTHERS_PAGES, N_FACTORS, KEEP_BOOKS = N_FACTORS };

struct job {
	uint64_t id;
	uint32_t ns[N_FACTORS + 1];
	struct plant_time took[N_FACTORS];
	struct plant_stretch at;	 /* before and after vprof_begin, before and after vprof_end */
	struct plant_time sent, resumed; /* when: between these readings */
};

void spool_all(int pipe_end, struct job *jobs, size_t n, uint64_t random);
int print_all(int pipe_end, struct job *jobs, size_t n, struct plant_log *pages);

#endif
