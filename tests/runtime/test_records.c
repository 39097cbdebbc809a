/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Frames: exact counts, gates, roots, order, big and full rings, signals, errno, longjmp, thread churn. */
#define _GNU_SOURCE
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <time.h>

#include "annotate/vprof.h"
#include "tests/runtime/session.h"

#define CODE(i) (VP_CODE_FUNCTION + (i))
#define N 200000
#define N_AFTER 1000
#define N_SPINS 3000000
#define N_HANDLED 200

static volatile int sink_value;

static void __attribute__((noinline)) leaf(void)
{
	VP_FUNCTION(0x103, 0x8UL, 1)
	sink_value++;
}

static void __attribute__((noinline)) closed(void)
{
	VP_FUNCTION(0x104, 0x4UL, 1)
	leaf(); /* its gate is closed here: not recorded */
}

static void __attribute__((noinline)) middle(int i)
{
	VP_FUNCTION(0x102, 0x4UL, 3)
	leaf();
	if (i % 2)
		(__extension__({ VP_SITE(0x800007, 0x8UL, 1) leaf(); }));
}

static void __attribute__((noinline)) root(int n)
{
	VP_ROOT(0x101, 0xffffffffffffffffUL, 2)
	for (int i = 0; i < n; i++)
		middle(i);
	closed();
}

static int target_frames(void)
{
	leaf(); /* top: closed */
	root(10);
	root(11);
	return 0;
}

static int target_many(void)
{
	root(N);
	return 0;
}

/* More than the ring holds, then some more once the collector has emptied it. */
static int target_burst(void)
{
	root(N);
	raise(SIGSTOP);
	root(N_AFTER);
	return 0;
}

/* Signals. */

static volatile sig_atomic_t n_handled;

static void handled(void)
{
	VP_FUNCTION(0x105, 0xffffffffffffffffUL, 1)
	__atomic_add_fetch(&n_handled, 1, __ATOMIC_RELAXED);
}

static void on_signal(int signal)
{
	(void)signal;
	handled();
}

static void spin(void)
{
	VP_FUNCTION(0x106, 0xffffffffffffffffUL, 1)
}

/* A timer interrupts the calls every 50 us, so what is measured does not depend on the scheduler. */
static int target_signals(void)
{
	struct sigaction action = { .sa_handler = on_signal, .sa_flags = SA_RESTART | SA_NODEFER };
	struct sigevent event = { .sigev_notify = SIGEV_SIGNAL, .sigev_signo = SIGUSR1 };
	struct itimerspec every = { { 0, 50000 }, { 0, 50000 } };
	timer_t timer;
	int n_spins = 0;
	FILE *f;

	sigaction(SIGUSR1, &action, NULL);
	if (timer_create(CLOCK_MONOTONIC, &event, &timer) || timer_settime(timer, 0, &every, NULL))
		return 1;
	for (; n_spins < N_SPINS || n_handled < N_HANDLED; n_spins++)
		spin();
	timer_delete(timer);
	f = fopen(getenv("VPROF_TEST_OUT"), "w");
	fprintf(f, "%d %d\n", n_spins, (int)n_handled);
	fclose(f);
	return 0;
}

/* errno, longjmp. */

static int target_errno(void)
{
	for (int i = 0; i < 30000; i++) {
		errno = 77;
		root(1);
		vprof_type("a type");
		vprof_work("rows", i);
		if (errno != 77)
			return 1;
	}
	return 0;
}

static jmp_buf back;

#pragma GCC diagnostic ignored "-Winfinite-recursion"
static void __attribute__((noinline)) jumps(int depth)
{
	VP_FUNCTION(0x107, 0xffffffffffffffffUL, 3)
	if (depth == 0)
		longjmp(back, 1);
	else
		jumps(depth - 1);
	sink_value++;
}

static int target_longjmp(void)
{
	VP_FUNCTION(0x108, 0xffffffffffffffffUL, 4)
	for (volatile int i = 0; i < 1000; i++) {
		if (setjmp(back) == 0)
			jumps(4);
	}
	leaf(); /* mask 8 = context 3: closed when the gate was restored to 4 */
	return 0;
}

static void *churn(void *arg)
{
	(void)arg;
	for (int i = 0; i < 10; i++)
		spin();
	return NULL;
}

static int target_churn(void)
{
	for (int i = 0; i < 300; i++) {
		pthread_t ids[4];

		for (int j = 0; j < 4; j++)
			if (pthread_create(&ids[j], NULL, churn, NULL))
				return 1;
		for (int j = 0; j < 4; j++)
			pthread_join(ids[j], NULL);
	}
	return 0;
}

static int target_killed(void)
{
	root(1000);
	raise(SIGKILL);
	return 0;
}

/* Checks. */

struct frames {
	uint64_t last_end; /* of the record before */
	uint64_t n_nested, n_enter;
};

static void nested(const struct vprof_trace_thread *th, const struct vp_unit *u, uint32_t n, void *arg)
{
	struct frames *f = arg;

	(void)th;
	(void)n;
	if (VP_CODE(u->w) == VP_KIND_ENTER)
		f->n_enter += VP_PAYLOAD(u->w) == CODE(1);
	if (VP_CODE(u->w) < VP_CODE_FUNCTION)
		return;
	f->n_nested += u->t + VP_PAYLOAD(u->w) >= f->last_end;
	f->last_end = u->t + VP_PAYLOAD(u->w);
}

/* A frame may end on another thread than it began on (coroutines), also on one that never met a probe. */
static struct vp_scope moving;
static struct vp_scope *moving_open;

static void *moved(void *arg)
{
	vp_leave(&moving_open);
	return arg;
}

static int target_moved(void)
{
	for (int i = 0; i < 100; i++) {
		pthread_t id;

		moving_open = vp_enter(&moving, CODE(9), 0xffffffffffffffffUL, 1);
		if (pthread_create(&id, NULL, moved, NULL))
			return 1;
		pthread_join(id, NULL);
	}
	return 0;
}

static void check_frames(void)
{
	struct frames f = { 0, 0, 0 };
	struct session s;

	if (session_run(&s, "frames", 8u << 20, 0))
		exit(1);
	session_each(&s, nested, &f);
	CHECK(session_count(&s, CODE(1)) == 2, "roots");
	CHECK(session_count(&s, CODE(2)) == 21, "middles");
	CHECK(session_count(&s, CODE(3)) == 21, "leaves %d", (int)session_count(&s, CODE(3)));
	CHECK(session_count(&s, CODE(4)) == 2, "leaves without children");
	CHECK(session_count(&s, VP_CODE_SITE + 7) == 5 + 5, "sites %d", (int)session_count(&s, VP_CODE_SITE + 7));
	CHECK(f.n_enter == 2, "ENTER");
	CHECK(f.n_nested == 2 + 21 + 21 + 2 + 10, "callees come before callers: %d", (int)f.n_nested);
	CHECK(s.trace->n_threads == 1 && session_count(&s, VP_KIND_START) == 1, "one thread");
	CHECK(session_count(&s, VP_KIND_MODULE) >= (SESSION_STATIC ? 1 : 3), "modules");
	CHECK(session_count(&s, VP_KIND_BUILD_ID) >= (SESSION_STATIC ? 1 : 3), "build ids");
	session_end(&s);
}

static void check_many(void)
{
	struct session s;
	uint64_t n;

	if (session_run(&s, "many", 64u << 20, 0))
		exit(1);
	n = session_count(&s, CODE(2));
	CHECK(n == N && s.trace->n_dropped == 0, "%d of %d, %d dropped", (int)n, N, (int)s.trace->n_dropped);
	session_end(&s);
}

/* Two and a half calls for each round; root, its ENTER and closed. */
#define N_RECORDS(rounds) (2 * (rounds) + (rounds) / 2 + 3)

/* A ring too small for the burst, which nobody drains meanwhile: what is missing is counted. */
static void check_burst(void)
{
	struct session s;
	uint64_t n;

	session_drains_at_stops = 1;
	if (session_run(&s, "burst", 1u << 20, 0))
		exit(1);
	session_drains_at_stops = 0;
	n = session_count(&s, CODE(1)) + session_count(&s, CODE(2)) + session_count(&s, CODE(3)) +
	    session_count(&s, CODE(4)) + session_count(&s, VP_CODE_SITE + 7) + session_count(&s, VP_KIND_ENTER) +
	    session_count(&s, VP_KIND_EXIT) + session_count(&s, VP_KIND_WAKE) + session_count(&s, VP_KIND_STACK);
	printf("small ring: %d recorded, %d dropped\n", (int)n, (int)s.trace->n_dropped);
	CHECK(s.trace->n_dropped > N && session_count(&s, VP_KIND_DROPPED) == 1, "%d dropped, %d notes of it",
	      (int)s.trace->n_dropped, (int)session_count(&s, VP_KIND_DROPPED));
	CHECK(session_count(&s, CODE(4)) == 1, "the end of the second burst");
	/* Two wakes, their stacks and EXIT as the process ends. */
	CHECK(n + s.trace->n_dropped == N_RECORDS(N) + N_RECORDS(N_AFTER) + 5, "recorded and dropped make %d",
	      (int)(n + s.trace->n_dropped));
	session_end(&s);
}

static void check_signals(void)
{
	char out[] = "/tmp/vprof-runtime-out-XXXXXX";
	int fd = mkstemp(out);
	unsigned long long spins = 0;
	int handled_n = 0;
	struct session s;
	FILE *f;

	close(fd);
	setenv("VPROF_TEST_OUT", out, 1);
	if (session_run(&s, "signals", 256u << 20, 0))
		exit(1);
	f = fopen(out, "r");
	if (!f || fscanf(f, "%llu %d", &spins, &handled_n) != 2)
		exit(1);
	fclose(f);
	unlink(out);
	CHECK(spins >= N_SPINS && handled_n >= N_HANDLED, "%llu calls, %d handlers", spins, handled_n);
	printf("signals: %llu calls, %d handlers, %d dropped\n", spins, handled_n, (int)s.trace->n_dropped);
	if (s.trace->n_dropped == 0) {
		CHECK(session_count(&s, CODE(6)) == spins, "lost %d", (int)(spins - session_count(&s, CODE(6))));
		CHECK(session_count(&s, CODE(5)) == (uint64_t)handled_n, "handlers: %d",
		      (int)session_count(&s, CODE(5)));
	} else {
		CHECK(session_count(&s, CODE(6)) + session_count(&s, CODE(5)) + s.trace->n_dropped >= spins + handled_n,
		      "lost without a count");
	}
	session_end(&s);
}

static void check_rest(void)
{
	struct session s;

	if (session_run(&s, "errno", 64u << 20, 0))
		exit(1);
	CHECK(session_count(&s, VP_KIND_TYPE) == 30000 && session_count(&s, VP_KIND_WORK) == 30000, "annotations");
	CHECK(session_count(&s, VP_KIND_STRING) == 2, "strings are defined once");
	session_end(&s);

	if (session_run(&s, "longjmp", 8u << 20, 0))
		exit(1);
	CHECK(session_count(&s, CODE(7)) == 5000, "cut frames %d", (int)session_count(&s, CODE(7)));
	CHECK(session_count(&s, CODE(8)) == 1 && session_count(&s, CODE(3)) == 0, "the gate after a jump");
	session_end(&s);

	if (session_run(&s, "moved", 16u << 20, 0))
		exit(1);
	CHECK(session_count(&s, CODE(9)) == 100, "%d moved frames", (int)session_count(&s, CODE(9)));
	session_end(&s);

	if (session_run(&s, "churn", 128u << 20, 0))
		exit(1);
	CHECK(session_count(&s, CODE(6)) == 12000 && s.trace->n_dropped == 0, "%d, %d dropped",
	      (int)session_count(&s, CODE(6)), (int)s.trace->n_dropped);
	CHECK(session_count(&s, VP_KIND_START) == 1201 && session_count(&s, VP_KIND_EXIT) == 1201, "threads %d %d",
	      (int)session_count(&s, VP_KIND_START), (int)session_count(&s, VP_KIND_EXIT));
	CHECK(session_count(&s, VP_KIND_CREATE) == 1200, "creations");
	session_end(&s);

	if (session_run(&s, "killed", 8u << 20, 0))
		exit(1);
	n_failed--; /* killed on purpose */
	CHECK(WIFSIGNALED(s.status), "killed");
	CHECK(session_count(&s, CODE(2)) == 1000, "a kill loses nothing: %d", (int)session_count(&s, CODE(2)));
	session_end(&s);
}

int main(int argc, char **argv)
{
	static const struct {
		const char *name;
		int (*run)(void);
	} targets[] = { { "frames", target_frames },   { "many", target_many },	  { "burst", target_burst },
			{ "signals", target_signals }, { "errno", target_errno }, { "longjmp", target_longjmp },
			{ "churn", target_churn },     { "moved", target_moved }, { "killed", target_killed } };

	for (size_t i = 0; argc > 2 && i < sizeof(targets) / sizeof(targets[0]); i++)
		if (strcmp(argv[2], targets[i].name) == 0)
			return targets[i].run();
	root(3); /* inert here */
	target_moved();
	check_frames();
	check_many();
	check_burst();
	check_signals();
	check_rest();
	printf("%d checks failed\n", n_failed);
	return n_failed != 0;
}
