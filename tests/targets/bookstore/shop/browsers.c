/* SPDX-License-Identifier: GPL-3.0-or-later */
/* browsers PORT BROWSERS INTERACTIONS THINK_MS SEED [ADMIN]: the load. Each browser asks for a page, reads it, thinks
 * for THINK_MS in the mean, and asks for the next one, until all of them together have asked for INTERACTIONS. Pages
 * are drawn as in TPC-W's browsing mix, but ADMIN of 10,000 (9) are admin_confirm, at home's expense. What each browser
 * asks for depends on the seed alone. At the end, by page: number, mean, 90 and 99 % of response times in ms. */
#define _GNU_SOURCE
#include <errno.h>
#include <math.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

static struct {
	const char *name;
	unsigned weight; /* of 10,000 */
} mix[] = {
	{ "home", 2900 },	    { "new_products", 1100 },	     { "best_sellers", 1100 },
	{ "product_detail", 2100 }, { "search_request", 1200 },	     { "search_result", 1100 },
	{ "shopping_cart", 200 },   { "customer_registration", 82 }, { "buy_request", 75 },
	{ "buy_confirm", 69 },	    { "order_inquiry", 30 },	     { "order_display", 25 },
	{ "admin_request", 10 },    { "admin_confirm", 9 },
};
#define N_PAGES (sizeof mix / sizeof *mix)

struct answer {
	unsigned page;
	double ms;
};

static struct answer *answers;
static atomic_long n_asked, n_failed;
static long n_interactions;
static unsigned short port;
static double think_ms;

struct browser {
	pthread_t thread;
	uint64_t random;
	int number;
};

static uint32_t draw(struct browser *b, uint32_t n)
{
	b->random = b->random * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
	return (uint32_t)((b->random >> 33) % n);
}

static unsigned draw_page(struct browser *b)
{
	unsigned at = draw(b, 10000), page = 0;

	while (page + 1 < N_PAGES && at >= mix[page].weight)
		at -= mix[page++].weight;
	return page;
}

static double now_ms(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (double)t.tv_sec * 1e3 + (double)t.tv_nsec / 1e6;
}

static int open_connection(void)
{
	struct sockaddr_in to = { .sin_family = AF_INET,
				  .sin_port = htons(port),
				  .sin_addr.s_addr = htonl(INADDR_LOOPBACK) };
	int fd = -1, on = 1;

	/* the shop may not listen yet */
	for (int i = 0; i < 1000; i++) {
		fd = socket(AF_INET, SOCK_STREAM, 0);
		if (fd >= 0 && !connect(fd, (struct sockaddr *)&to, sizeof to))
			break;
		if (fd < 0 || errno != ECONNREFUSED || i == 999) {
			perror("browsers: connect");
			exit(1);
		}
		close(fd);
		usleep(20000);
	}
	setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
	return fd;
}

/* Reads one answer, whose length its head tells. */
static int receive_page(int fd)
{
	static _Thread_local char buffer[1 << 17];
	size_t n = 0, all = 0;

	while (n < sizeof buffer - 1) {
		ssize_t got = recv(fd, buffer + n, sizeof buffer - 1 - n, 0);
		const char *end, *length;

		if (got <= 0)
			return 0;
		n += (size_t)got;
		buffer[n] = 0;
		end = strstr(buffer, "\r\n\r\n");
		length = strcasestr(buffer, "Content-Length:");
		if (!all && end && length && length < end)
			all = (size_t)(end - buffer) + 4 + strtoul(length + 15, NULL, 10);
		if (all && n >= all)
			return !strncmp(buffer, "HTTP/1.1 200", 12);
	}
	return 0;
}

static void *browse(void *arg)
{
	struct browser *b = arg;
	int fd = open_connection();
	char request[256];
	long i;

	while ((i = atomic_fetch_add(&n_asked, 1)) < n_interactions) {
		unsigned page = draw_page(b);
		double think = -think_ms * log1p(-(double)draw(b, 1000000) / 1e6), from;
		int n;

		usleep((useconds_t)(1e3 * (think < 10 * think_ms ? think : 10 * think_ms)));
		n = snprintf(request, sizeof request,
			     "GET /%s?customer=%u&item=%u&subject=%u&cart=%d&word=%u HTTP/1.1\r\nHost: shop\r\n\r\n",
			     mix[page].name, draw(b, 2880) + 1, draw(b, 10000) + 1, draw(b, 24), b->number + 1,
			     draw(b, 500));
		from = now_ms();
		if (send(fd, request, (size_t)n, MSG_NOSIGNAL) != n || !receive_page(fd)) {
			n_failed++;
			close(fd);
			fd = open_connection();
		}
		answers[i] = (struct answer){ page, now_ms() - from };
	}
	close(fd);
	return NULL;
}

static int by_page(const void *a, const void *b)
{
	const struct answer *x = a, *y = b;

	return x->page != y->page ? (x->page > y->page) - (x->page < y->page) : (x->ms > y->ms) - (x->ms < y->ms);
}

static void print_answers(double took_ms)
{
	qsort(answers, (size_t)n_interactions, sizeof *answers, by_page);
	printf("page\tn\tmean\tp90\tp99\n");
	for (long i = 0, n; i < n_interactions; i += n) {
		double sum = 0;

		for (n = 0; i + n < n_interactions && answers[i + n].page == answers[i].page; n++)
			sum += answers[i + n].ms;
		printf("%s\t%ld\t%.2f\t%.2f\t%.2f\n", mix[answers[i].page].name, n, sum / (double)n,
		       answers[i + (long)(0.9 * (double)n)].ms, answers[i + (long)(0.99 * (double)n)].ms);
	}
	printf("interactions a second\t%.1f\nfailed\t%ld\n", 1e3 * (double)n_interactions / took_ms, n_failed);
}

int main(int argc, char **argv)
{
	long n_browsers = argc > 2 ? atol(argv[2]) : 0;
	struct browser *browsers;
	double from;

	if (argc < 6 || n_browsers < 1 || (n_interactions = atol(argv[3])) < 1) {
		fputs("usage: browsers PORT BROWSERS INTERACTIONS THINK_MS SEED [ADMIN]\n", stderr);
		return 2;
	}
	port = (unsigned short)atoi(argv[1]);
	think_ms = atof(argv[4]);
	if (argc > 6) {
		unsigned admin = (unsigned)atoi(argv[6]) % 2000;

		mix[0].weight -= admin - mix[N_PAGES - 1].weight;
		mix[N_PAGES - 1].weight = admin;
	}
	answers = calloc((size_t)n_interactions, sizeof *answers);
	browsers = calloc((size_t)n_browsers, sizeof *browsers);
	if (!answers || !browsers)
		return 1;
	from = now_ms();
	for (int i = 0; i < n_browsers; i++) {
		browsers[i] =
			(struct browser){ .random = (uint64_t)atol(argv[5]) * 1000003 + (uint64_t)i, .number = i };
		for (int k = 0; k < 8; k++)
			draw(&browsers[i], 1);
		if (pthread_create(&browsers[i].thread, NULL, browse, &browsers[i]))
			return 1;
	}
	for (int i = 0; i < n_browsers; i++)
		pthread_join(browsers[i].thread, NULL);
	print_answers(now_ms() - from);
	return n_failed != 0;
}
