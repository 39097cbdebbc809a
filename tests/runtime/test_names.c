/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The names of intervals come out of one buffer, which holds another name each time: every mark has the name that was
 * there then, and every process that uses a name defines it, also one that was forked after its thread had used it. */
#include <pthread.h>
#include <stdbool.h>

#include "annotate/vprof.h"
#include "tests/runtime/session.h"

#define N_ROUNDS 200
#define N_PROCESSES 2
#define N_THREADS 3 /* the first one, another, and the first one's continuation in the child */

/* A thread remembers names of up to 22 bytes. */
static const char *const names[] = { "one",
				     "two",
				     "on",
				     "",
				     "a name of 22 character",
				     "a name of 23 characters",
				     "a name of 24 characters,",
				     "a name that is much longer than what a thread remembers of one" };
#define N_NAMES (sizeof(names) / sizeof(names[0]))

/* Beginning with the name `first`, which is the one that the thread remembers. */
static void intervals(size_t first)
{
	static __thread char buffer[100];

	for (size_t i = 0; i < N_ROUNDS; i++) {
		size_t which = i ? (first + i * 5) % N_NAMES : first;
		int64_t id = (int64_t)(i * N_NAMES + which);

		strcpy(buffer, names[which]);
		vprof_begin(buffer, id);
		vprof_end(buffer, id);
	}
}

static void *other_thread(void *unused)
{
	intervals(4);
	return unused;
}

static int target(void)
{
	pthread_t other;
	pid_t child;

	intervals(0);
	if (pthread_create(&other, NULL, other_thread, NULL) || pthread_join(other, NULL))
		return 1;
	child = fork();
	if (!child) {
		intervals(0);
		exit(0);
	}
	return child < 0 || waitpid(child, NULL, 0) != child;
}

/* The judge. */

struct found {
	uint64_t hash[N_NAMES];
	bool is_used[N_PROCESSES][N_NAMES], is_defined[N_PROCESSES][N_NAMES];
	uint32_t process[N_PROCESSES];
	int n_processes, n_marks;
};

static int process_of(struct found *f, uint32_t process_seq)
{
	for (int i = 0; i < f->n_processes; i++)
		if (f->process[i] == process_seq)
			return i;
	if (f->n_processes == N_PROCESSES)
		return 0;
	f->process[f->n_processes] = process_seq;
	return f->n_processes++;
}

static void take(const struct vprof_trace_thread *th, const struct vp_unit *u, uint32_t n, void *arg)
{
	struct found *f = arg;
	int process = process_of(f, th->process_seq);

	(void)n;
	if (VP_CODE(u->w) == VP_KIND_STRING)
		for (size_t i = 0; i < N_NAMES; i++)
			f->is_defined[process][i] |= f->hash[i] == u->t;
	if (VP_CODE(u->w) != VP_KIND_BEGIN && VP_CODE(u->w) != VP_KIND_END)
		return;
	CHECK(u[1].w == f->hash[u[1].t % N_NAMES], "interval %d has another's name", (int)u[1].t);
	f->is_used[process][u[1].t % N_NAMES] = true;
	f->n_marks++;
}

int main(int argc, char **argv)
{
	struct found f = { .n_marks = 0 };
	struct session s;

	(void)argv;
	if (argc > 2)
		return target();
	for (size_t i = 0; i < N_NAMES; i++)
		f.hash[i] = vprof_hash(VPROF_HASH_SEED, names[i], strlen(names[i]));
	if (session_run(&s, "target", 8u << 20, 0))
		exit(1);
	session_each(&s, take, &f);
	printf("%d marks, %d processes\n", f.n_marks, f.n_processes);
	CHECK(f.n_marks == 2 * N_ROUNDS * N_THREADS && f.n_processes == N_PROCESSES, "marks");
	for (int p = 0; p < N_PROCESSES; p++)
		for (size_t i = 0; i < N_NAMES; i++)
			CHECK(f.is_used[p][i] && f.is_defined[p][i], "name %d in process %d", (int)i, p);
	session_end(&s);
	printf("%d checks failed\n", n_failed);
	return n_failed != 0;
}
