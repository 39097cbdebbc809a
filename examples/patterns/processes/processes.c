/* A parent accepts requests and hands them to forked workers through a pipe. The interval begins in one process and ends in
 * another: its id is a number that means the same in both. One request in sixteen makes a worker load its index anew. */
#include <stdio.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define N_WORKERS 2
#define N_REQUESTS 480

static volatile unsigned sink;
static int work_pipe[2];

static void rest_us(long us)
{
	struct timespec t = { 0, us * 1000 };

	nanosleep(&t, NULL);
}

static void accept_request(int number)
{
	sink += (unsigned)number;
	if (write(work_pipe[1], &number, sizeof number) != sizeof number)
		_exit(1);
}

static void load_index(void)
{
	rest_us(20000); /* the disk */
}

static void answer(int number)
{
	if (number % 16 == 0)
		load_index();
	for (int i = 0; i < 5000; i++)
		sink = sink * 31 + (unsigned)i;
}

static void handle_request(int number)
{
	answer(number);
}

static void work(void)
{
	int number;

	close(work_pipe[1]);
	while (read(work_pipe[0], &number, sizeof number) == sizeof number)
		handle_request(number);
}

int main(void)
{
	if (pipe(work_pipe))
		return 1;
	for (int i = 0; i < N_WORKERS; i++)
		if (fork() == 0) {
			work();
			_exit(0);
		}
	for (int i = 0; i < N_REQUESTS; i++) {
		accept_request(i);
		rest_us(2000);
	}
	close(work_pipe[1]);
	while (wait(NULL) > 0)
		;
	printf("served %d\n", N_REQUESTS);
	return 0;
}
/* SPDX-License-Identifier: GPL-3.0-or-later */
