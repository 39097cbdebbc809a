/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A process that wants the same processor now and then. */
#define _GNU_SOURCE
#include "request.h"

#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#define MAX_RUNS 100000 /* of a second or two, in each of which a few thousand interrupts end one */

static pid_t rival;
static struct plant_log *ran; /* shared with it */

static void pin(void)
{
	cpu_set_t allowed, one;
	int cpu = CPU_SETSIZE - 1;

	if (sched_getaffinity(0, sizeof allowed, &allowed))
		return;
	while (cpu > 0 && !CPU_ISSET(cpu, &allowed))
		cpu--;
	CPU_ZERO(&one);
	CPU_SET(cpu, &one);
	if (sched_setaffinity(0, sizeof one, &one))
		perror("sched_setaffinity");
}

static void add_run(uint64_t from, uint64_t to)
{
	if (ran->n < MAX_RUNS)
		ran->stretches[ran->n++] = (struct plant_stretch){ from, from, to, to, 0 };
}

/* Busy for `ns`; the log has each part of it in which nothing came between two readings of the clock. */
static void run_for(uint32_t ns)
{
	uint64_t now = PLANT_NOW(), until = now + (uint64_t)((double)ns * plant_ticks_per_ns), from = now, last;

	do {
		last = now;
		now = PLANT_NOW();
		if (now - last > plant_away_ticks) {
			add_run(from, last);
			from = now;
		}
	} while (now < until);
	add_run(from, now);
}

static void compete(uint64_t seed)
{
	if (setpriority(PRIO_PROCESS, 0, -20)) /* as the server: best effort */
		perror("setpriority");
	for (;;) {
		plant_sleep_us(plant_uniform(&seed, 500, 6000));
		run_for(plant_uniform(&seed, 500000, 5000000));
	}
}

const struct plant_log *rival_start(uint64_t seed)
{
	pin();
	ran = plant_share(sizeof *ran);
	ran->stretches = plant_share(MAX_RUNS * sizeof *ran->stretches);
	rival = fork();
	if (rival < 0) {
		perror("fork");
		exit(1);
	}
	if (!rival) {
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		compete(seed);
	}
	return ran;
}

void rival_stop(void)
{
	kill(rival, SIGKILL);
	waitpid(rival, NULL, 0);
}
