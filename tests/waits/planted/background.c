/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The paper's figure 1 beside a background knot. A hands each request to B, which works on it and writes it to the
 * disk: B and the disk never work at the same time. Two processes exchange heartbeats meanwhile, by turns: a knot
 * that sleeps most of the time and limits nothing.
 *
 * The knot: B and the disk; the heartbeats are to be set aside. The longest waits are A's for B. Remedy: ahead=1, B
 * hands what it has written to a thread that writes it to the disk. B works twice as long as a flush takes: plan=1 says
 * with which arguments that is so on this disk.
 */
#include <signal.h>
#include <stdio.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "planted.h"

#define DISK_US 2500 /* that a flush takes, unless planned otherwise */
#define BEAT_NS (5 * MS)
#define BEAT_WORK_NS (200 * US)

struct queue { /* of length one */
	pthread_mutex_t mutex;
	pthread_cond_t changed;
	int is_full, is_over;
};

#define QUEUE { PTHREAD_MUTEX_INITIALIZER, PTHREAD_COND_INITIALIZER, 0, 0 }

static struct queue to_b = QUEUE, to_disk = QUEUE;
static long is_ahead;
static uint64_t a_ns, b_ns, disk_ns;

static void put(struct queue *q, int is_over)
{
	pthread_mutex_lock(&q->mutex);
	while (q->is_full)
		pthread_cond_wait(&q->changed, &q->mutex);
	q->is_full = !is_over;
	q->is_over = is_over;
	pthread_cond_signal(&q->changed);
	pthread_mutex_unlock(&q->mutex);
}

/* False when there is no more to come. What was taken is done() later. */
static int take(struct queue *q)
{
	int is;

	pthread_mutex_lock(&q->mutex);
	while (!q->is_full && !q->is_over)
		pthread_cond_wait(&q->changed, &q->mutex);
	is = q->is_full;
	pthread_mutex_unlock(&q->mutex);
	return is;
}

static void done(struct queue *q)
{
	pthread_mutex_lock(&q->mutex);
	q->is_full = 0;
	pthread_cond_signal(&q->changed);
	pthread_mutex_unlock(&q->mutex);
}

static void *run_a(void *arg)
{
	while (planted_goes_on()) {
		planted_work(a_ns);
		put(&to_b, 0);
	}
	put(&to_b, 1);
	return arg;
}

static void *run_b(void *arg)
{
	while (take(&to_b)) {
		done(&to_b);
		planted_work(b_ns);
		if (is_ahead)
			put(&to_disk, 0);
		else
			planted_flush(disk_ns);
		planted_done(1);
	}
	put(&to_disk, 1);
	return arg;
}

static void *write_behind(void *arg)
{
	while (take(&to_disk)) {
		planted_flush(disk_ns);
		done(&to_disk);
	}
	return arg;
}

/* One of two processes that send each other a byte by turns, until the time is over. */
static void exchange_beats(const char *name, int s, int is_first)
{
	char byte = 0;

	prctl(PR_SET_NAME, name);
	while (planted_goes_on()) {
		if (!is_first && read(s, &byte, 1) != 1)
			break;
		is_first = 0;
		planted_sleep(BEAT_NS);
		planted_work(BEAT_WORK_NS);
		if (write(s, &byte, 1) != 1)
			break;
	}
	_exit(0);
}

static void start_beats(void)
{
	int s[2];

	if (socketpair(AF_UNIX, SOCK_STREAM, 0, s))
		planted_fail("socketpair");
	signal(SIGPIPE, SIG_IGN);
	for (int i = 0; i < 2; i++) {
		pid_t child = fork();

		if (child < 0)
			planted_fail("fork");
		if (!child) {
			close(s[!i]);
			exchange_beats(i ? "pong" : "ping", s[i], i);
		}
	}
	close(s[0]);
	close(s[1]);
}

#define WRITES 6     /* in a flush: how long it takes does not rest on one of them */
#define REQUESTS 100 /* each takes three flushes' time */

/* As arguments: with a disk that is slow now, B's work is longer, and so is the run. */
static int tell_plan(void)
{
	uint64_t us = WRITES * planted_write_ns() / US;

	printf("disk_us=%llu ms=%llu\n", (unsigned long long)us, (unsigned long long)(REQUESTS * 3 * us / 1000));
	return 0;
}

int main(int argc, char **argv)
{
	pthread_t a, b, writer = 0;

	planted_start(argc, argv);
	is_ahead = planted_option("ahead", 0);
	disk_ns = (uint64_t)planted_option("disk_us", DISK_US) * US;
	b_ns = 2 * disk_ns;
	a_ns = b_ns / 5;
	planted_open_disk();
	if (planted_option("plan", 0))
		return tell_plan();
	start_beats();
	a = planted_thread("A", run_a, NULL);
	b = planted_thread("B", run_b, NULL);
	if (is_ahead)
		writer = planted_thread("writer", write_behind, NULL);
	planted_join(a);
	planted_join(b);
	if (is_ahead)
		planted_join(writer);
	while (wait(NULL) > 0)
		;
	return planted_finish();
}
