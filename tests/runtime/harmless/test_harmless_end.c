/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Ends and full rings: the target killed at any moment, stopped and continued, the collector killed, more records than
 * room.
 * `--slow`: more kills. */
#define _GNU_SOURCE
#include <fcntl.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <sys/mman.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <time.h>

#include "tests/runtime/session.h"

#define N_THREADS 4
#define N_FLOOD 400000	       /* records of each thread */
#define LARGE_RING (64u << 20) /* more than all of them */

#define N_FAMILY 12 /* threads: four in each of three processes */

struct shared { /* between the target and its judge, VPROF_TEST_SHARED */
	struct {
		_Atomic uint64_t n_begun, n_done; /* calls recorded by this thread */
		/* How many it may record until the judge drains again: the ring never fills, however slow that is. */
		_Atomic uint64_t n_granted;
	} members[N_FAMILY];
	_Atomic int stop;
	_Atomic int is_closed; /* the gate of the thread that records */
};
static struct shared *shared;
#define GRANT 10000 /* records of each thread, in all far less than a ring */

static void wait_for_grant(unsigned member)
{
	while (shared->members[member].n_begun >= shared->members[member].n_granted && !shared->stop)
		sched_yield();
}

static void __attribute__((noinline)) call(void)
{
	VP_FUNCTION(0x131, 0xffffffffffffffffUL, 1)
}

static void __attribute__((noinline)) flood_call(void)
{
	VP_FUNCTION(0x132, 0xffffffffffffffffUL, 1)
}

static int shared_map(void)
{
	const char *path = getenv("VPROF_TEST_SHARED");
	int fd = path ? open(path, O_RDWR) : -1;

	shared = fd < 0 ? MAP_FAILED : mmap(NULL, sizeof(*shared), PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	if (fd >= 0)
		close(fd);
	return shared == MAP_FAILED ? -1 : 0;
}

/* Until it is killed, or told to stop. */
static int target_counts(void)
{
	if (shared_map())
		return 1;
	for (;;) {
		wait_for_grant(0);
		if (shared->stop)
			return 42;
		shared->members[0].n_begun++;
		call();
		shared->members[0].n_done++;
	}
}

static void __attribute__((noinline)) family_call(unsigned member)
{
	VP_FUNCTION(0x150u + member, 0xffffffffffffffffUL, 1)
}

static void *family_member(void *arg)
{
	unsigned self = (unsigned)(uintptr_t)arg;

	for (;;) {
		wait_for_grant(self);
		shared->members[self].n_begun++;
		family_call(self);
		shared->members[self].n_done++;
	}
	return NULL;
}

/* Two processes forked from one, four threads each, until all are killed. */
static int target_family(void)
{
	unsigned first = 0;
	pthread_t id;

	if (shared_map() || setpgid(0, 0))
		return 1;
	if (fork() == 0)
		first = 4;
	else if (fork() == 0)
		first = 8;
	for (unsigned i = 1; i < 4; i++)
		if (pthread_create(&id, NULL, family_member, (void *)(uintptr_t)(first + i)))
			return 1;
	family_member((void *)(uintptr_t)first);
	return 0;
}

static void *flood(void *arg)
{
	*(_Atomic pid_t *)arg = (pid_t)syscall(SYS_gettid);
	for (int i = 0; i < N_FLOOD; i++)
		flood_call();
	return NULL;
}

/* Ends when the threads are gone, by calls that are never recorded. */
static int target_flood(void)
{
	static _Atomic pid_t tids[N_THREADS];
	pthread_attr_t attr;
	pthread_t id;

	pthread_attr_init(&attr);
	pthread_attr_setdetachstate(&attr, PTHREAD_CREATE_DETACHED);
	for (int i = 0; i < N_THREADS; i++)
		if (pthread_create(&id, &attr, flood, &tids[i]))
			return 1;
	for (int i = 0; i < N_THREADS; i++)
		while (!tids[i] || syscall(SYS_tgkill, getpid(), tids[i], 0) == 0)
			sched_yield();
	return 0;
}

/* Records on and on, and says whether its gate is closed. */
static int target_records(void)
{
	if (shared_map())
		return 1;
	while (!shared->stop) {
		call();
		shared->members[0].n_done++;
		shared->is_closed = !vp_self->gate;
	}
	return 42;
}

/* The judge. */

static char shared_path[] = "/tmp/vprof-runtime-shared-XXXXXX";

static void shared_new(void)
{
	static int fd = -1;

	if (fd < 0)
		fd = mkstemp(shared_path);
	if (fd < 0 || ftruncate(fd, 0) || ftruncate(fd, sizeof(*shared)) || setenv("VPROF_TEST_SHARED", shared_path, 1))
		exit(1);
	if (!shared && shared_map())
		exit(1);
}

static pid_t target_start(const char *shm, const char *mode)
{
	pid_t pid = fork();

	if (pid == 0) {
		setenv("VPROF_SHM", shm, 1);
		setenv("LD_PRELOAD", VPROF_LIBRARY, 1);
		session_exec(mode);
		_exit(127);
	}
	return pid;
}

static struct vprof_collector *collector_in(struct session *s, uint64_t memory_bytes)
{
	struct vprof_collector_options o = { .trace_dir = s->dir, .memory_bytes = memory_bytes };
	struct vprof_collector *c = NULL;
	struct vprof_error err = { "" };

	if (vprof_collector_open(&c, &o, &err)) {
		printf("collector: %s\n", err.message);
		exit(1);
	}
	return c;
}

static struct vprof_collector *collector_open(struct session *s, uint64_t memory_bytes)
{
	memset(s, 0, sizeof(*s));
	strcpy(s->dir, "/tmp/vprof-runtime-XXXXXX");
	if (!mkdtemp(s->dir))
		exit(1);
	return collector_in(s, memory_bytes);
}

static void collector_end(struct session *s, struct vprof_collector *c)
{
	struct vprof_error err = { "" };

	if (vprof_collector_close(c, &s->stats, &err) || vprof_trace_open(&s->trace, s->dir, &err)) {
		printf("trace: %s\n", err.message);
		exit(1);
	}
	vprof_trace_check(s->trace);
}

static void drain(struct vprof_collector *c)
{
	uint64_t n_begun[N_FAMILY];

	for (int i = 0; i < N_FAMILY; i++)
		n_begun[i] = shared->members[i].n_begun;
	while (vprof_collector_drain(c))
		;
	for (int i = 0; i < N_FAMILY; i++)
		shared->members[i].n_granted = n_begun[i] + GRANT;
}

static void drain_for(struct vprof_collector *c, long us)
{
	struct timespec start, now;

	clock_gettime(CLOCK_MONOTONIC, &start);
	do {
		drain(c);
		usleep(us < 2000 ? 100 : 2000);
		clock_gettime(CLOCK_MONOTONIC, &now);
	} while ((now.tv_sec - start.tv_sec) * 1000000 + (now.tv_nsec - start.tv_nsec) / 1000 < us);
}

/* At a random moment; every other time not before its first call. */
static void kill_soon(struct vprof_collector *c, int i, const _Atomic uint64_t *n_begun, pid_t pid)
{
	while (i % 2 && !*n_begun)
		drain_for(c, 1000);
	drain_for(c, 1000 + random() % 60000);
	kill(pid, SIGKILL);
}

/* Killed within a chunk, at its change, or before the first record. */
static void check_kills(int n)
{
	uint64_t total = 0;

	srandom(1);
	for (int i = 0; i < n; i++) {
		struct session s;
		struct vprof_collector *c;
		uint64_t recorded, begun, done;
		pid_t pid;

		shared_new();
		c = collector_open(&s, 16u << 20);
		pid = target_start(vprof_collector_shm(c), "counts");
		kill_soon(c, i, &shared->members[0].n_begun, pid);
		waitpid(pid, &s.status, 0);
		collector_end(&s, c);
		recorded = session_count(&s, 0x131);
		begun = shared->members[0].n_begun;
		done = shared->members[0].n_done;
		CHECK(recorded + s.trace->n_dropped >= done && recorded <= begun,
		      "kill %d: %llu read back, %llu to %llu written", i, (unsigned long long)recorded,
		      (unsigned long long)done, (unsigned long long)begun);
		CHECK(!s.trace->n_dropped && !s.trace->n_bytes_ignored, "kill %d: %d dropped, %d damaged", i,
		      (int)s.trace->n_dropped, (int)s.trace->n_bytes_ignored);
		total += recorded;
		session_end(&s);
	}
	printf("%d kills: %llu records read back\n", n, (unsigned long long)total);
	CHECK(total > 0, "nothing was recorded");
}

/* All threads and children of a program at once. */
static void check_family_kills(int n)
{
	uint64_t total = 0;

	prctl(PR_SET_CHILD_SUBREAPER, 1);
	for (int i = 0; i < n; i++) {
		struct vprof_collector *c;
		struct session s;
		pid_t pid;

		shared_new();
		c = collector_open(&s, 16u << 20);
		pid = target_start(vprof_collector_shm(c), "family");
		kill_soon(c, i, &shared->members[0].n_begun, -pid);
		kill(pid, SIGKILL); /* if it is no group of its own yet */
		waitpid(pid, &s.status, 0);
		kill(-pid, SIGKILL);
		while (waitpid(-1, NULL, 0) > 0) /* its children, which are ours now */
			;
		collector_end(&s, c);
		for (unsigned j = 0; j < N_FAMILY; j++) {
			uint64_t recorded = session_count(&s, 0x150 + j);

			CHECK(recorded >= shared->members[j].n_done && recorded <= shared->members[j].n_begun,
			      "kill %d, thread %u: %llu read back, %llu to %llu written", i, j,
			      (unsigned long long)recorded, (unsigned long long)shared->members[j].n_done,
			      (unsigned long long)shared->members[j].n_begun);
			total += recorded;
		}
		CHECK(!s.trace->n_dropped && !s.trace->n_bytes_ignored, "kill %d: %d dropped, %d damaged", i,
		      (int)s.trace->n_dropped, (int)s.trace->n_bytes_ignored);
		session_end(&s);
	}
	printf("%d kills of 12 threads in 3 processes: %llu records read back\n", n, (unsigned long long)total);
	CHECK(total > 0, "nothing was recorded");
}

static void check_stops(void)
{
	struct vprof_collector *c;
	struct session s;
	uint64_t recorded;
	pid_t pid;

	shared_new();
	c = collector_open(&s, 16u << 20);
	pid = target_start(vprof_collector_shm(c), "counts");
	for (int i = 0; i < 20; i++) {
		drain_for(c, 5000);
		kill(pid, SIGSTOP);
		drain_for(c, i == 10 ? 500000 : 5000); /* longer than the collector's look for dead processes */
		kill(pid, SIGCONT);
	}
	shared->stop = 1;
	waitpid(pid, &s.status, 0);
	collector_end(&s, c);
	recorded = session_count(&s, 0x131);
	CHECK(WIFEXITED(s.status) && WEXITSTATUS(s.status) == 42, "status 0x%x", s.status);
	CHECK(recorded == shared->members[0].n_done && !s.trace->n_dropped, "%d of %d", (int)recorded,
	      (int)shared->members[0].n_done);
	session_end(&s);
}

/* The collector as a process of its own, killed. Its successor removes what it left in /dev/shm. */
static pid_t collector_start(char shm[64])
{
	int said[2];
	pid_t pid;

	if (pipe(said))
		exit(1);
	pid = fork();
	if (pid == 0) {
		struct session s;
		struct vprof_collector *c = collector_open(&s, 8u << 20);
		char path[64] = "";

		vprof_dir_remove(s.dir, NULL);
		strncpy(path, vprof_collector_shm(c), sizeof(path) - 1);
		if (write(said[1], path, sizeof(path)) != sizeof(path))
			_exit(1);
		for (;;) {
			vprof_collector_drain(c);
			usleep(2000);
		}
	}
	if (read(said[0], shm, 64) != 64)
		exit(1);
	close(said[0]);
	close(said[1]);
	return pid;
}

static long resident_kb(pid_t pid)
{
	char path[64], line[128];
	long kb = -1;
	FILE *f;

	snprintf(path, sizeof(path), "/proc/%d/status", (int)pid);
	f = fopen(path, "r");
	while (f && fgets(line, sizeof(line), f))
		if (sscanf(line, "RssAnon: %ld", &kb) == 1)
			break;
	if (f)
		fclose(f);
	return kb;
}

/* Is `condition` true some time? The test's own time limit is the only one. */
#define WAIT_UNTIL(condition)                                                                                          \
	do {                                                                                                           \
		while (!(condition))                                                                                   \
			usleep(1000);                                                                                  \
	} while (0)

static void check_collector_death(void)
{
	long kb_before, kb_after;
	pid_t collector, pid;
	uint64_t n_done;
	struct session s;
	char shm[64];
	int status;

	shared_new();
	collector = collector_start(shm);
	pid = target_start(shm, "records");
	WAIT_UNTIL(shared->members[0].n_done > 100000);
	kb_before = resident_kb(pid);
	CHECK(!shared->is_closed, "nothing is recorded");
	kill(collector, SIGKILL);
	waitpid(collector, NULL, 0);
	WAIT_UNTIL(shared->is_closed); /* a second after the ring became full */
	n_done = shared->members[0].n_done;
	WAIT_UNTIL(shared->members[0].n_done > n_done + 1000000);
	kb_after = resident_kb(pid);
	shared->stop = 1;
	waitpid(pid, &status, 0);
	CHECK(WIFEXITED(status) && WEXITSTATUS(status) == 42, "status 0x%x", status);
	CHECK(kb_before > 0 && kb_after <= kb_before + 1024, "memory grew from %ld to %ld KiB", kb_before, kb_after);
	vprof_collector_close(collector_open(&s, 8u << 20), NULL, NULL);
	vprof_dir_remove(s.dir, NULL);
	CHECK(access(shm, F_OK) != 0, "%s is still there", shm);
}

/* With a collector that drains as it can, and with one that waits until the target is gone. */
static void check_full(int waits)
{
	uint64_t n, attempted = (uint64_t)N_THREADS * N_FLOOD;
	struct session s;

	session_drains_at_stops = waits;
	if (session_run(&s, "flood", 1u << 20, 0))
		exit(1);
	session_drains_at_stops = 0;
	n = session_count(&s, 0x132) + session_count(&s, VP_KIND_CREATE) + session_count(&s, VP_KIND_EXIT) +
	    session_count(&s, VP_KIND_WAKE) + session_count(&s, VP_KIND_WAIT) + session_count(&s, VP_KIND_STACK);
	printf("full ring: %llu read back, %llu dropped, %llu attempted\n", (unsigned long long)n,
	       (unsigned long long)s.trace->n_dropped, (unsigned long long)attempted);
	CHECK(s.trace->n_dropped > 0 || !waits, "the ring was meant to be too small");
	/* CREATE, WAKE with its STACK and EXIT of each thread; the same and a second WAKE as the process ends. */
	CHECK(n + s.trace->n_dropped == attempted + 4 * N_THREADS + 5, "made %llu",
	      (unsigned long long)(n + s.trace->n_dropped));
	session_end(&s);
}

static void count_any(const struct vprof_trace_thread *th, const struct vp_unit *u, uint32_t n, void *arg)
{
	(void)th;
	(void)n;
	*(uint64_t *)arg += VP_CODE(u->w) != VP_KIND_DROPPED;
}

static uint64_t records_of(const struct session *s)
{
	uint64_t n = 0;

	session_each(s, count_any, &n);
	return n;
}

/* All records of the target, of every kind, when there is room for them. */
static uint64_t records_attempted(void)
{
	struct session s;
	uint64_t n;

	if (session_run(&s, "flood", LARGE_RING, 0))
		exit(1);
	n = records_of(&s);
	CHECK(n > N_THREADS * N_FLOOD && !s.trace->n_dropped, "%d dropped", (int)s.trace->n_dropped);
	session_end(&s);
	return n;
}

/* A file system of 2 MiB, or where that may not be mounted a limit on the file's size. The records that the disk does
 * not take are drained all the same, so the ring stays free and the target is not slowed; a small ring is full besides.
 */
static void check_full_disk(bool may_mount, uint64_t ring_bytes, uint64_t attempted)
{
	const struct rlimit small = { 2u << 20, RLIM_INFINITY }, none = { RLIM_INFINITY, RLIM_INFINITY };
	struct vprof_collector *c;
	struct session s;
	uint64_t n;
	bool mounted;
	pid_t pid;

	memset(&s, 0, sizeof(s));
	strcpy(s.dir, "/tmp/vprof-runtime-XXXXXX");
	if (!mkdtemp(s.dir))
		exit(1);
	mounted = may_mount && mount("none", s.dir, "tmpfs", 0, "size=2m") == 0;
	if (may_mount && !mounted) {
		printf("skipped: a full file system: mounting one needs root\n");
		vprof_dir_remove(s.dir, NULL);
		return;
	}
	c = collector_in(&s, ring_bytes);
	pid = target_start(vprof_collector_shm(c), "flood");
	if (!mounted) {
		signal(SIGXFSZ, SIG_IGN);
		setrlimit(RLIMIT_FSIZE, &small);
	}
	while (waitpid(pid, &s.status, WNOHANG) != pid)
		if (!vprof_collector_drain(c))
			usleep(1000);
	collector_end(&s, c);
	setrlimit(RLIMIT_FSIZE, &none);
	CHECK(s.status == 0, "status 0x%x", s.status);
	CHECK(s.stats.disk_failed == (mounted ? ENOSPC : EFBIG), "%s", strerror(s.stats.disk_failed));
	CHECK(s.stats.n_bytes <= 2u << 20 && s.stats.n_bytes > 1u << 20, "%llu bytes",
	      (unsigned long long)s.stats.n_bytes);
	n = records_of(&s);
	printf("%s: %llu read back, %llu dropped, %llu attempted\n",
	       mounted ? "full file system" : "file of limited size", (unsigned long long)n,
	       (unsigned long long)s.trace->n_dropped, (unsigned long long)attempted);
	CHECK(s.trace->n_dropped > 0 && n + s.trace->n_dropped == attempted, "made %llu",
	      (unsigned long long)(n + s.trace->n_dropped));
	CHECK(!s.trace->n_bytes_ignored, "%d damaged", (int)s.trace->n_bytes_ignored);
	vprof_trace_free(s.trace);
	s.trace = NULL;
	if (mounted)
		umount(s.dir);
	vprof_dir_remove(s.dir, NULL);
}

/* No room from the beginning on: the message says so, and what to do. */
static void check_no_room(void)
{
	char dir[] = "/tmp/vprof-runtime-XXXXXX", records[64];
	struct vprof_collector_options o = { .trace_dir = dir, .memory_bytes = 1u << 20 };
	struct vprof_collector *c = NULL;
	struct vprof_error err = { "" };

	if (!mkdtemp(dir))
		exit(1);
	snprintf(records, sizeof(records), "%s/records.vpt", dir);
	if (symlink("/dev/full", records))
		exit(1);
	CHECK(vprof_collector_open(&c, &o, &err) != 0, "there was room");
	CHECK(strstr(err.message, "No space left") && strstr(err.message, "free space"), "%s", err.message);
	vprof_dir_remove(dir, NULL);
}

int main(int argc, char **argv)
{
	uint64_t attempted;

	if (argc > 2 && strcmp(argv[2], "counts") == 0)
		return target_counts();
	if (argc > 2 && strcmp(argv[2], "flood") == 0)
		return target_flood();
	if (argc > 2 && strcmp(argv[2], "family") == 0)
		return target_family();
	if (argc > 2 && strcmp(argv[2], "records") == 0)
		return target_records();
	if (argc > 1 && strcmp(argv[1], "--slow") == 0) {
		check_kills(1000);
		check_family_kills(200);
	} else {
		check_kills(50);
		check_family_kills(10);
		check_stops();
		check_collector_death();
		check_full(0);
		check_full(1);
		attempted = records_attempted();
		check_full_disk(true, LARGE_RING, attempted);
		check_full_disk(false, LARGE_RING, attempted);
		check_full_disk(false, 4u << 20, attempted);
		check_no_room();
	}
	if (shared)
		unlink(shared_path);
	printf("%d checks failed\n", n_failed);
	return n_failed != 0;
}
