/* The load: some clients, each with its own range of orders, so that every reply is known to depend on the seed alone.
 * Prints the number of requests and a checksum of all replies to stdout, the latencies to stderr. */
#include <arpa/inet.h>
#include <inttypes.h>
#include <netinet/tcp.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#define N_CLIENTS 8
#define ORDERS_EACH 2500u
#define WAIT_FOR_SERVER_S 10
#define PAUSE_US 800
#define RANDOM_STEP UINT64_C(0x9e3779b97f4a7c15)

struct client {
	pthread_t thread;
	int index, fd, failed;
	uint16_t port;
	size_t n;
	uint32_t pause_us; /* between two requests, on average */
	uint64_t random, checksum;
	uint32_t *latency_us;
};

static uint32_t pick(struct client *c, uint32_t n)
{
	uint64_t z = c->random += RANDOM_STEP;

	z = (z ^ (z >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
	z = (z ^ (z >> 27)) * UINT64_C(0x94d049bb133111eb);
	return (uint32_t)((z ^ (z >> 31)) >> 32) % n;
}

static uint64_t now_ns(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return (uint64_t)ts.tv_sec * 1000000000u + (uint64_t)ts.tv_nsec;
}

static void pause_us(uint32_t us)
{
	const struct timespec ts = {0, (long)us * 1000};

	nanosleep(&ts, NULL);
}

static size_t make_request(struct client *c, char *line, size_t size)
{
	uint32_t base = (uint32_t)c->index * ORDERS_EACH, id = base + pick(c, ORDERS_EACH), kind = pick(c, 10);

	if (kind < 5)
		return (size_t)snprintf(line, size, "GET %" PRIu32 "\n", id);
	if (kind < 8)
		return (size_t)snprintf(line, size, "PUT %" PRIu32 " %" PRIu32 " %" PRIu32 "\n", id, 1 + pick(c, 99), pick(c, 10000));
	if (id + 200 > base + ORDERS_EACH)
		id = base + ORDERS_EACH - 200;
	return (size_t)snprintf(line, size, "SUM %" PRIu32 " %" PRIu32 "\n", id, id + pick(c, 200));
}

/* Sends a line, reads the reply into the checksum. */
static int exchange(struct client *c, const char *line, size_t n)
{
	char reply[256];
	size_t got = 0;

	if (send(c->fd, line, n, MSG_NOSIGNAL) != (ssize_t)n)
		return -1;
	while (!got || reply[got - 1] != '\n') {
		ssize_t more = recv(c->fd, reply + got, sizeof reply - got, 0);

		if (more <= 0)
			return -1;
		got += (size_t)more;
	}
	for (size_t i = 0; i < got; i++)
		c->checksum = (c->checksum ^ (unsigned char)reply[i]) * UINT64_C(0x100000001b3);
	return strncmp(reply, "error", 5) ? 0 : -1;
}

static int connect_to(uint16_t port)
{
	struct sockaddr_in a = {.sin_family = AF_INET, .sin_port = htons(port)};
	int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0), one = 1;

	a.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
	if (fd < 0 || connect(fd, (struct sockaddr *)&a, sizeof a))
		return -1;
	setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &one, sizeof one);
	return fd;
}

static void *client_main(void *arg)
{
	struct client *c = arg;
	char line[128];

	c->fd = connect_to(c->port);
	c->failed = c->fd < 0;
	for (size_t i = 0; i < c->n && !c->failed; i++) {
		size_t n = make_request(c, line, sizeof line);
		uint64_t begin = now_ns();

		c->failed = exchange(c, line, n) != 0;
		c->latency_us[i] = (uint32_t)((now_ns() - begin) / 1000);
		if (c->pause_us)
			pause_us(c->pause_us / 2 + pick(c, c->pause_us));
		else
			c->random += RANDOM_STEP;
	}
	if (c->fd >= 0)
		close(c->fd);
	return NULL;
}

static uint16_t read_port(const char *folder)
{
	char path[512];
	unsigned port = 0;

	snprintf(path, sizeof path, "%s/port", folder);
	for (int i = 0; i < WAIT_FOR_SERVER_S * 100 && !port; i++) {
		FILE *f = fopen(path, "r");

		if (f) {
			if (fscanf(f, "%u", &port) != 1)
				port = 0;
			fclose(f);
		}
		if (!port)
			pause_us(10000);
	}
	return (uint16_t)port;
}

static int compare(const void *a, const void *b)
{
	uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;

	return x < y ? -1 : x > y;
}

static void print_latencies(uint32_t *us, size_t n)
{
	qsort(us, n, sizeof *us, compare);
	fprintf(stderr, "latency at the client: p50 %u us, p90 %u us, p99 %u us, max %u us\n", us[n / 2], us[n * 9 / 10],
		us[n * 99 / 100], us[n - 1]);
}

int main(int argc, char **argv)
{
	const char *folder = argc > 1 ? argv[1] : "data";
	size_t n = argc > 2 ? strtoul(argv[2], NULL, 10) : 40000, pause = argc > 3 ? strtoul(argv[3], NULL, 10) : PAUSE_US;
	struct client clients[N_CLIENTS];
	uint32_t *latency_us = calloc(n + N_CLIENTS, sizeof *latency_us);
	uint64_t checksum = 0;
	uint16_t port;
	int failed = 0;

	if (argc > 4 || n < N_CLIENTS || n > 100000000 || pause > 500000 || !latency_us) {
		fputs("usage: orderload [DATA-FOLDER [REQUESTS [PAUSE-US]]]\n", stderr);
		return 2;
	}
	port = read_port(folder);
	if (!port) {
		fprintf(stderr, "no server: %s/port did not appear\n", folder);
		return 1;
	}
	n /= N_CLIENTS;
	for (int i = 0; i < N_CLIENTS; i++) {
		clients[i] = (struct client){.index = i, .fd = -1, .port = port, .n = n, .pause_us = (uint32_t)pause, .random = 42 + (uint64_t)i,
					     .latency_us = latency_us + (size_t)i * n};
		if (pthread_create(&clients[i].thread, NULL, client_main, &clients[i])) {
			fputs("cannot start a client\n", stderr);
			return 1;
		}
	}
	for (int i = 0; i < N_CLIENTS; i++) {
		pthread_join(clients[i].thread, NULL);
		failed |= clients[i].failed;
		checksum += clients[i].checksum;
	}
	if (failed) {
		fputs("the server refused a request or went away\n", stderr);
		return 1;
	}
	printf("%zu requests, checksum %016" PRIx64 "\n", n * N_CLIENTS, checksum);
	print_latencies(latency_us, n * N_CLIENTS);
	free(latency_us);
	return 0;
}
/* SPDX-License-Identifier: GPL-3.0-or-later */
