/* SPDX-License-Identifier: GPL-3.0-or-later */
/* HBase's blocking flush. Each of a few handlers hands an edit to the streamer, which sends it to a data node, and
 * waits until the responder has its acknowledgement. The data node can have many edits in flight, but each handler has
 * one.
 *
 * The cycle: handler -> responder -> network -> streamer -> handler. Remedy: handlers=24, so that the streamer always
 * has something to send. (The data node is a process of its own, data_node 8, which is not recorded.)
 */
#include <arpa/inet.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "planted.h"

#define MAX_HANDLERS 64
#define STOP MAX_HANDLERS
#define HANDLE_NS (100 * US)
#define SEND_NS (1 * MS)
#define NODE_NS (8 * MS) /* data_node 8 */

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t has_edit = PTHREAD_COND_INITIALIZER, is_acked[MAX_HANDLERS];
static int edits[MAX_HANDLERS + 1], n_edits, acked[MAX_HANDLERS];
static uint64_t sent_ns[MAX_HANDLERS + 1];
static int node = -1;

static void give_edit(int id)
{
	edits[n_edits++] = id;
	pthread_cond_signal(&has_edit);
}

static void *handle(void *arg)
{
	int id = (int)(intptr_t)arg;

	while (planted_goes_on()) {
		planted_work(HANDLE_NS);
		pthread_mutex_lock(&mutex);
		acked[id] = 0;
		give_edit(id);
		while (!acked[id])
			pthread_cond_wait(&is_acked[id], &mutex);
		pthread_mutex_unlock(&mutex);
		planted_done(1);
	}
	return NULL;
}

static void *stream(void *arg)
{
	int id = -1;

	while (id != STOP) {
		pthread_mutex_lock(&mutex);
		while (!n_edits)
			pthread_cond_wait(&has_edit, &mutex);
		id = edits[0];
		memmove(edits, edits + 1, (size_t)--n_edits * sizeof *edits);
		pthread_mutex_unlock(&mutex);
		if (id != STOP)
			planted_work(SEND_NS);
		sent_ns[id] = planted_now();
		if (send(node, &id, sizeof id, 0) != sizeof id)
			planted_fail("send");
	}
	return arg;
}

static void *respond(void *arg)
{
	int id = -1;

	while (id != STOP) {
		if (recv(node, &id, sizeof id, 0) != sizeof id)
			planted_fail("recv");
		if (id == STOP)
			break;
		planted_took(NODE_NS, sent_ns[id]);
		pthread_mutex_lock(&mutex);
		acked[id] = 1;
		pthread_cond_signal(&is_acked[id]);
		pthread_mutex_unlock(&mutex);
	}
	return arg;
}

int main(int argc, char **argv)
{
	struct sockaddr_in address = { .sin_family = AF_INET, .sin_port = htons(7777) };
	pthread_t handlers[MAX_HANDLERS], streamer, responder;
	long n;

	planted_start(argc, argv);
	n = planted_option("handlers", 4);
	node = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);
	if (argc < 2 || inet_pton(AF_INET, argv[1], &address.sin_addr) != 1 || n > MAX_HANDLERS)
		return 2;
	if (connect(node, (struct sockaddr *)&address, sizeof address))
		planted_fail(argv[1]);
	streamer = planted_thread("streamer", stream, NULL);
	responder = planted_thread("responder", respond, NULL);
	for (long i = 0; i < n; i++) {
		char name[16];

		pthread_cond_init(&is_acked[i], NULL);
		snprintf(name, sizeof name, "handler-%ld", i);
		handlers[i] = planted_thread(name, handle, (void *)(intptr_t)i);
	}
	for (long i = 0; i < n; i++)
		planted_join(handlers[i]);
	pthread_mutex_lock(&mutex);
	give_edit(STOP);
	pthread_mutex_unlock(&mutex);
	planted_join(streamer);
	planted_join(responder);
	return planted_finish();
}
