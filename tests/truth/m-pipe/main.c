/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "spool.h"

#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

static const char *const names[N_FACTORS] = { "queued", "print_page", "keep_books" };

int main(int argc, char **argv)
{
	struct plant_options o = plant_start(argc, argv, 1500);
	/* Beneath the queue stands what the printer did for others meanwhile. */
	struct truth_answer answer = { .a = "queued", .accept = { "print_page", "print_job" } };
	struct job *jobs = mmap(NULL, o.n * sizeof *jobs, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	struct truth truth;
	int ends[2], status;
	pid_t printer;

	if (jobs == MAP_FAILED || pipe(ends)) {
		perror("printers");
		return 1;
	}
	for (size_t i = 0; i < o.n; i++) {
		jobs[i].id = i + 1;
		jobs[i].ns[PRINT_PAGE] = plant_uniform(&o.random, 100000, 700000);
		jobs[i].ns[KEEP_BOOKS] = plant_uniform(&o.random, 20000, 120000);
	}
	printer = fork();
	if (printer == 0) {
		close(ends[1]);
		exit(print_all(ends[0], jobs, o.n));
	}
	close(ends[0]);
	spool_all(ends[1], jobs, o.n, o.random);
	close(ends[1]);
	if (waitpid(printer, &status, 0) != printer || status)
		return 1;
	truth_open(&truth, N_FACTORS, names, o.n);
	for (size_t i = 0; i < o.n; i++) {
		jobs[i].took[KEEP_BOOKS] = 0; /* after the hand-over: on nobody's path */
		truth_add(&truth, jobs[i].end - jobs[i].begin, jobs[i].took);
	}
	answer.share = truth_share(&truth, QUEUED);
	answer.also[0] = (struct truth_factor){ "print_page", truth_share(&truth, PRINT_PAGE), 0 };
	return truth_write(&truth, &answer);
}
