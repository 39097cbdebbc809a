/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Preloaded into vprof: it is killed at its Nth write into another process's memory (DIE_AT=N): before it, behind it,
 * or when half of it is done (DIE_HOW=before, after, half); the process that it keeps beside itself first, if
 * DIE_WITH_KEEPER is set. Without DIE_AT, or when there are not so many writes, how many there were is written to the
 * file DIE_COUNT at the end. What vprof forks is not concerned. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

static pid_t victim;
static long die_at, n_writes;

__attribute__((constructor)) static void begin(void)
{
	const char *at = getenv("DIE_AT");

	victim = getpid();
	die_at = at ? atol(at) : 0;
	unsetenv("LD_PRELOAD");
}

__attribute__((destructor)) static void end(void)
{
	const char *path = getenv("DIE_COUNT");
	FILE *file = path && getpid() == victim ? fopen(path, "we") : NULL;

	if (!file)
		return;
	fprintf(file, "%ld\n", n_writes);
	fclose(file);
}

static int is_memory(int fd)
{
	char path[64], target[64];
	ssize_t n;

	snprintf(path, sizeof path, "/proc/self/fd/%d", fd);
	n = readlink(path, target, sizeof target - 1);
	target[n > 0 ? n : 0] = 0;
	return n > 4 && !strcmp(target + n - 4, "/mem");
}

/* Its only child. It is gone afterwards, and with it what it held: else the next vprof might meet it dying. */
static void kill_keeper(void)
{
	char path[64];
	FILE *file;
	int pid;

	snprintf(path, sizeof path, "/proc/self/task/%d/children", (int)syscall(SYS_gettid));
	file = fopen(path, "re");
	while (file && fscanf(file, "%d", &pid) == 1) {
		kill(pid, SIGKILL);
		waitpid(pid, NULL, 0);
	}
}

static ssize_t put(int fd, const void *from, size_t n, off_t at)
{
	return syscall(SYS_pwrite64, fd, from, n, at);
}

static ssize_t count(int fd, const void *from, size_t n, off_t at)
{
	const char *how = getenv("DIE_HOW");
	int is_half = how && !strcmp(how, "half");

	if (getpid() != victim || !is_memory(fd) || ++n_writes != die_at)
		return put(fd, from, n, at);
	if (getenv("DIE_WITH_KEEPER"))
		kill_keeper();
	if (is_half && n > 1)
		put(fd, from, n / 2, at);
	else if (how && !strcmp(how, "after"))
		put(fd, from, n, at);
	kill(victim, SIGKILL);
	for (;;)
		pause();
}

ssize_t pwrite(int fd, const void *from, size_t n, off_t at)
{
	return count(fd, from, n, at);
}

ssize_t pwrite64(int fd, const void *from, size_t n, off64_t at)
{
	return count(fd, from, n, at);
}
