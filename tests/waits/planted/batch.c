/* SPDX-License-Identifier: GPL-3.0-or-later */
/* ZooKeeper's batch limit. The sync thread logs a batch of requests, the writes among them by one flush, then passes it
 * to the final thread. At most `limit` requests may be outstanding: reads and writes alike, though only writes cost
 * memory. As one request in 50 is a write, a flush serves one or two writes only.
 *
 * The knot: sync and the disk. Remedy: limit=5000, so that a flush serves many writes.
 */
#include "planted.h"

#define WRITE_EVERY 50
#define FLUSH_NS (6 * MS)
#define LOG_NS (240 * US)

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t has_room = PTHREAD_COND_INITIALIZER, has_request = PTHREAD_COND_INITIALIZER,
		      has_logged = PTHREAD_COND_INITIALIZER, is_over = PTHREAD_COND_INITIALIZER;
static long limit, accepted, taken, logged, answered; /* requests so far */
static int accept_over, sync_over, all_over;

static void *accept_requests(void *arg)
{
	while (planted_goes_on()) {
		pthread_mutex_lock(&mutex);
		while (accepted - answered >= limit)
			pthread_cond_wait(&has_room, &mutex);
		accepted++;
		pthread_cond_signal(&has_request);
		pthread_mutex_unlock(&mutex);
	}
	pthread_mutex_lock(&mutex);
	accept_over = 1;
	pthread_cond_signal(&has_request);
	pthread_mutex_unlock(&mutex);
	return arg;
}

static void *sync_requests(void *arg)
{
	for (;;) {
		long from, to;

		pthread_mutex_lock(&mutex);
		while (accepted == taken && !accept_over)
			pthread_cond_wait(&has_request, &mutex);
		from = taken;
		to = taken = accepted;
		pthread_mutex_unlock(&mutex);
		planted_work((uint64_t)(to - from) * LOG_NS);
		if (from / WRITE_EVERY != to / WRITE_EVERY)
			planted_flush(FLUSH_NS);
		pthread_mutex_lock(&mutex);
		logged = to;
		sync_over = from == to;
		pthread_cond_signal(&has_logged);
		pthread_mutex_unlock(&mutex);
		if (from == to)
			return arg;
	}
}

static void *answer_requests(void *arg)
{
	for (;;) {
		pthread_mutex_lock(&mutex);
		while (logged == answered && !sync_over)
			pthread_cond_wait(&has_logged, &mutex);
		if (logged == answered)
			break;
		pthread_mutex_unlock(&mutex);
		planted_done(1);
		pthread_mutex_lock(&mutex);
		answered++;
		pthread_cond_signal(&has_room);
		pthread_mutex_unlock(&mutex);
	}
	pthread_mutex_unlock(&mutex);
	return arg;
}

/* Waits for the end all the time: the longest wait, and nobody's bottleneck. */
static void *watch(void *arg)
{
	pthread_mutex_lock(&mutex);
	while (!all_over)
		pthread_cond_wait(&is_over, &mutex);
	pthread_mutex_unlock(&mutex);
	return arg;
}

int main(int argc, char **argv)
{
	pthread_t acceptor, sync, final, watcher;

	planted_start(argc, argv);
	limit = planted_option("limit", 50);
	planted_open_disk();
	watcher = planted_thread("watcher", watch, NULL);
	final = planted_thread("final", answer_requests, NULL);
	sync = planted_thread("sync", sync_requests, NULL);
	acceptor = planted_thread("acceptor", accept_requests, NULL);
	planted_join(acceptor);
	planted_join(sync);
	planted_join(final);
	pthread_mutex_lock(&mutex);
	all_over = 1;
	pthread_cond_signal(&is_over);
	pthread_mutex_unlock(&mutex);
	planted_join(watcher);
	return planted_finish();
}
