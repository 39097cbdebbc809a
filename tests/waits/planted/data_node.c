/* SPDX-License-Identifier: GPL-3.0-or-later */
/* data_node MS: answers each datagram that comes to port 7777 with itself, MS milliseconds later, however many are on
 * their way. Prints "ready" once it listens. Ends when its input does.
 */
#define _GNU_SOURCE
#include <arpa/inet.h>
#include <poll.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#define ROOM 1024

struct answer {
	struct timespec due;
	struct sockaddr_in to;
	char text[64];
	size_t n;
};

static struct answer answers[ROOM]; /* a ring, by time */
static size_t first, n_answers;

static void take(int s, long ms)
{
	struct answer *a = &answers[(first + n_answers) % ROOM];
	socklen_t length = sizeof a->to;
	ssize_t n = recvfrom(s, a->text, sizeof a->text, 0, (struct sockaddr *)&a->to, &length);

	if (n < 0 || n_answers == ROOM)
		return;
	a->n = (size_t)n;
	clock_gettime(CLOCK_MONOTONIC, &a->due);
	a->due.tv_nsec += ms * 1000000;
	a->due.tv_sec += a->due.tv_nsec / 1000000000;
	a->due.tv_nsec %= 1000000000;
	n_answers++;
}

/* Sends what is due; the time until the next is. */
static struct timespec answer(int s)
{
	struct timespec now, left = { 1, 0 };

	while (n_answers) {
		const struct answer *a = &answers[first];

		clock_gettime(CLOCK_MONOTONIC, &now);
		left.tv_sec = a->due.tv_sec - now.tv_sec;
		left.tv_nsec = a->due.tv_nsec - now.tv_nsec;
		if (left.tv_nsec < 0) {
			left.tv_sec--;
			left.tv_nsec += 1000000000;
		}
		if (left.tv_sec >= 0)
			return left;
		sendto(s, a->text, a->n, 0, (const struct sockaddr *)&a->to, sizeof a->to);
		first = (first + 1) % ROOM;
		n_answers--;
	}
	return (struct timespec){ 1, 0 };
}

int main(int argc, char **argv)
{
	struct sockaddr_in own = { .sin_family = AF_INET, .sin_port = htons(7777) };
	int s = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);
	long ms = argc > 1 ? strtol(argv[1], NULL, 10) : 0;

	if (s < 0 || ms <= 0 || bind(s, (struct sockaddr *)&own, sizeof own)) {
		perror("data_node");
		return 1;
	}
	sched_setscheduler(0, SCHED_RR, &(struct sched_param){ .sched_priority = 1 }); /* as planted.c */
	puts("ready");
	fflush(stdout);
	for (;;) {
		struct pollfd p[] = { { .fd = s, .events = POLLIN }, { .fd = 0, .events = POLLIN } };
		struct timespec left = answer(s);

		if (ppoll(p, 2, &left, NULL) < 0)
			return 1;
		if (p[0].revents)
			take(s, ms);
		if (p[1].revents)
			return 0;
	}
}
