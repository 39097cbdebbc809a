/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Who woke a thread, where soft interrupts and packets are not followed (recorder/soft_interrupts.h): programs that
 * begin once the recorder has left them, and know who wakes them. Where the machine's own interfaces never rest they
 * are not left, and these tests are skipped.
 */
#define _GNU_SOURCE
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include <arpa/inet.h>
#include <fcntl.h>
#include <net/if.h>
#include <netinet/tcp.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#include "tests/recorder/recorded.h"
#include "recorder/requirements.h"
#include "recorder/soft_interrupts.h"

#define PLAY "t:play"
#define NEVER_LEFT 77 /* exit statuses of programs */
#define NO_DISK 78
#define PATIENCE_S 20

static struct told {
	uint32_t tids[2];
	uint32_t interface;
	int is_over;
} *told;

static int looks_up(void)
{
	return __atomic_load_n(recorder_looks_up, __ATOMIC_ACQUIRE);
}

/* 0: they never were left, or for other packets' sake not long enough. */
static int wait_until_looked_up(void)
{
	for (int i = 0; i < PATIENCE_S * 1000 && looks_up() >= 0; i++) {
		if (looks_up() == 1)
			return 1;
		usleep(1000);
	}
	return 0;
}

static void skip_not_left(void)
{
	print_message("skipped: waits that are looked up: packets of other interfaces than loopback's keep coming\n");
	skip();
}

static void record_looked_up(struct recorded *r, int (*program)(void))
{
	memset(told, 0, sizeof *told);
	record(r, program, 0, 0);
	if (WIFEXITED(r->status) && WEXITSTATUS(r->status) == NEVER_LEFT)
		skip_not_left();
	if (WIFEXITED(r->status) && WEXITSTATUS(r->status) == NO_DISK) {
		print_message(
			"skipped: requests of disks: no file can be made in /var/tmp that is written past the page cache\n");
		skip();
	}
	assert_int_equal(r->status, 0);
}

/* The kernel may keep some to itself (docs/design/recorder.md), seldom more than one in a hundred. */
static void expect_nearly_all(const struct recorded *r, uint64_t n, uint64_t least, uint64_t most)
{
	assert_in_range(n, is_whole(r) ? least : least * 9 / 10, most);
}

/* By which kernel thread packets are handled that a CPU has no time for at once. */
static int is_ksoftirqd(uint32_t tid)
{
	char path[64], comm[32] = "";
	FILE *f;

	snprintf(path, sizeof path, "/proc/%u/comm", tid);
	f = fopen(path, "re");
	if (!f)
		return 0;
	if (!fgets(comm, sizeof comm, f))
		comm[0] = 0;
	fclose(f);
	return !strncmp(comm, "ksoftirqd/", 10);
}

/* Two threads wake each other by turns, over loopback and by a futex-less pipe, each when the other sleeps. */
#define ROUNDS 200
static int ends[2], pipes[2][2];

static int connect_ends(void)
{
	struct sockaddr_in a = { .sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK) };
	socklen_t size = sizeof a;
	int one = 1, listener = socket(AF_INET, SOCK_STREAM, 0);

	if (bind(listener, (struct sockaddr *)&a, sizeof a) || listen(listener, 1) ||
	    getsockname(listener, (struct sockaddr *)&a, &size))
		return 0;
	ends[0] = socket(AF_INET, SOCK_STREAM, 0);
	if (connect(ends[0], (struct sockaddr *)&a, sizeof a))
		return 0;
	ends[1] = accept(listener, NULL, NULL);
	for (int i = 0; i < 2; i++)
		setsockopt(ends[i], IPPROTO_TCP, TCP_NODELAY, &one, sizeof one);
	return pipe(pipes[0]) == 0 && pipe(pipes[1]) == 0;
}

static void turn(int me)
{
	char c = 'x';

	for (int i = 0; i < 2 * ROUNDS; i++) {
		int by_socket = i < ROUNDS, in = by_socket ? ends[me] : pipes[me][0],
		    out = by_socket ? ends[me] : pipes[!me][1];

		if (!me) /* often enough it would be cheaper to follow packets */
			usleep(1000);
		if (me && read(in, &c, 1) != 1)
			abort();
		wait_until_asleep((uint32_t)getpid(), told->tids[!me]);
		if (write(out, &c, 1) != 1 || (!me && read(in, &c, 1) != 1))
			abort();
	}
}

static pthread_barrier_t both;

static void *answer(void *unused)
{
	told->tids[1] = (uint32_t)gettid();
	pthread_barrier_wait(&both);
	prctl(PR_SET_NAME, PLAY);
	turn(1);
	prctl(PR_SET_NAME, "t:end");
	return unused;
}

static int play(void)
{
	pthread_t thread;

	told->tids[0] = (uint32_t)gettid();
	if (!connect_ends() || pthread_barrier_init(&both, NULL, 2))
		return 1;
	if (!wait_until_looked_up())
		return NEVER_LEFT;
	if (pthread_create(&thread, NULL, answer, NULL))
		return 1;
	pthread_barrier_wait(&both);
	prctl(PR_SET_NAME, PLAY);
	turn(0);
	prctl(PR_SET_NAME, "t:end");
	pthread_join(thread, NULL);
	return looks_up() == 1 ? 0 : NEVER_LEFT;
}

static void test_turns(void **state)
{
	uint64_t n_packets = 0, n_pipes = 0;
	struct recorded r;
	int plays[2] = { 0 };

	(void)state;
	record_looked_up(&r, play);
	for (size_t i = 0; i < r.n; i++) {
		const struct vprof_kernel_event *e = &r.events[i];

		for (int k = 0; k < 2; k++) {
			if (e->kind == VP_KIND_KERNEL_TASK && e->task.tid == told->tids[k])
				plays[k] = !strcmp(e->task.comm, PLAY);
			if (e->kind != VP_KIND_KERNEL_WAKING || e->waking.wakee_tid != told->tids[k] || !plays[0] ||
			    !plays[1] || e->waking.source == VP_SOURCE_TIMER)
				continue;
			if (e->waking.context == VP_CONTEXT_NET_RX) {
				assert_int_equal(e->waking.source, VP_SOURCE_NET);
				assert_int_equal(e->waking.source_id, if_nametoindex("lo"));
				assert_true(e->waking.current_tid == told->tids[!k] ||
					    is_ksoftirqd(e->waking.current_tid));
				n_packets++;
			} else {
				assert_int_equal(e->waking.context, VP_CONTEXT_TASK);
				assert_int_equal(e->waking.current_tid, told->tids[!k]);
				n_pipes++;
			}
		}
	}
	print_message("%llu wake-ups by packets, %llu by pipes\n", (unsigned long long)n_packets,
		      (unsigned long long)n_pipes);
	/* Begin and end of one may lie beyond the other's. */
	expect_nearly_all(&r, n_packets, 2 * ROUNDS - 2, 2 * ROUNDS);
	expect_nearly_all(&r, n_pipes, 2 * ROUNDS - 2, 2 * ROUNDS);
	release(&r);
}

/* A time limit of a receive ends in the timers' soft interrupt: here often in one that interrupts another thread, at
 * work in the program on the same CPU, whose stack it uses. */
#define LIMITS 40

static void *work(void *unused)
{
	told->tids[1] = (uint32_t)gettid();
	while (!__atomic_load_n(&told->is_over, __ATOMIC_ACQUIRE))
		;
	return unused;
}

static int wait_in_vain(void)
{
	const struct timeval limit = { 0, 8000 };
	int pair[2];
	pthread_t thread;
	cpu_set_t one;
	char c;

	told->tids[0] = (uint32_t)gettid();
	CPU_ZERO(&one);
	CPU_SET(sched_getcpu(), &one);
	if (sched_setaffinity(0, sizeof one, &one) || socketpair(AF_UNIX, SOCK_STREAM, 0, pair) ||
	    setsockopt(pair[0], SOL_SOCKET, SO_RCVTIMEO, &limit, sizeof limit))
		return 1;
	if (!wait_until_looked_up())
		return NEVER_LEFT;
	if (pthread_create(&thread, NULL, work, NULL))
		return 1;
	prctl(PR_SET_NAME, PLAY);
	for (int i = 0; i < LIMITS; i++)
		if (recv(pair[0], &c, 1, 0) != -1)
			return 1;
	prctl(PR_SET_NAME, "t:end");
	__atomic_store_n(&told->is_over, 1, __ATOMIC_RELEASE);
	pthread_join(thread, NULL);
	return looks_up() == 1 ? 0 : NEVER_LEFT;
}

static void test_limits(void **state)
{
	struct recorded r;
	int plays = 0, n = 0, n_beside = 0;

	(void)state;
	record_looked_up(&r, wait_in_vain);
	for (size_t i = 0; i < r.n; i++) {
		const struct vprof_kernel_event *e = &r.events[i];

		if (e->kind == VP_KIND_KERNEL_TASK && e->task.tid == told->tids[0])
			plays = !strcmp(e->task.comm, PLAY);
		if (e->kind != VP_KIND_KERNEL_WAKING || e->waking.wakee_tid != told->tids[0] || !plays)
			continue;
		assert_int_equal(e->waking.context, VP_CONTEXT_TIMER);
		assert_int_equal(e->waking.source, VP_SOURCE_TIMER);
		n_beside += e->waking.current_tid == told->tids[1];
		n++;
	}
	print_message("%d limits, %d of them while the other thread worked\n", n, n_beside);
	expect_nearly_all(&r, (uint64_t)n, LIMITS, LIMITS);
	release(&r);
}

/* Who waits for a disk is woken where its interrupts arrive, often by a CPU that is idle meanwhile. */
#define WRITES 40

static int write_to_disk(void)
{
	char name[] = "/var/tmp/vprof-disk-XXXXXX";
	int file = mkostemp(name, O_DIRECT | O_DSYNC), bad = 0;
	void *block;

	told->tids[0] = (uint32_t)gettid();
	if (file < 0)
		return NO_DISK;
	unlink(name);
	if (posix_memalign(&block, 4096, 4096))
		return 1;
	memset(block, 'x', 4096);
	if (!wait_until_looked_up())
		return NEVER_LEFT;
	prctl(PR_SET_NAME, PLAY);
	for (int i = 0; i < WRITES; i++)
		bad |= pwrite(file, block, 4096, i * 65536) != 4096;
	prctl(PR_SET_NAME, "t:end");
	free(block);
	close(file);
	return bad;
}

static void test_disk(void **state)
{
	struct recorded r;
	int plays = 0, n = 0, n_issued = 0, n_unknown = 0;

	(void)state;
	record_looked_up(&r, write_to_disk);
	for (size_t i = 0; i < r.n; i++) {
		const struct vprof_kernel_event *e = &r.events[i];

		if (e->kind == VP_KIND_KERNEL_TASK && e->task.tid == told->tids[0])
			plays = !strcmp(e->task.comm, PLAY);
		n_issued += plays && e->kind == VP_KIND_KERNEL_BLOCK_ISSUE && e->block.tid == told->tids[0];
		if (e->kind != VP_KIND_KERNEL_WAKING || e->waking.wakee_tid != told->tids[0] || !plays)
			continue;
		assert_true(e->waking.current_tid || e->waking.context != VP_CONTEXT_TASK); /* idle CPUs wake nobody */
		n += e->waking.source == VP_SOURCE_BLOCK;
		n_unknown += e->waking.context != VP_CONTEXT_TASK && e->waking.source == VP_SOURCE_NONE;
	}
	print_message("%d requests, %d wake-ups by the disk, %d by interrupts of unknown source\n", n_issued, n,
		      n_unknown);
	if (!n_issued || n + n_unknown == 0) { /* or a kernel's thread does, and wakes the writer */
		print_message("skipped: requests of disks: who writes to /var/tmp gives no disk one\n");
		release(&r);
		skip();
	}
	assert_true(n > 0);
	assert_in_range(n_unknown, 0, n / 10); /* of a hard interrupt that came between */
	release(&r);
}

/* Packets of an interface bring the programs back: they are events again, and so are those that follow. */
static char link_name[16];

static int run_ip(const char *before, const char *behind)
{
	char command[192];

	snprintf(command, sizeof command, "ip %s %s %s >/dev/null 2>&1", before, link_name, behind);
	return system(command);
}

static int send_packets(void)
{
	struct sockaddr_in a = { .sin_family = AF_INET,
				 .sin_port = htons(9),
				 .sin_addr.s_addr = inet_addr("198.18.79.2") };
	int s = socket(AF_INET, SOCK_DGRAM, 0);

	told->interface = if_nametoindex(link_name);
	if (!wait_until_looked_up())
		return NEVER_LEFT;
	for (int i = 0; i < PATIENCE_S * 1000 && looks_up() == 1; i++) {
		if (sendto(s, "x", 1, 0, (struct sockaddr *)&a, sizeof a) != 1)
			return 1;
		usleep(1000);
	}
	prctl(PR_SET_NAME, PLAY);
	for (int i = 0; i < ROUNDS; i++)
		if (sendto(s, "x", 1, 0, (struct sockaddr *)&a, sizeof a) != 1)
			return 1;
	prctl(PR_SET_NAME, "t:end");
	return 0;
}

static void remove_link(void)
{
	run_ip("link delete", "");
}

static void test_other_packets(void **state)
{
	struct recorded r;
	char peer[48];
	int plays = 0, n = 0;

	(void)state;
	snprintf(link_name, sizeof link_name, "vp%ud", (unsigned)getpid() % 1000000);
	snprintf(peer, sizeof peer, "type veth peer name %.12sp", link_name);
	if (run_ip("link add", peer)) {
		print_message("skipped: packets of an interface: none can be made (ip, root, the kernel's veth)\n");
		skip();
	}
	atexit(remove_link);
	assert_int_equal(run_ip("addr add 198.18.79.1/30 dev", ""), 0);
	assert_int_equal(run_ip("link set", "up"), 0);
	snprintf(peer, sizeof peer, "up; ip link set %.12sp up", link_name);
	assert_int_equal(run_ip("link set", peer), 0);
	assert_int_equal(run_ip("neigh add 198.18.79.2 lladdr 02:00:00:00:00:01 nud permanent dev", ""), 0);
	record_looked_up(&r, send_packets);
	for (size_t i = 0; i < r.n; i++) {
		const struct vprof_kernel_event *e = &r.events[i];

		if (e->kind == VP_KIND_KERNEL_TASK && e->task.tid == (uint32_t)r.pid)
			plays = !strcmp(e->task.comm, PLAY);
		n += plays && e->kind == VP_KIND_KERNEL_NET_SEND && e->net.interface == told->interface &&
		     e->net.current_tid == (uint32_t)r.pid;
	}
	expect_nearly_all(&r, (uint64_t)n, ROUNDS, ROUNDS);
	release(&r);
}

/* In another network, whose interfaces the recorder does not see, packets are followed, whoever sends them. */
static int set_up_loopback(void)
{
	struct ifreq request = { .ifr_name = "lo" };
	int s = socket(AF_INET, SOCK_DGRAM, 0), ret;

	request.ifr_flags = IFF_UP | IFF_RUNNING;
	ret = ioctl(s, SIOCSIFFLAGS, &request);
	close(s);
	return ret == 0;
}

static void *echo(void *unused)
{
	char c;

	told->tids[1] = (uint32_t)gettid();
	while (read(ends[1], &c, 1) == 1 && write(ends[1], &c, 1) == 1)
		;
	return unused;
}

static int exchange(int n)
{
	char c = 'x';

	for (int i = 0; i < n; i++)
		if (write(ends[0], &c, 1) != 1 || read(ends[0], &c, 1) != 1)
			return 0;
	return 1;
}

static int play_elsewhere(void)
{
	pthread_t thread;

	if (unshare(CLONE_NEWNET) || !set_up_loopback())
		return NEVER_LEFT;
	told->tids[0] = (uint32_t)gettid();
	if (!connect_ends() || pthread_create(&thread, NULL, echo, NULL))
		return 1;
	while (looks_up() >= 0) /* until the recorder has seen who is woken */
		if (!exchange(1))
			return 1;
	prctl(PR_SET_NAME, PLAY);
	if (!exchange(ROUNDS))
		return 1;
	prctl(PR_SET_NAME, "t:end");
	shutdown(ends[0], SHUT_RDWR);
	pthread_join(thread, NULL);
	return 0;
}

static void test_other_network(void **state)
{
	struct recorded r;
	int plays = 0, n = 0;

	(void)state;
	memset(told, 0, sizeof *told);
	record(&r, play_elsewhere, 0, 0);
	if (WIFEXITED(r.status) && WEXITSTATUS(r.status) == NEVER_LEFT) {
		print_message("skipped: another network: none can be made\n");
		skip();
	}
	assert_int_equal(r.status, 0);
	for (size_t i = 0; i < r.n; i++) {
		const struct vprof_kernel_event *e = &r.events[i];

		if (e->kind == VP_KIND_KERNEL_TASK && e->task.tid == told->tids[0])
			plays = !strcmp(e->task.comm, PLAY);
		if (!plays || e->kind != VP_KIND_KERNEL_WAKING || e->waking.context != VP_CONTEXT_NET_RX ||
		    (e->waking.wakee_tid != told->tids[0] && e->waking.wakee_tid != told->tids[1]))
			continue;
		assert_int_equal(e->waking.source, VP_SOURCE_NET);
		n++;
	}
	print_message("%d wake-ups\n", n);
	assert_true(n > 0);
	release(&r);
}

static void expect_packets(const char *text, uint64_t loopback, uint64_t others)
{
	struct vprof_packets n = vprof_count_packets(text);

	assert_int_equal(n.loopback, loopback);
	assert_int_equal(n.others, others);
}

static void test_counts(void **state)
{
	(void)state;
	expect_packets("Inter-|   Receive  |  Transmit\n face |bytes packets|bytes packets\n"
		       "    lo: 10 11 0 0 0 0 0 0 12 13 0 0 0 0 0 0\n"
		       "  eth0: 100 3 0 0 0 0 0 0 7 40 0 0 0 0 0 0\n"
		       "lo2:1 500 0 0 0 0 0 0 1 6000 0 0 0 0 0 0\n",
		       24, 6543);
	expect_packets("", 0, 0);
	expect_packets("  eth0: 100 3", 0, 0);
	expect_packets("eth0\n:\n lo: x\n", 0, 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_counts),	      cmocka_unit_test(test_turns),
		cmocka_unit_test(test_limits),	      cmocka_unit_test(test_other_packets),
		cmocka_unit_test(test_other_network), cmocka_unit_test(test_disk),
	};
	struct vprof_error err = { "" };

	if (vprof_recorder_require(&err)) {
		printf("skipped: %s\n", err.message);
		return 77;
	}
	told = mmap(NULL, sizeof *told, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	return told == MAP_FAILED ? 1 : cmocka_run_group_tests(tests, NULL, NULL);
}
