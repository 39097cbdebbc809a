/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Two threads of one name wait for each other in turns, at places that are known: waiting [jit] [TURNS]. With jit the
 * first waits in a system call that lies in code written at run time, in no file. Each turn is taken only once the
 * other thread sleeps, and for each second one the recorder, its parent, has to look at what it has: it reads
 * what is mapped, which it can only while the process is there. check_symbols compiles this and looks for the lines
 * marked below. */
#define _GNU_SOURCE
#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#define TURNS 100
#define THREADS 1000
#define LOOKS 50 /* of the recorder, meanwhile */

static int there[2], back[2];
static volatile int *tids; /* shared with the other process */
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static long (*code)(int fd, char *c);

static void wait_until_asleep(int tid)
{
	char path[64], line[512], *after;
	int fd;
	ssize_t n;

	snprintf(path, sizeof path, "/proc/%d/stat", tid);
	for (;;) {
		fd = open(path, O_RDONLY);
		n = read(fd, line, sizeof line - 1);
		close(fd);
		line[n < 0 ? 0 : n] = 0;
		after = strrchr(line, ')');
		if (after && after[2] == 'S')
			return;
	}
}

/* How often the recorder has slept: before each look at what was recorded. */
static long count_looks(void)
{
	char path[64], line[256];
	long n = 0;
	FILE *f;

	snprintf(path, sizeof path, "/proc/%d/status", (int)getppid());
	f = fopen(path, "r");
	while (f && fgets(line, sizeof line, f))
		if (!strncmp(line, "voluntary_ctxt_switches:", 24))
			n = atol(line + 24);
	if (f)
		fclose(f);
	return n;
}

static void wait_for_looks(int n)
{
	long until = count_looks() + n;

	while (count_looks() < until)
		usleep(1000);
}

static __attribute__((noinline)) void wait_for_ball(void)
{
	char c;

	if (code ? code(there[0], &c) != 1 : read(there[0], &c, 1) != 1) /* LINE: waits */
		abort();
	__asm__ volatile("" ::: "memory");
}

static __attribute__((noinline)) void wait_for_answer(void)
{
	char c;

	if (read(back[0], &c, 1) != 1)
		abort();
	__asm__ volatile("" ::: "memory");
}

static __attribute__((noinline)) void throw_ball(int fd, int other)
{
	wait_until_asleep(other);
	if (write(fd, "x", 1) != 1) /* LINE: wakes */
		abort();
	__asm__ volatile("" ::: "memory");
}

static void *catch_balls(void *unused)
{
	tids[0] = (int)syscall(SYS_gettid);
	for (int i = 0; i < TURNS; i++) {
		wait_for_ball();
		throw_ball(back[1], tids[1]);
	}
	return unused;
}

static void *throw_balls(void *unused)
{
	tids[1] = (int)syscall(SYS_gettid);
	while (!tids[0])
		usleep(1000);
	for (int i = 0; i < TURNS; i++) {
		if (i % (TURNS / LOOKS) == 0)
			wait_for_looks(1);
		throw_ball(there[1], tids[0]);
		wait_for_answer();
	}
	return unused;
}

/* read(fd, c, 1) in a page of its own. */
static void write_code(void)
{
#ifdef __x86_64__
	static const unsigned char machine_code[] = {
		0xba, 1,    0, 0, 0, /* mov $1,%edx */
		0x31, 0xc0,	     /* xor %eax,%eax: read */
		0x0f, 0x05,	     /* syscall */
		0xc3		     /* ret */
	};
	void *page = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	if (page == MAP_FAILED)
		abort();
	memcpy(page, machine_code, sizeof machine_code);
	if (mprotect(page, 4096, PROT_READ | PROT_EXEC))
		abort();
	memcpy(&code, &page, sizeof page);
	printf("%p\n", page);
	fflush(stdout);
#endif
}

static __attribute__((noinline)) void take_lock(void)
{
	pthread_mutex_lock(&lock); /* LINE: locks */
	__asm__ volatile("" ::: "memory");
}

static void *pass_lock(void *tid)
{
	__atomic_store_n((int *)tid, (int)syscall(SYS_gettid), __ATOMIC_RELEASE);
	take_lock();
	pthread_mutex_unlock(&lock);
	return NULL;
}

static int run_pool(void)
{
	static pthread_t threads[THREADS];
	static int numbers[THREADS];

	pthread_mutex_lock(&lock);
	for (int i = 0; i < THREADS; i++)
		if (pthread_create(&threads[i], NULL, pass_lock, &numbers[i]))
			return 1;
	for (int i = 0; i < THREADS; i++) {
		while (!__atomic_load_n(&numbers[i], __ATOMIC_ACQUIRE))
			usleep(1000);
		wait_until_asleep(numbers[i]);
	}
	wait_for_looks(LOOKS);
	pthread_mutex_unlock(&lock);
	for (int i = 0; i < THREADS; i++)
		pthread_join(threads[i], NULL);
	return 0;
}

static int run_processes(void)
{
	pid_t child = fork();
	int status;

	if (!child) {
		catch_balls(NULL);
		_exit(0);
	}
	throw_balls(NULL);
	return child < 0 || waitpid(child, &status, 0) != child || status;
}

static int run_threads(void)
{
	pthread_t threads[2];

	if (pthread_create(&threads[0], NULL, catch_balls, NULL) ||
	    pthread_create(&threads[1], NULL, throw_balls, NULL))
		return 1;
	pthread_join(threads[0], NULL);
	pthread_join(threads[1], NULL);
	return 0;
}

int main(int argc, char **argv)
{
	const char *how = argc > 1 ? argv[1] : "";

	tids = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	if (tids == MAP_FAILED || pipe(there) || pipe(back))
		return 1;
	if (!strcmp(how, "jit"))
		write_code();
	return !strcmp(how, "pool") ? run_pool() : !strcmp(how, "fork") ? run_processes() : run_threads();
}
