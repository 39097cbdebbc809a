/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "spool.h"

#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

static const struct truth_column columns[N_FACTORS] = {
	[REQUEST] = { "job", -1, 0 },
	[QUEUED] = { "queued", REQUEST, TRUTH_PLANTED | TRUTH_WAIT },
	[PRINT_JOB] = { "print_job", REQUEST, 0 },
	[PRINT_PAGE] = { "print_page", PRINT_JOB, TRUTH_PLANTED },
	[OTHERS_PAGES] = { "print_page", QUEUED, TRUTH_PLANTED | TRUTH_BLAME },
};

/* The delay is from the write into the pipe to vprof_resume. What the printer did meanwhile is to blame, and of what it
 * did during the write only what came after the byte was in the pipe, which nobody can read; what the spooler does
 * after the write is on nobody's path. */
static void add_job(struct truth *t, struct job *j, const struct plant_log *pages)
{
	struct plant_time least = plant_log_overlap(pages, j->sent.high, j->resumed.low);

	j->took[REQUEST] = (struct plant_time){ j->at.to - j->at.from, j->at.after - j->at.before };
	j->took[QUEUED] = (struct plant_time){ j->resumed.low > j->sent.high ? j->resumed.low - j->sent.high : 0,
					       j->resumed.high - j->sent.low };
	j->took[PRINT_JOB].high = j->at.after - j->resumed.low;
	j->took[OTHERS_PAGES] = plant_log_overlap(pages, j->sent.low, j->resumed.high);
	j->took[OTHERS_PAGES].low = least.low;
	j->took[QUEUED].away = plant_away_waiting(j->took[QUEUED].high, j->took[OTHERS_PAGES]);
	truth_add(t, j->took);
}

int main(int argc, char **argv)
{
	struct plant_options o = plant_start(argc, argv, 700);
	struct truth_answer answer = { .interval = "job" };
	struct plant_log *pages = plant_share(sizeof *pages);
	struct job *jobs = plant_share(o.n * sizeof *jobs);
	struct truth truth;
	int ends[2], status;
	pid_t printer;

	if (pipe(ends)) {
		perror("printers");
		return 1;
	}
	for (size_t i = 0; i < o.n; i++) {
		jobs[i].id = i + 1;
		jobs[i].ns[PRINT_PAGE] = plant_uniform(&o.random, 100000, 700000);
		jobs[i].ns[KEEP_BOOKS] = plant_uniform(&o.random, 20000, 120000);
	}
	pages->stretches = plant_share(o.n * sizeof *pages->stretches);
	printer = fork();
	if (printer == 0) {
		close(ends[1]);
		exit(print_all(ends[0], jobs, o.n, pages));
	}
	close(ends[0]);
	spool_all(ends[1], jobs, o.n, o.random);
	close(ends[1]);
	if (waitpid(printer, &status, 0) != printer || status)
		return 1;
	truth_open(&truth, N_FACTORS, columns, o.n);
	for (size_t i = 0; i < o.n; i++)
		add_job(&truth, &jobs[i], pages);
	return truth_write(&truth, &answer);
}
