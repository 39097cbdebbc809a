/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Waits and wakes against the truth that the programs keep themselves: mutexes, semaphores over forks, conditions,
 * barriers, read-write locks, joins, annotated and hand-written waits, I/O, forks and tokens. */
#define _GNU_SOURCE
#include <linux/aio_abi.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <sched.h>
#include <semaphore.h>
#include <stdbool.h>
#include <stddef.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <time.h>

#include "annotate/vprof.h"
#include "tests/runtime/session.h"

#define CODE(i) (VP_CODE_FUNCTION + (i))
#define N_THREADS 4
#define N_LOCKS 20000
#define N_CORKS 10
#define CONTENDED_EVERY 200 /* locks of a thread: another one waits for sure */
/* Of those, but for the last thread's: each is got by a wait or makes another thread wait, who may get one of the
 * others so. */
#define N_CONTENDED ((N_THREADS - 1) * N_LOCKS / CONTENDED_EVERY / 2)

static void __attribute__((noinline)) probed(void)
{
	VP_FUNCTION(0x101, 0xffffffffffffffffUL, 1)
}

static void hold(int rounds)
{
	if (rounds > 1000)
		sched_yield();
	for (volatile int i = 0; i < rounds; i++)
		;
}

/* The truth about a mutex is inside it: who held it before. It travels as a work record right after the lock. */

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static int last_holder;
static _Thread_local int my_number;

static _Atomic int n_lockers;

/* The lock is released only when somebody waits for it: glibc then keeps 2 in it. The last thread has nobody to wait
 * for. */
static void hold_until_waited_for(void)
{
	while (__atomic_load_n(&mutex.__data.__lock, __ATOMIC_ACQUIRE) != 2 && n_lockers > 1)
		sched_yield();
}

/* Whoever waits needs a CPU to get the lock: a thread that took it again and again would be waited for once. */
static void let_another_have_it(void)
{
	while (__atomic_load_n(&last_holder, __ATOMIC_ACQUIRE) == my_number && n_lockers > 1)
		sched_yield();
}

static void *locker(void *arg)
{
	my_number = (int)(intptr_t)arg;
	n_lockers++;
	vprof_work("me", my_number);
	while (n_lockers < N_THREADS && !last_holder) /* until all are there, or were */
		sched_yield();
	for (int i = 0; i < N_LOCKS; i++) {
		int before;

		pthread_mutex_lock(&mutex);
		before = last_holder;
		__atomic_store_n(&last_holder, my_number, __ATOMIC_RELEASE);
		vprof_work("holder", before);
		if (i % CONTENDED_EVERY == 0)
			hold_until_waited_for();
		hold(i % 8 ? 10 : 2000);
		pthread_mutex_unlock(&mutex);
		if (i % CONTENDED_EVERY == 0)
			let_another_have_it();
		hold(50);
	}
	n_lockers--;
	return NULL;
}

static int target_mutex(void)
{
	pthread_t ids[N_THREADS];

	for (int i = 0; i < N_THREADS; i++)
		pthread_create(&ids[i], NULL, locker, (void *)(intptr_t)(i + 1));
	for (int i = 0; i < N_THREADS; i++)
		pthread_join(ids[i], NULL);
	return 0;
}

/* Forked processes share a semaphore of value 1. */

struct shared {
	sem_t sem;
	int holder;
	int item;
	int n_started;
	int n_working;
};

/* glibc keeps the number of waiters in the semaphore's high half. */
static void hold_until_semaphore_waited_for(struct shared *s)
{
	while (!(__atomic_load_n((uint64_t *)(void *)&s->sem, __ATOMIC_ACQUIRE) >> 32) &&
	       __atomic_load_n(&s->n_working, __ATOMIC_ACQUIRE) > 1)
		sched_yield();
}

static int target_semaphore(void)
{
	struct shared *s = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);

	sem_init(&s->sem, 1, 1);
	s->n_working = N_THREADS;
	for (int p = 1; p <= N_THREADS; p++) {
		if (fork() == 0) {
			vprof_work("me", p);
			__atomic_add_fetch(&s->n_started, 1, __ATOMIC_ACQ_REL);
			while (__atomic_load_n(&s->n_started, __ATOMIC_ACQUIRE) < N_THREADS)
				sched_yield();
			for (int i = 0; i < N_LOCKS / 4; i++) {
				int before;

				while (sem_wait(&s->sem))
					;
				before = s->holder;
				s->holder = p;
				vprof_work("holder", before);
				if (i % CONTENDED_EVERY == 0)
					hold_until_semaphore_waited_for(s);
				hold(i % 8 ? 10 : 2000);
				sem_post(&s->sem);
				hold(50);
			}
			__atomic_sub_fetch(&s->n_working, 1, __ATOMIC_ACQ_REL);
			vprof_enqueue(&s->item);
			return 0;
		}
	}
	for (int p = 1; p <= N_THREADS; p++)
		wait(NULL);
	return 0;
}

/* One of each. */

static pthread_cond_t cond = PTHREAD_COND_INITIALIZER;
static pthread_rwlock_t rwlock = PTHREAD_RWLOCK_INITIALIZER;
static pthread_barrier_t barrier;
static int ready, flag;
static sem_t sem;

static void sleep_ms(int ms)
{
	struct timespec ts = { 0, ms * 1000000L };

	nanosleep(&ts, NULL);
}

static void release(void *lock)
{
	VP_RELEASE(1, lock)
	probed();
}

/* The two threads of target_each() wait for each other, in turn. Who waits says so before; who is waited for then
 * watches the other fall asleep, and lets at least WAIT_MS pass. */
#define WAIT_MS 5
static _Atomic int step; /* of the thread that waits */
static _Atomic pid_t waiter, main_thread;
static _Atomic int is_joining, is_released;
static _Atomic unsigned long n_spins;

static void wait_next(void)
{
	vprof_work("step", ++step);
}

static bool is_asleep(pid_t process, pid_t tid)
{
	char path[64], state = 0;
	FILE *f;

	snprintf(path, sizeof(path), "/proc/%d/task/%d/stat", (int)process, (int)tid);
	f = fopen(path, "r");
	if (!f || fscanf(f, "%*d %*s %c", &state) != 1)
		exit(3);
	fclose(f);
	return state == 'S';
}

static void until_asleep(pid_t process, pid_t tid)
{
	while (!is_asleep(process, tid))
		sched_yield();
	sleep_ms(WAIT_MS);
}

static void until_waits(int number)
{
	while (step < number)
		sched_yield();
	until_asleep(getpid(), waiter);
}

static void acquire(void *lock)
{
	VP_ACQUIRE(1, lock, "acquire")
	while (!is_released)
		sleep_ms(1);
}

static void *other(void *arg)
{
	(void)arg;
	waiter = (pid_t)syscall(SYS_gettid);
	pthread_mutex_lock(&mutex);
	wait_next();
	while (!ready)
		pthread_cond_wait(&cond, &mutex);
	pthread_mutex_unlock(&mutex);
	wait_next();
	pthread_rwlock_wrlock(&rwlock);
	pthread_rwlock_unlock(&rwlock);
	wait_next();
	pthread_barrier_wait(&barrier);
	wait_next();
	sem_wait(&sem);
	wait_next();
	vprof_spin_begin(&flag);
	while (!__atomic_load_n(&flag, __ATOMIC_ACQUIRE)) {
		n_spins++;
		sched_yield();
	}
	vprof_spin_end(&flag);
	vprof_false_wakeup();
	wait_next();
	acquire(&flag);
	wait_next();
	sleep_ms(WAIT_MS);
	wait_next();
	while (!is_joining)
		sched_yield();
	until_asleep(getpid(), main_thread);
	return NULL;
}

static int target_each(void)
{
	struct timespec until;
	pthread_t id;

	main_thread = (pid_t)syscall(SYS_gettid);
	pthread_barrier_init(&barrier, NULL, 2);
	sem_init(&sem, 0, 0);
	pthread_rwlock_rdlock(&rwlock);
	pthread_create(&id, NULL, other, NULL);
	until_waits(1);
	pthread_mutex_lock(&mutex);
	ready = 1;
	pthread_cond_signal(&cond);
	pthread_mutex_unlock(&mutex);
	until_waits(2);
	pthread_rwlock_unlock(&rwlock);
	until_waits(3);
	pthread_barrier_wait(&barrier);
	until_waits(4);
	sem_post(&sem);
	while (!n_spins)
		sched_yield();
	sleep_ms(WAIT_MS);
	vprof_wake(&flag);
	__atomic_store_n(&flag, 1, __ATOMIC_RELEASE);
	until_waits(6);
	release(&flag);
	is_released = 1;
	is_joining = 1;
	vprof_work("step", 1);
	pthread_join(id, NULL);
	vprof_work("step", 2);
	pthread_mutex_lock(&mutex);
	clock_gettime(CLOCK_REALTIME, &until);
	until.tv_sec--;
	if (pthread_cond_timedwait(&cond, &mutex, &until) != ETIMEDOUT)
		return 1;
	pthread_mutex_unlock(&mutex);
	errno = 5;
	if (sem_timedwait(&sem, &until) != -1 || errno != ETIMEDOUT)
		return 1;
	return 0;
}

static void *cancelled(void *arg)
{
	(void)arg;
	waiter = (pid_t)syscall(SYS_gettid);
	sem_wait(&sem);
	return NULL;
}

/* Calls that only work: checking and translating a filter of 2,000 instructions, clearing 32 MiB of memory. */
static int work_in_kernel(int socket)
{
	struct sock_filter code[2000];
	struct sock_fprog filter = { sizeof(code) / sizeof(code[0]), code };
	int memory = memfd_create("memory", 0);

	for (size_t i = 0; i < sizeof(code) / sizeof(code[0]); i++)
		code[i] = (struct sock_filter)BPF_STMT(BPF_LD | BPF_IMM, 1);
	code[sizeof(code) / sizeof(code[0]) - 1] = (struct sock_filter)BPF_STMT(BPF_RET | BPF_K, 0xffff);
	return setsockopt(socket, SOL_SOCKET, SO_ATTACH_FILTER, &filter, sizeof(filter)) == 0 &&
	       fallocate(memory, 0, 0, 32 << 20) == 0 && close(memory) == 0;
}

/* A corked connection gathers what is written, and taking the cork out sends it: the call is where the time goes. How
 * long it takes is the kernel's business, and a call of less than 2 us is no wait. So here the kernel makes each of
 * these calls a signal (seccomp), whose handler sleeps before it does what was asked for: all of them are waits. Its
 * own call is told from the program's by the length of the value, of which the kernel reads no more than an int. */
#ifdef __x86_64__
static void on_cork(int number, siginfo_t *info, void *at)
{
	greg_t *r = ((ucontext_t *)at)->uc_mcontext.gregs;
	int values[2] = { *(const int *)r[REG_R10], 0 }, saved = errno;

	(void)number, (void)info;
	sleep_ms(1);
	r[REG_RAX] = syscall(SYS_setsockopt, r[REG_RDI], r[REG_RSI], r[REG_RDX], values, sizeof(values)) ? -errno : 0;
	errno = saved;
}

static bool make_corks_wait(void)
{
	struct sock_filter filter[] = {
		BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_setsockopt, 0, 7),
		BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, args[1])),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, IPPROTO_TCP, 0, 5),
		BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, args[2])),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, TCP_CORK, 0, 3),
		BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, args[4])),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, sizeof(int), 0, 1),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_TRAP),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
	};
	struct sock_fprog program = { sizeof(filter) / sizeof(filter[0]), filter };
	struct sigaction action = { .sa_sigaction = on_cork, .sa_flags = SA_SIGINFO };

	return sigaction(SIGSYS, &action, NULL) == 0 && prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0 &&
	       prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program) == 0;
}
#else
static bool make_corks_wait(void)
{
	return false;
}
#endif

static bool uncork(void)
{
	struct sockaddr_in address = { .sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK) };
	int listener = socket(AF_INET, SOCK_STREAM, 0), from = socket(AF_INET, SOCK_STREAM, 0), to, on = 1, off = 0;
	socklen_t n_bytes = sizeof(address);
	char page[1000] = "";
	bool is_sent = true;

	if (bind(listener, (struct sockaddr *)&address, sizeof(address)) || listen(listener, 1) ||
	    getsockname(listener, (struct sockaddr *)&address, &n_bytes) ||
	    connect(from, (struct sockaddr *)&address, sizeof(address)) || (to = accept(listener, NULL, NULL)) < 0)
		return false;
	for (int i = 0; is_sent && i < N_CORKS; i++) {
		is_sent = setsockopt(from, IPPROTO_TCP, TCP_CORK, &on, sizeof(on)) == 0;
		for (int k = 0; k < 20; k++)
			is_sent &= write(from, page, sizeof(page)) == sizeof(page);
		is_sent &= setsockopt(from, IPPROTO_TCP, TCP_CORK, &off, sizeof(off)) == 0;
		for (int k = 0; is_sent && k < 20; k++)
			is_sent = recv(to, page, sizeof(page), MSG_WAITALL) == sizeof(page);
	}
	close(from);
	close(to);
	close(listener);
	return is_sent;
}

static int target_io(void)
{
	char path[] = "/tmp/vprof-runtime-io-XXXXXX", byte;
	struct pollfd p = { -1, POLLIN, 0 };
	struct timespec soon = { 0, 20000000 };
	aio_context_t events = 0;
	struct io_event event;
	int fd = mkstemp(path), sockets[2], pipes[2];
	pid_t parent = getpid();
	pthread_t id;

	probed();
	if (write(fd, path, sizeof(path)) != sizeof(path) || fdatasync(fd) ||
	    socketpair(AF_UNIX, SOCK_STREAM, 0, sockets) || pipe(pipes))
		return 1;
	if (fork() == 0) {
		until_asleep(parent, parent);
		if (write(sockets[0], "x", 1) != 1)
			return 1;
		until_asleep(parent, parent);
		if (write(pipes[1], "y", 1) != 1)
			return 1;
		until_asleep(parent, parent);
		return 0;
	}
	if (read(sockets[1], &byte, 1) != 1 || read(pipes[0], &byte, 1) != 1 || wait(NULL) < 0)
		return 1;
	poll(&p, 1, 20);
	if (syscall(SYS_io_setup, 1, &events) || syscall(SYS_io_getevents, events, 1, 1, &event, &soon) != 0 ||
	    syscall(SYS_io_destroy, events))
		return 1;
	if (!work_in_kernel(sockets[0]))
		return 1;
	errno = 0;
	if (read(-1, &byte, 1) != -1 || errno != EBADF)
		return 1;
	close(fd);
	unlink(path);
	sem_init(&sem, 0, 0);
	pthread_create(&id, NULL, cancelled, NULL);
	while (!waiter)
		sched_yield();
	until_asleep(parent, waiter);
	pthread_cancel(id);
	pthread_join(id, NULL);
	return !make_corks_wait() ? SESSION_SKIPPED : !uncork();
}

static int target_fork(void)
{
	for (int i = 0; i < 1000; i++)
		probed();
	for (int p = 0; p < 3; p++) {
		if (fork() == 0) {
			for (int i = 0; i < 20000; i++)
				probed();
			vprof_type("child");
			if (p == 2)
				session_exec("execed");
			_exit(0);
		}
	}
	vprof_type("child");
	for (int i = 0; i < 20000; i++)
		probed();
	while (wait(NULL) > 0)
		;
	return 0;
}

static int target_execed(void)
{
	for (int i = 0; i < 100; i++)
		probed();
	return 0;
}

/* Matching, as the analysis will do it, against the holder that the program saw. */

struct wake {
	uint64_t object, t;
	uint32_t before, after, seq;
	int who;
};
struct match {
	uint64_t object;
	int use_address_only;
	struct wake *wakes;
	size_t n_wakes, room;
	int *who; /* by thread_seq */
	const struct vp_unit *wait;
	uint32_t thread;
	int n_waits, n_missed, n_wrong, n_behind;
	uint64_t kinds[VP_WAIT_COUNT], wake_kinds[VP_WAIT_COUNT];
	uint64_t longest[VP_WAIT_COUNT]; /* ticks */
	uint64_t step_hash, step_t, end; /* the last step, and when the last wait since ended */
	uint32_t step_thread;
	int n_outside; /* waits of such a thread that do not lie between the two steps that enclose them */
	uint32_t flags[VP_WAIT_COUNT];
	int n_completions; /* waits in io_getevents */
	int n_options, n_allocations;
	uint64_t me_hash;
};

static void collect_step(struct match *m, const struct vprof_trace_thread *th, const struct vp_unit *u)
{
	if (VP_CODE(u->w) == VP_KIND_WORK && u[1].t == m->step_hash) {
		m->n_outside += m->step_thread == th->thread_seq && m->end > u->t;
		m->step_thread = th->thread_seq;
		m->step_t = u->t;
		m->end = 0;
	} else if (VP_CODE(u->w) == VP_KIND_WAIT && m->step_thread == th->thread_seq) {
		m->n_outside += u->t < m->step_t;
		m->end = u[2].t;
	}
}

static void collect(const struct vprof_trace_thread *th, const struct vp_unit *u, uint32_t n, void *arg)
{
	struct match *m = arg;

	(void)n;
	collect_step(m, th, u);
	if (VP_CODE(u->w) == VP_KIND_WORK && u[1].t == m->me_hash)
		m->who[th->thread_seq] = (int)u[1].w;
	if (VP_CODE(u->w) == VP_KIND_WAIT) {
		unsigned kind = VP_PAYLOAD(u->w) & 0xff;

		m->kinds[kind]++;
		m->flags[kind] |= (uint32_t)(VP_PAYLOAD(u->w) >> 8);
		m->n_completions += kind == VP_WAIT_DISK && (u[2].w & 0xffff) == VP_CALL_IO_GETEVENTS;
		m->n_options += kind == VP_WAIT_SOCKET && (u[2].w & 0xffff) == VP_CALL_SETSOCKOPT;
		m->n_allocations += kind == VP_WAIT_DISK && (u[2].w & 0xffff) == VP_CALL_FALLOCATE;
		if (u[2].t - u->t > m->longest[kind])
			m->longest[kind] = u[2].t - u->t;
	}
	if (VP_CODE(u->w) != VP_KIND_WAKE)
		return;
	m->wake_kinds[VP_PAYLOAD(u->w) & 0xff]++;
	if (m->n_wakes == m->room) {
		m->room = m->room ? 2 * m->room : 4096;
		m->wakes = realloc(m->wakes, m->room * sizeof(*m->wakes));
	}
	m->wakes[m->n_wakes++] = (struct wake){ u[1].t,
						u->t,
						(uint32_t)u[1].w,
						(uint32_t)(u[1].w >> 32),
						(uint32_t)(VP_PAYLOAD(u->w) >> VP_SEQ_SHIFT),
						(int)th->thread_seq };
}

static int by_time(const void *a, const void *b)
{
	const struct wake *x = a, *y = b;

	return x->t < y->t ? -1 : x->t > y->t;
}

/* The WORK "holder" record that follows a WAIT tells who must have woken it. */
static void match_waits(const struct vprof_trace_thread *th, const struct vp_unit *u, uint32_t n, void *arg)
{
	struct match *m = arg;
	const struct wake *best = NULL;
	uint64_t t0, t1;
	uint32_t seq;

	(void)n;
	if (VP_CODE(u->w) == VP_KIND_WAIT) {
		unsigned kind = VP_PAYLOAD(u->w) & 0xff;

		m->wait = kind == VP_WAIT_MUTEX || kind == VP_WAIT_SEMAPHORE ? u : NULL;
		m->thread = th->thread_seq;
		return;
	}
	if (VP_CODE(u->w) != VP_KIND_WORK || !m->wait || m->thread != th->thread_seq)
		return;
	t0 = m->wait->t;
	t1 = m->wait[2].t;
	seq = (uint32_t)(VP_PAYLOAD(m->wait->w) >> VP_SEQ_SHIFT);
	for (size_t i = 0; i < m->n_wakes; i++) {
		const struct wake *w = &m->wakes[i];
		uint32_t ticket = (uint32_t)m->wait[1].w;
		int inside = w->t >= t0 && w->t <= t1 && w->before >= ticket;
		int late = w->before < ticket && ticket <= w->after; /* the ticket alone tells */

		if (w->object != m->wait[1].t || (!inside && !late))
			continue;
		if (w->seq == seq) { /* the number of the release that let it in */
			best = w;
			break;
		}
		if (!best || w->before > best->before || (w->before == best->before && w->t > best->t))
			best = w;
	}
	m->n_waits++;
	if (!best)
		m->n_missed++;
	else if (m->who[best->who] != (int)u[1].w)
		m->n_wrong++;
	m->n_behind += best && best->t > t1;
	m->wait = NULL;
}

static void check_match(const char *mode, unsigned kind)
{
	struct match m;
	struct session s;

	memset(&m, 0, sizeof(m));
	if (session_run(&s, mode, 256u << 20, 0))
		exit(1);
	m.who = calloc(s.trace->n_threads + 4096, sizeof(int));
	m.me_hash = vprof_hash(VPROF_HASH_SEED, "me", 2);
	session_each(&s, collect, &m);
	qsort(m.wakes, m.n_wakes, sizeof(*m.wakes), by_time);
	session_each(&s, match_waits, &m);
	printf("%s: %d waits, %d without a wake, %d with the wrong one, %d timed behind the wait, %d wakes\n", mode,
	       m.n_waits, m.n_missed, m.n_wrong, m.n_behind, (int)m.n_wakes);
	CHECK(m.kinds[kind] >= (kind == VP_WAIT_MUTEX ? N_CONTENDED : 1), "%d waits of this kind", (int)m.kinds[kind]);
	/* Exact: a release that came too late for a waiter's second try sees the waiter, and has a number. */
	CHECK(m.n_missed == 0 && m.n_wrong == 0, "edges");
	CHECK(s.trace->n_dropped == 0, "dropped");
	free(m.who);
	free(m.wakes);
	session_end(&s);
}

static void check_each(void)
{
	static const unsigned waits[] = { VP_WAIT_COND, VP_WAIT_RWLOCK_WRITE, VP_WAIT_BARRIER,	 VP_WAIT_SEMAPHORE,
					  VP_WAIT_JOIN, VP_WAIT_SPIN,	      VP_WAIT_ANNOTATED, VP_WAIT_SLEEP };
	struct match m;
	struct session s;

	memset(&m, 0, sizeof(m));
	m.step_hash = vprof_hash(VPROF_HASH_SEED, "step", 4);
	if (session_run(&s, "each", 16u << 20, 10))
		exit(1);
	m.who = calloc(s.trace->n_threads + 4096, sizeof(int));
	session_each(&s, collect, &m);
	for (size_t i = 0; i < sizeof(waits) / sizeof(waits[0]); i++) {
		double ms = (double)m.longest[waits[i]] * s.trace->header.ns_per_tick / 1e6;

		CHECK(m.kinds[waits[i]] > 0 && ms > 0.99 * WAIT_MS, "wait of kind %u: %d, %.1f ms", waits[i],
		      (int)m.kinds[waits[i]], ms);
		if (waits[i] == VP_WAIT_RWLOCK_WRITE) /* a reader let the writer in */
			m.wake_kinds[waits[i]] += m.wake_kinds[VP_WAIT_RWLOCK_READ];
		CHECK(m.wake_kinds[waits[i]] > 0 || waits[i] == VP_WAIT_SLEEP, "no wake of kind %u", waits[i]);
	}
	CHECK(m.n_outside == 0, "%d waits are not between the steps around them", m.n_outside);
	CHECK(m.flags[VP_WAIT_COND] & VP_FLAG_TIMEOUT, "timed wait");
	CHECK(m.flags[VP_WAIT_SEMAPHORE] & VP_FLAG_TIMEOUT, "timed semaphore");
	CHECK(session_count(&s, VP_KIND_FALSE_WAKE) == 1, "false wake-up");
	CHECK(session_count(&s, VP_KIND_STACK) > 5, "stacks");
	free(m.who);
	free(m.wakes);
	session_end(&s);
}

static void check_io(void)
{
	static const unsigned waits[] = { VP_WAIT_DISK, VP_WAIT_SOCKET, VP_WAIT_PIPE,
					  VP_WAIT_POLL, VP_WAIT_SLEEP,	VP_WAIT_CHILD };
	struct match m;
	struct session s;
	int n_corks = N_CORKS;

	memset(&m, 0, sizeof(m));
	if (session_run(&s, "io", 16u << 20, 10))
		exit(1);
	if (session_is_skipped(&s)) {
		printf("skipped: corks: system calls cannot be made signals here\n");
		n_corks = 0;
	}
	m.who = calloc(s.trace->n_threads + 4096, sizeof(int));
	session_each(&s, collect, &m);
	for (size_t i = 0; i < sizeof(waits) / sizeof(waits[0]); i++)
		CHECK(m.kinds[waits[i]] > 0, "no wait of kind %u", waits[i]);
	CHECK(m.flags[VP_WAIT_POLL] & VP_FLAG_TIMEOUT, "poll's timeout");
	CHECK(m.wake_kinds[VP_WAIT_CHILD] >= 2, "exit wakes the parent");
	/* the filter, and each cork put in and taken out */
	CHECK(m.n_options == 1 + 2 * n_corks && m.n_allocations == 1, "%d options, %d allocations", m.n_options,
	      m.n_allocations);
	CHECK(m.n_completions == 1, "%d waits for the completion of reads and writes", m.n_completions);
	free(m.who);
	free(m.wakes);
	session_end(&s);
}

static void check_fork(void)
{
	uint32_t processes = 0, children = 0;
	struct session s;

	if (session_run(&s, "fork", 64u << 20, 0))
		exit(1);
	CHECK(session_count(&s, CODE(1)) == 1000 + 4 * 20000 + 100, "%d calls", (int)session_count(&s, CODE(1)));
	CHECK(session_count(&s, VP_KIND_STRING) == 4, "strings %d", (int)session_count(&s, VP_KIND_STRING));
	CHECK(session_count(&s, VP_KIND_CREATE) == 3, "creations");
	CHECK(s.trace->n_threads == 5 && s.stats.n_processes == 5, "%d threads, %d processes", (int)s.trace->n_threads,
	      (int)s.stats.n_processes);
	for (size_t i = 0; i < s.trace->n_threads; i++) {
		struct vprof_trace_cursor c;
		const struct vp_unit *u;
		uint32_t n;

		vprof_trace_cursor_init(&c, &s.trace->threads[i]);
		u = vprof_trace_next(&c, &n);
		CHECK(u && VP_CODE(u->w) == VP_KIND_START, "START comes first");
		CHECK(u && (u[1].t != 0) == (s.trace->threads[i].parent_seq != 0), "token of the child");
		processes |= 1u << s.trace->threads[i].process_seq;
		children += s.trace->threads[i].parent_seq == 1;
	}
	CHECK(processes == 0x3e && children == 3, "process numbers 0x%x, %u children", processes, children);
	session_end(&s);
}

int main(int argc, char **argv)
{
	static const struct {
		const char *name;
		int (*run)(void);
	} targets[] = { { "mutex", target_mutex }, { "semaphore", target_semaphore }, { "each", target_each },
			{ "io", target_io },	   { "fork", target_fork },	      { "execed", target_execed } };

	for (size_t i = 0; argc > 2 && i < sizeof(targets) / sizeof(targets[0]); i++)
		if (strcmp(argv[2], targets[i].name) == 0)
			return targets[i].run();
	check_match("mutex", VP_WAIT_MUTEX);
	check_match("semaphore", VP_WAIT_SEMAPHORE);
	check_each();
	check_io();
	check_fork();
	printf("%d checks failed\n", n_failed);
	return n_failed != 0;
}
