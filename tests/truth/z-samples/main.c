/* SPDX-License-Identifier: GPL-3.0-or-later */
/* (z) Reads and writes pass one queue to one worker, and run the same functions there, of which none has a probe: only
 * samples of the stacks can tell what each kind of request ran. Each function reads its thread's CPU clock around
 * itself, so the program knows what it took for whom, whatever else the machine did. Between requests the worker
 * computes for nobody. */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include "plant.h"

enum kind { READ, WRITE, N_KINDS };
enum part { CHECKSUM, COPY, COMPRESS, N_PARTS };

struct request {
	uint64_t id;
	enum kind kind;
	uint32_t us[N_PARTS];
	struct request *next;
};

static const char *const kind_names[] = { "read", "write" };
static const char *const part_names[] = { "checksum", "copy_out", "compress" };
static uint64_t took_ns[N_KINDS][N_PARTS], nobody_ns;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t filled = PTHREAD_COND_INITIALIZER;
static struct request *first, **last = &first;
static int is_closed;
static volatile unsigned sum;

static uint64_t cpu_ns(void)
{
	struct timespec t;

	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
	return (uint64_t)t.tv_sec * 1000000000 + (uint64_t)t.tv_nsec;
}

/* In the caller, for `us` of CPU time; adds what it was. */
#define COMPUTE(us, took)                                                                                              \
	do {                                                                                                           \
		uint64_t from_ = cpu_ns(), to_ = from_;                                                                \
		while (to_ - from_ < (us) * UINT64_C(1000)) {                                                          \
			for (unsigned i_ = 0; i_ < 20000; i_++)                                                        \
				sum += i_ ^ sum << 1;                                                                  \
			to_ = cpu_ns();                                                                                \
		}                                                                                                      \
		(took) += to_ - from_;                                                                                 \
	} while (0)

static NOINLINE void checksum(const struct request *r)
{
	COMPUTE(r->us[CHECKSUM], took_ns[r->kind][CHECKSUM]);
}

static NOINLINE void copy_out(const struct request *r)
{
	COMPUTE(r->us[COPY], took_ns[r->kind][COPY]);
}

static NOINLINE void compress(const struct request *r)
{
	COMPUTE(r->us[COMPRESS], took_ns[r->kind][COMPRESS]);
	checksum(r);
}

static NOINLINE void tidy_up(void)
{
	COMPUTE(400, nobody_ns);
}

NOINLINE void queue_put(struct request *r)
{
	pthread_mutex_lock(&lock);
	r->next = NULL;
	*last = r;
	last = &r->next;
	pthread_cond_signal(&filled);
	pthread_mutex_unlock(&lock);
}

NOINLINE struct request *queue_take(void)
{
	struct request *r;

	pthread_mutex_lock(&lock);
	while (!first && !is_closed)
		pthread_cond_wait(&filled, &lock);
	r = first;
	if (r && !(first = r->next))
		last = &first;
	pthread_mutex_unlock(&lock);
	return r;
}

NOINLINE void work_on(struct request *r)
{
	copy_out(r);
	if (r->kind == WRITE)
		compress(r);
	else
		checksum(r);
}

static void *worker(void *arg)
{
	struct request *r;

	while ((r = queue_take())) {
		work_on(r);
		tidy_up();
	}
	return arg;
}

NOINLINE void accept_request(struct request *r)
{
	queue_put(r);
}

/* Two that differ, so that they are not made one; and no tail calls: they are on the call path. */
static NOINLINE void submit_read(struct request *r)
{
	r->kind = READ;
	accept_request(r);
	__asm__ volatile("");
}

static NOINLINE void submit_write(struct request *r)
{
	r->kind = WRITE;
	accept_request(r);
	__asm__ volatile("");
}

static int write_account(void)
{
	const char *out = getenv("TRUTH_OUT");
	FILE *f = fopen(out && *out ? out : "truth.json", "w");

	if (!f) {
		perror("truth.json");
		return 1;
	}
	for (int k = 0; k < N_KINDS; k++) {
		fprintf(f, "%s\"%s\": {", k ? ",\n " : "{", kind_names[k]);
		for (int p = 0; p < N_PARTS; p++)
			fprintf(f, "%s\"%s\": %llu", p ? ", " : "", part_names[p], (unsigned long long)took_ns[k][p]);
		fputs("}", f);
	}
	fprintf(f, ",\n \"nobody\": %llu}\n", (unsigned long long)nobody_ns);
	return fclose(f) ? 1 : 0;
}

int main(int argc, char **argv)
{
	struct plant_options o = plant_start(argc, argv, 800);
	struct request *requests = calloc(o.n, sizeof *requests);
	pthread_t thread;

	if (!requests || pthread_create(&thread, NULL, worker, NULL)) {
		perror("requests");
		return 1;
	}
	for (size_t i = 0; i < o.n; i++) {
		struct request *r = &requests[i];

		*r = (struct request){
			.id = i,
			.us = { [CHECKSUM] = plant_uniform(&o.random, 300, 900),
				[COPY] = plant_uniform(&o.random, 200, 1000),
				[COMPRESS] = plant_uniform(&o.random, 1000, 5000) },
		};
		if (plant_uniform(&o.random, 0, 2))
			submit_read(r);
		else
			submit_write(r);
		plant_sleep_us(plant_uniform(&o.random, 2000, 4500));
	}
	pthread_mutex_lock(&lock);
	is_closed = 1;
	pthread_cond_signal(&filled);
	pthread_mutex_unlock(&lock);
	pthread_join(thread, NULL);
	free(requests);
	return write_account();
}
