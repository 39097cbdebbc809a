/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A planted change for bench/compare_pairs: preloaded into a program, it makes each call that writes or sends take
 * longer by VPROF_PLANT_NS of computing. Only in programs whose name is VPROF_PLANT_IN. With VPROF_PLANT_COUNT the
 * number of such calls is added to that file when the program ends. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/uio.h>
#include <time.h>
#include <unistd.h>

static _Atomic long long n_calls;
static long long plant_ns;
static int is_on;

static long long now_ns(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return t.tv_sec * 1000000000LL + t.tv_nsec;
}

static void plant(void)
{
	long long until;

	if (!is_on)
		return;
	atomic_fetch_add(&n_calls, 1);
	until = now_ns() + plant_ns;
	while (plant_ns && now_ns() < until)
		;
}

__attribute__((constructor)) static void begin(void)
{
	const char *in = getenv("VPROF_PLANT_IN"), *ns = getenv("VPROF_PLANT_NS");

	is_on = in && !strcmp(in, program_invocation_short_name);
	plant_ns = ns ? atoll(ns) : 0;
}

__attribute__((destructor)) static void end(void)
{
	const char *path = getenv("VPROF_PLANT_COUNT");
	FILE *f = is_on && path ? fopen(path, "a") : NULL;

	if (!f)
		return;
	fprintf(f, "%lld\n", atomic_load(&n_calls));
	fclose(f);
}

#define PLANT(type, name, parameters, arguments)                                                                       \
	type name parameters                                                                                           \
	{                                                                                                              \
		static type(*next) parameters;                                                                         \
		if (!next)                                                                                             \
			*(void **)&next = dlsym(RTLD_NEXT, #name);                                                     \
		plant();                                                                                               \
		return next arguments;                                                                                 \
	}
PLANT(ssize_t, write, (int fd, const void *p, size_t n), (fd, p, n))
PLANT(ssize_t, writev, (int fd, const struct iovec *v, int n), (fd, v, n))
PLANT(ssize_t, pwrite, (int fd, const void *p, size_t n, off_t at), (fd, p, n, at))
PLANT(ssize_t, pwrite64, (int fd, const void *p, size_t n, off64_t at), (fd, p, n, at))
PLANT(ssize_t, sendmsg, (int fd, const struct msghdr *m, int flags), (fd, m, flags))
