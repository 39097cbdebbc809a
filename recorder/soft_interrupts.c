/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "recorder/soft_interrupts.h"

#include <bpf/libbpf.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/utsname.h>
#include <unistd.h>

/* clang-format off: the skeleton uses its structs */
#include "recorder/ring_event.h"
#include "record.skel.h"
/* clang-format on */

#include "recorder/kernel_symbols.h"

#define LOOK_NS 50000000u
#define QUIET_NS 250000000u
#define PATIENCE_NS 1000000000u
#define PATIENCE_MAX_NS 64000000000u
#define LOOK_UP_PRICE 2 /* of a wake-up, in packets that are followed */
#define WALK_PRICE 16	/* of a stack, in wake-ups that are looked up without */
#define PRICE_MIN 250	/* between two looks, from which it matters */

/* Of each kind what the kernel calls its function, and called it before. */
static const char *const action_names[VP_RING_SOFTIRQS][2] = {
	{ "tasklet_hi_action" },   { "run_timer_softirq" },
	{ "net_tx_action" },	   { "net_rx_action" },
	{ "blk_done_softirq" },	   { "irq_poll_softirq" },
	{ "tasklet_action" },	   { "sched_balance_softirq", "run_rebalance_domains" },
	{ "hrtimer_run_softirq" }, { "rcu_core_si", "rcu_process_callbacks" },
};

struct vprof_packets vprof_count_packets(const char *text)
{
	struct vprof_packets n = { 0, 0 };

	for (const char *line = text, *end; (end = strchr(line, '\n')); line = end + 1) {
		const char *colon = memchr(line, ':', (size_t)(end - line));
		unsigned long long received, sent;
		int is_loopback;

		while (*line == ' ')
			line++;
		if (!colon || sscanf(colon + 1, "%*u %llu %*u %*u %*u %*u %*u %*u %*u %llu", &received, &sent) != 2)
			continue;
		is_loopback = colon - line == 2 && !strncmp(line, "lo", 2);
		*(is_loopback ? &n.loopback : &n.others) += received + sent;
	}
	return n;
}

/* 0: they cannot be known, or are too many interfaces. */
static int count_packets(const struct vprof_soft_interrupts *s, struct vprof_packets *packets)
{
	static char text[1 << 16];
	size_t n = 0;
	ssize_t got;

	while (s->counts >= 0 && n < sizeof text - 1 &&
	       (got = pread(s->counts, text + n, sizeof text - 1 - n, (off_t)n)) > 0)
		n += (size_t)got;
	text[n] = 0;
	*packets = vprof_count_packets(text);
	return n > 0 && n < sizeof text - 1;
}

static struct vp_ring_range range_of(const struct vprof_kernel_symbols *symbols, const char *name, const char *before)
{
	struct vp_ring_range range = { 0, 0 };

	if (vprof_kernel_symbols_range(symbols, name, &range.begin, &range.end) && before)
		vprof_kernel_symbols_range(symbols, before, &range.begin, &range.end);
	return range;
}

/* What a wake-up's stack is compared with. 0: this kernel does not tell. */
static int tell_functions(struct record_bpf *bpf, const struct vprof_kernel_symbols *symbols)
{
	struct vp_ring_softirqs *softirqs = &bpf->bss->softirqs;

	softirqs->run[0] = range_of(symbols, "handle_softirqs", NULL);
	softirqs->run[1] = range_of(symbols, "__do_softirq", NULL);
	softirqs->waking = range_of(symbols, "try_to_wake_up", NULL);
	softirqs->backlog = range_of(symbols, "process_backlog", NULL);
	for (int i = 0; i < VP_RING_SOFTIRQS; i++)
		softirqs->actions[i] = range_of(symbols, action_names[i][0], action_names[i][1]);
	return softirqs->waking.end && softirqs->backlog.end && softirqs->actions[3].end &&
	       (softirqs->run[0].end || softirqs->run[1].end);
}

static void set_following(struct vprof_soft_interrupts *s, uint32_t round)
{
	__atomic_store_n(&s->bpf->data->following, round, __ATOMIC_SEQ_CST);
}

static void detach(struct bpf_link **link)
{
	bpf_link__destroy(*link);
	*link = NULL;
}

static void detach_all_but_send(struct record_bpf *bpf)
{
	detach(&bpf->links.record_receive);
	detach(&bpf->links.enter_softirq);
	detach(&bpf->links.leave_softirq);
}

static void leave(struct vprof_soft_interrupts *s)
{
	__atomic_store_n(&s->bpf->bss->softirqs.are_known, 1, __ATOMIC_SEQ_CST);
	set_following(s, 0);
	detach_all_but_send(s->bpf);
	s->is_left = 1;
}

/* Exits first: an entry without its exit would last. What the kernel refuses is tried again at the next look. */
static void follow(struct vprof_soft_interrupts *s)
{
	struct record_bpf *bpf = s->bpf;

	set_following(s, ++s->n_rounds);
	bpf->links.leave_softirq = bpf_program__attach(bpf->progs.leave_softirq);
	bpf->links.enter_softirq = bpf->links.leave_softirq ? bpf_program__attach(bpf->progs.enter_softirq) : NULL;
	bpf->links.record_receive = bpf_program__attach(bpf->progs.record_receive);
	if (!bpf->links.record_send)
		bpf->links.record_send = bpf_program__attach(bpf->progs.record_send);
	s->is_left = !bpf->links.enter_softirq || !bpf->links.record_receive || !bpf->links.record_send;
	if (s->is_left) {
		set_following(s, 0);
		detach_all_but_send(bpf);
	}
}

/* Soft interrupts have a stack of their own, or that of the thread whose system call they do not interrupt; not so
 * where they are threads. */
int vprof_soft_interrupts_can_look_up(void)
{
#ifdef __x86_64__
	struct utsname kernel;

	return !uname(&kernel) && !strstr(kernel.version, "PREEMPT_RT");
#else
	return 0;
#endif
}

void vprof_soft_interrupts_start(struct vprof_soft_interrupts *s, struct record_bpf *bpf,
				 const struct vprof_kernel_symbols *symbols)
{
	struct stat network;

	*s = (struct vprof_soft_interrupts){ .bpf = bpf, .n_rounds = 1, .patience_ns = PATIENCE_NS };
	s->counts = open("/proc/net/dev", O_RDONLY | O_CLOEXEC);
	s->may_leave = count_packets(s, &s->packets) && symbols && !stat("/proc/self/ns/net", &network) &&
		       tell_functions(bpf, symbols);
	if (s->may_leave)
		bpf->bss->softirqs.network = (uint32_t)network.st_ino;
}

void vprof_soft_interrupts_stop(struct vprof_soft_interrupts *s)
{
	if (s->counts >= 0)
		close(s->counts);
	s->counts = -1;
}

static uint64_t price_of_look_ups(const struct record_bpf *bpf)
{
	uint64_t price = bpf->bss->n_walked * WALK_PRICE;

	for (size_t i = 0; i < sizeof bpf->bss->n_looked_up / sizeof(uint64_t); i++)
		price += bpf->bss->n_looked_up[i];
	return price;
}

/* While they are left: was that dearer than to follow? n_packets: loopback's, each counted as received and as sent. */
static int is_dear(uint64_t price, uint64_t n_packets)
{
	return price > PRICE_MIN && price * LOOK_UP_PRICE > n_packets / 2;
}

void vprof_soft_interrupts_step(struct vprof_soft_interrupts *s, uint64_t now_ns, int counts_sent)
{
	struct vprof_packets packets;
	uint64_t price;
	int is_clear;

	if (s->is_paused || (!s->may_leave && !s->is_left) || now_ns - s->looked_ns < LOOK_NS)
		return;
	s->looked_ns = now_ns;
	is_clear = count_packets(s, &packets) && !s->bpf->bss->n_unclear;
	price = price_of_look_ups(s->bpf);
	if (!is_clear || packets.others != s->packets.others || !s->others_ns) {
		s->others_ns = now_ns;
		s->may_leave = is_clear; /* else each first packet's wake-up might be missing */
		if (s->is_left)
			follow(s);
	} else if (s->is_left && is_dear(price - s->price, packets.loopback - s->packets.loopback)) {
		s->until_ns = now_ns + s->patience_ns;
		s->patience_ns = s->patience_ns < PATIENCE_MAX_NS ? 2 * s->patience_ns : PATIENCE_MAX_NS;
		follow(s);
	} else if (!s->is_left && now_ns > s->until_ns && now_ns - s->others_ns > QUIET_NS) {
		leave(s);
	}
	if (s->is_left && !counts_sent)
		detach(&s->bpf->links.record_send);
	s->packets = packets;
	s->price = price;
}

void vprof_soft_interrupts_pause(struct vprof_soft_interrupts *s, uint64_t now_ns)
{
	if (!s->is_left && s->may_leave && now_ns - s->others_ns > QUIET_NS)
		leave(s); /* few wake-ups are left to be looked up, which costs less than to attach programs */
	set_following(s, 0);
	detach_all_but_send(s->bpf);
	detach(&s->bpf->links.record_send);
	s->is_paused = 1;
}

int vprof_soft_interrupts_resume(struct vprof_soft_interrupts *s, uint64_t now_ns)
{
	struct vprof_packets packets;
	int is_clear = count_packets(s, &packets) && !s->bpf->bss->n_unclear;

	s->is_paused = 0;
	if (!is_clear || packets.others != s->packets.others) {
		s->others_ns = now_ns;
		s->may_leave &= is_clear;
		s->is_left = 0;
	}
	s->packets = packets;
	s->price = price_of_look_ups(s->bpf);
	if (s->is_left)
		return 1;
	follow(s);
	return !s->is_left;
}
