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

static pid_t rival;

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

static void compete(uint64_t seed)
{
	struct plant_time spent = { 0, 0 };

	if (setpriority(PRIO_PROCESS, 0, -20)) /* as the server: best effort */
		spent.low = 0;
	for (;;) {
		plant_sleep_us(plant_uniform(&seed, 500, 6000));
		PLANT_SPIN(plant_uniform(&seed, 500000, 5000000), spent);
	}
}

void rival_start(uint64_t seed)
{
	pin();
	rival = fork();
	if (rival < 0) {
		perror("fork");
		exit(1);
	}
	if (!rival) {
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		compete(seed);
	}
}

void rival_stop(void)
{
	kill(rival, SIGKILL);
	waitpid(rival, NULL, 0);
}
