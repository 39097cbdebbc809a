/* The journal: changes are appended in memory, and a background thread compacts them now and then into a snapshot of
 * all orders, written and flushed to the disk. */
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "server.h"

#define COMPACT_EVERY_NS 25000000L
#define BUFFER_BYTES 65536u
#define JOURNAL_MAX 65536u

struct change {
	uint32_t id, quantity, price;
};

struct snapshot {
	int fd, failed;
	size_t n;
	char buffer[BUFFER_BYTES];
};

static struct change changes[JOURNAL_MAX];
static size_t n_changes;
static char snapshot_path[512], temporary_path[512];
static pthread_t compactor;
static int stop;

void journal_append(uint32_t id, uint32_t quantity, uint32_t price)
{
	/* When the compactor is late, the snapshot still holds the order itself. */
	if (n_changes < JOURNAL_MAX)
		changes[n_changes++] = (struct change){id, quantity, price};
}

static void flush_buffer(struct snapshot *s)
{
	size_t at = 0;

	while (at < s->n && !s->failed) {
		ssize_t n = write(s->fd, s->buffer + at, s->n - at);

		if (n < 0 && errno != EINTR)
			s->failed = errno;
		else if (n > 0)
			at += (size_t)n;
	}
	s->n = 0;
}

static void write_order(const struct order *order, void *arg)
{
	struct snapshot *s = arg;

	if (s->n + 64 > BUFFER_BYTES)
		flush_buffer(s);
	s->n += (size_t)sprintf(s->buffer + s->n, "%" PRIu32 " %" PRIu32 " %" PRIu32 "\n", order->id, order->quantity,
				order->price);
}

static int save_snapshot(struct snapshot *s)
{
	s->n = 0;
	s->failed = 0;
	s->fd = open(temporary_path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
	if (s->fd < 0)
		return -1;
	store_each(write_order, s);
	flush_buffer(s);
	if (fdatasync(s->fd))
		s->failed = errno;
	if (close(s->fd) || s->failed)
		return -1;
	return rename(temporary_path, snapshot_path);
}

/* The mistake that makes requests slow: everything, the disk too, happens under the lock that every request needs. */
static void compact_journal(struct snapshot *s)
{
	pthread_mutex_lock(&store_lock);
	if (n_changes && !save_snapshot(s))
		n_changes = 0;
	pthread_mutex_unlock(&store_lock);
}

static void *compactor_main(void *arg)
{
	const struct timespec pause = {0, COMPACT_EVERY_NS};

	while (!__atomic_load_n(&stop, __ATOMIC_ACQUIRE)) {
		nanosleep(&pause, NULL);
		compact_journal(arg);
	}
	free(arg);
	return NULL;
}

int journal_open(const char *folder)
{
	struct snapshot *s = malloc(sizeof *s);

	snprintf(snapshot_path, sizeof snapshot_path, "%s/orders", folder);
	snprintf(temporary_path, sizeof temporary_path, "%s/orders.new", folder);
	if (!s || pthread_create(&compactor, NULL, compactor_main, s)) {
		free(s);
		return -1;
	}
	return 0;
}

void journal_close(void)
{
	__atomic_store_n(&stop, 1, __ATOMIC_RELEASE);
	pthread_join(compactor, NULL);
}
/* SPDX-License-Identifier: GPL-3.0-or-later */
