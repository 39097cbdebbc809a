/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Who sends and receives how much over which connection.
 *
 * Two tracepoints see each send and receive of whichever system call (read, sendmsg, writev, sendfile, io_uring ...) as
 * it returns. When its bytes were sent is what TCP noted of the packet, or when the thread was switched out within the
 * call: to look at the entry of each system call would make all of them, of the whole machine, take the kernel's slower
 * way. That is done with stacks only, which need it. How long a receive's bytes had been there is told by when the
 * connection's last packet came: at least so long. Not seen are splices from a socket, and what kernel threads do.
 * The position of a transfer's bytes in their stream is TCP's sequence number, so that both ends agree on it whatever
 * is lost; for Unix sockets it is counted here.
 *
 * Invariant: a socket is told before its first transfer, and again whenever the ring had no room for that.
 *
 * Only for record.bpf.c. Programs' names begin with socket_ (recorder.c).
 */
#ifndef VPROF_SOCKETS_BPF_H
#define VPROF_SOCKETS_BPF_H

#define FAMILY_UNIX 1
#define FAMILY_INET6 10
#define TYPE_STREAM 1
#define TYPE_SEQPACKET 5
#define PROTOCOL_TCP 6
#define STATE_ESTABLISHED 1
#define STATE_SYN_SENT 2
#define STATE_SYN_RECEIVED 3
#define STATE_FIN_WAIT_1 4
#define STATE_CLOSE 7
#define STATE_CLOSE_WAIT 8
#define STATE_LAST_ACK 9
#define FLAG_PEEK 2
#define UNIX_NAME_AT 2 /* of an address's bytes, after its family */

struct socket_state {
	__u64 cookie;			  /* 0: not told yet */
	__u64 connect_ns, established_ns; /* 0: before the recording, or a Unix socket */
	__u64 n_sent, n_received;	  /* bytes, of a Unix socket */
	__u32 role;			  /* VP_SOCKET_CLIENT, VP_SOCKET_SERVER or 0 */
};

struct {
	__uint(type, BPF_MAP_TYPE_SK_STORAGE);
	__uint(map_flags, BPF_F_NO_PREALLOC);
	__type(key, int);
	__type(value, struct socket_state);
} sockets SEC(".maps");

struct { /* with stacks, of threads of the session: when the system call began that it is in, or was in last */
	__uint(type, BPF_MAP_TYPE_TASK_STORAGE);
	__uint(map_flags, BPF_F_NO_PREALLOC);
	__type(key, int);
	__type(value, __u64);
} entries SEC(".maps");

/* A system call in which a thread was switched out, and which may send. Each thread has a place, by its number; who
 * finds another's there does not know more than that its own call is over. */
struct sending {
	__u64 ns; /* when that was first; 0: the call is over */
	__u64 number, descriptor;
	__u32 tid, unused;
};

#define SENDING_PLACES 4096
static struct sending sending[SENDING_PLACES];

/* The cookies of sockets that were told, each in a place by its number: most transfers need not look further. */
#define TOLD_PLACES 65536
static __u64 told[TOLD_PLACES];

const volatile __u64 tick_ns; /* how long the kernel's ticks are, in which jiffies count */

__u64 n_other_transfers; /* of datagrams and of protocols that are not followed */

SEC("tp_btf/sys_enter")
int BPF_PROG(socket_enter, struct pt_regs *regs, long number)
{
	struct task_struct *current = bpf_get_current_task_btf();
	__u64 *entered_ns;

	if (!current->pid || current->tgid == own_pid || !in_session(current->tgid))
		return 0;
	entered_ns = bpf_task_storage_get(&entries, current, 0, BPF_LOCAL_STORAGE_GET_F_CREATE);
	if (entered_ns)
		*entered_ns = bpf_ktime_get_ns();
	return 0;
}

#ifdef __TARGET_ARCH_x86
#define CALL_WRITE 1
#define CALL_WRITEV 20
#define CALL_SENDFILE 40
#define CALL_SENDMSG 46
#define CALL_FUTEX 202
#define CALL_SPLICE 275
#define CALL_SENDMMSG 307
#define NO_RESULT -38 /* what a call's result is until it has one */

static __always_inline int may_send(__u64 number)
{
	return number == CALL_WRITE || number == CALL_WRITEV || (number >= CALL_SENDFILE && number <= CALL_SENDMSG) ||
	       number == CALL_SPLICE || number == CALL_SENDMMSG;
}

static __always_inline struct sending *sending_of(__u32 tid)
{
	asm volatile("" : "+r"(tid));
	return &sending[tid & (SENDING_PLACES - 1)];
}

/* A thread is switched out: if it sends, others may run because of that, and before its call ends. On its way back to
 * the program it has sent. */
static __always_inline void note_sending(struct task_struct *task)
{
	struct pt_regs *regs = registers_of(task);
	__u64 number = regs->orig_ax;
	struct sending *s;

	if (!may_send(number) || (long)regs->ax != NO_RESULT || task->flags & PF_KTHREAD)
		return;
	s = sending_of(task->pid);
	if (s->ns && s->tid == task->pid && s->number == number && s->descriptor == regs->di)
		return;
	s->ns = bpf_ktime_get_ns();
	s->tid = task->pid;
	s->number = number;
	s->descriptor = regs->di;
}

/* When the call of the thread that runs here is known to have been under way; 0: not known. */
static __always_inline __u64 take_sending(struct task_struct *current)
{
	struct sending *s = sending_of(current->pid);
	struct pt_regs *regs;
	__u64 ns = s->ns;

	if (!ns || s->tid != current->pid)
		return 0;
	regs = registers_of(current);
	s->ns = 0;
	return s->number == regs->orig_ax && s->descriptor == regs->di ? ns : 0;
}

/* The futex that a thread sleeps at, which tells queues from one another and from locks. 0: at something else. */
static __always_inline __u32 futex_of(struct task_struct *sleeper)
{
	struct pt_regs *regs = registers_of(sleeper);
	__u64 futex;

	if (regs->orig_ax != CALL_FUTEX || sleeper->flags & PF_KTHREAD)
		return 0;
	futex = regs->di;
	return ((__u32)(futex >> 2) ^ (__u32)(futex >> 34)) | 1;
}
#else
static __always_inline void note_sending(struct task_struct *task)
{
}

static __always_inline __u64 take_sending(struct task_struct *current)
{
	return 0;
}

static __always_inline __u32 futex_of(struct task_struct *sleeper)
{
	return 0;
}
#endif

static __always_inline void read_addresses(struct sock *sk, struct vp_ring_socket *e)
{
	e->local_port = sk->__sk_common.skc_num;
	e->remote_port = __builtin_bswap16(sk->__sk_common.skc_dport);
	if (sk->__sk_common.skc_family == FAMILY_INET6) {
		bpf_core_read(e->local, 16, &sk->__sk_common.skc_v6_rcv_saddr);
		bpf_core_read(e->remote, 16, &sk->__sk_common.skc_v6_daddr);
		return;
	}
	__builtin_memset(e->path, 0, sizeof e->path);
	e->local[10] = e->local[11] = e->remote[10] = e->remote[11] = 0xff;
	bpf_core_read(e->local + 12, 4, &sk->__sk_common.skc_rcv_saddr);
	bpf_core_read(e->remote + 12, 4, &sk->__sk_common.skc_daddr);
}

/* The path that the server listens at: an accepted socket has it, too. */
static __always_inline int read_path(struct sock *sk, struct vp_ring_socket *e)
{
	struct unix_address *address = BPF_CORE_READ((struct unix_sock *)sk, addr);

	if (!address || BPF_CORE_READ(address, len) <= UNIX_NAME_AT)
		return 0;
	bpf_probe_read_kernel_str(e->path, sizeof e->path, address->name[0].sun_path);
	if (!e->path[0]) { /* a name that is no path */
		e->path[0] = '@';
		bpf_probe_read_kernel_str(e->path + 1, sizeof e->path - 1, address->name[0].sun_path + 1);
	}
	return 1;
}

static __always_inline void read_unix(struct sock *sk, struct socket_state *s, struct vp_ring_socket *e)
{
	struct sock *peer = BPF_CORE_READ((struct unix_sock *)sk, peer);

	e->local_port = e->remote_port = 0;
	__builtin_memset(e->path, 0, sizeof e->path);
	e->peer = peer ? BPF_CORE_READ(peer, __sk_common.skc_cookie.counter) : 0;
	if (read_path(sk, e))
		s->role = VP_SOCKET_SERVER;
	else if (peer && read_path(peer, e))
		s->role = VP_SOCKET_CLIENT;
}

/* `what`: VP_SOCKET_CLOSED, by thread `tid`, VP_SOCKET_RESENT or 0. 0: there was no room. */
static __always_inline int tell_socket(struct sock *sk, struct socket_state *s, __u64 cookie, int is_unix, __u8 what,
				       __u32 tid)
{
	struct vp_ring_socket *e = reserve_rare(sizeof *e, VP_KIND_KERNEL_SOCKET);

	if (!e)
		return 0;
	e->head.context = 0;
	e->head.tid = tid;
	e->head.other = 0;
	e->cookie = cookie;
	e->peer = 0;
	e->network = BPF_CORE_READ(sk, __sk_common.skc_net.net, ns.inum);
	e->connect_ns = s->connect_ns;
	e->established_ns = s->established_ns;
	if (is_unix)
		read_unix(sk, s, e);
	else
		read_addresses(sk, e);
	e->head.detail = s->role | what | (is_unix ? VP_SOCKET_UNIX : 0);
	submit_rare(e);
	s->cookie = cookie;
	return 1;
}

/* Who asked for a connection is known only to those who see it being made. */
static __always_inline void begin_connection(struct sock *sk, int from, int to)
{
	struct socket_state *s = bpf_sk_storage_get(&sockets, sk, 0, BPF_LOCAL_STORAGE_GET_F_CREATE);

	if (!s)
		return;
	if (to == STATE_SYN_SENT) {
		s->connect_ns = bpf_ktime_get_ns();
		return;
	}
	s->established_ns = bpf_ktime_get_ns();
	if (from == STATE_SYN_SENT)
		s->role = VP_SOCKET_CLIENT;
	else if (from == STATE_SYN_RECEIVED)
		s->role = VP_SOCKET_SERVER;
}

/* Its program, or the kernel in its place, closes a direction; or the other end resets the connection, which happens to
 * interrupt some thread. */
static __always_inline void end_connection(struct sock *sk, int to)
{
	struct socket_state *s = bpf_sk_storage_get(&sockets, sk, 0, 0);
	struct task_struct *current = bpf_get_current_task_btf();

	if (s && s->cookie)
		tell_socket(sk, s, s->cookie, 0, VP_SOCKET_CLOSED,
			    to != STATE_CLOSE && in_session(current->tgid) ? current->pid : 0);
}

SEC("tp_btf/inet_sock_set_state")
int BPF_PROG(socket_change, struct sock *sk, int from, int to)
{
	if (sk->sk_protocol != PROTOCOL_TCP)
		return 0;
	if (to == STATE_SYN_SENT || to == STATE_ESTABLISHED)
		begin_connection(sk, from, to);
	else if (to == STATE_FIN_WAIT_1 || to == STATE_LAST_ACK ||
		 (to == STATE_CLOSE && (from == STATE_ESTABLISHED || from == STATE_CLOSE_WAIT)))
		end_connection(sk, to);
	return 0;
}

SEC("tp_btf/tcp_retransmit_skb")
int BPF_PROG(socket_resend, struct sock *sk)
{
	struct socket_state *s = bpf_sk_storage_get(&sockets, sk, 0, 0);

	if (s && s->cookie)
		tell_socket(sk, s, s->cookie, 0, VP_SOCKET_RESENT, 0);
	return 0;
}

static __always_inline int is_followed(struct sock *sk, int is_unix)
{
	if (is_unix)
		return sk->sk_type == TYPE_STREAM || sk->sk_type == TYPE_SEQPACKET;
	return sk->sk_protocol == PROTOCOL_TCP && sk->sk_type == TYPE_STREAM;
}

/* When the last packet left that is not acknowledged; 0: there is none, or it is not known. The one with the last byte
 * stays in the queue until it is, so it did while it was read. */
static __always_inline __u64 last_sent_at(struct tcp_sock *tcp)
{
	void *first = (void *)tcp + bpf_core_field_offset(struct tcp_sock, tsorted_sent_queue);
	void *last = tcp->tsorted_sent_queue.prev;
	__u64 ns = 0;

	if (last == first ||
	    bpf_core_read(&ns, sizeof ns,
			  &((struct sk_buff *)(last - bpf_core_field_offset(struct sk_buff, tcp_tsorted_anchor)))
				   ->skb_mstamp_ns))
		return 0;
	return *(volatile __u32 *)&tcp->snd_una != tcp->write_seq ? ns : 0;
}

/* When the packet with a send's last byte left, before whoever receives it could run. If all that was written has left,
 * it left within the call that has just written. TCP notes when a connection's last packet left, but that may be one
 * that acknowledges what came meanwhile. So it is asked for the last packet with bytes: where all of them have been
 * acknowledged it knows the microsecond in which the last of these left. */
static __always_inline __u64 left_at(struct tcp_sock *tcp, __u64 now)
{
	__u64 left, data_left;

	if (!tcp || tcp->snd_nxt != tcp->write_seq)
		return now;
	left = tcp->tcp_wstamp_ns;
	data_left = last_sent_at(tcp);
	if (!data_left && tcp->snd_una == tcp->write_seq && left - tcp->first_tx_mstamp * 1000 >= 1000)
		data_left = tcp->first_tx_mstamp * 1000;
	if (data_left && data_left < left)
		left = data_left;
	return left < now ? left : now;
}

/* When a transfer that is over by `now` began: with stacks the system call; else a send, as well as is known. */
static __always_inline __u64 begin_of(struct task_struct *current, struct tcp_sock *tcp, int is_send, __u64 now)
{
	__u64 left, switched, *entered_ns;

	if (records_stacks) {
		entered_ns = bpf_task_storage_get(&entries, current, 0, 0);
		return entered_ns ? *entered_ns : now;
	}
	if (!is_send)
		return now;
	left = left_at(tcp, now);
	switched = take_sending(current);
	return switched && switched < left ? switched : left;
}

/* Where scheduling is not recorded, of wake-ups is recorded what the paths of requests need: those by a thread that
 * runs a system call, of a thread of its own process. */
#ifdef __TARGET_ARCH_x86
SEC("tp_btf/sched_waking")
int BPF_PROG(socket_wake, struct task_struct *task)
{
	struct task_struct *current = bpf_get_current_task_btf();
	struct vp_ring_event *e;
	__u32 futex;

	if (task->tgid != current->tgid || !in_session(task->tgid) || !is_in_call(current) ||
	    !is_on_stack_of(ctx, current))
		return 0;
	futex = futex_of(task);
	e = reserve(VP_KIND_KERNEL_WAKING);
	if (!e)
		return 0;
	e->context = VP_CONTEXT_TASK;
	e->detail = futex ? VP_SOURCE_FUTEX : VP_SOURCE_NONE;
	e->tid = task->pid;
	e->other = current->pid;
	e->kernel_stack = e->user_stack = 0;
	e->source_id = futex;
	submit(e);
	return 0;
}
#else
SEC("tp_btf/sched_waking")
int BPF_PROG(socket_wake, struct task_struct *task)
{
	return 0;
}
#endif

SEC("tp_btf/sched_switch")
int BPF_PROG(socket_switch, _Bool preempted, struct task_struct *prev, struct task_struct *next,
	     unsigned int prev_state)
{
	if (!prev->pid || !in_session(prev->tgid))
		return 0;
	if (prev_state & STATE_DEAD && !preempted && !records_all)
		forget_dead(prev);
	else
		note_sending(prev);
	return 0;
}

static __always_inline __u64 *told_place(__u64 cookie)
{
	__u32 place = (__u32)cookie;

	asm volatile("" : "+r"(place));
	return &told[place & (TOLD_PLACES - 1)];
}

/* What is known of a socket that has not been told yet, or whose place others have taken: it is told. */
static __always_inline struct socket_state *see_socket(struct sock *sk, int is_unix, __u64 *cookie)
{
	struct socket_state *s = bpf_sk_storage_get(&sockets, sk, 0, BPF_LOCAL_STORAGE_GET_F_CREATE);

	if (!s) {
		count_lost();
		return 0;
	}
	*cookie = s->cookie ? s->cookie : bpf_get_socket_cookie(sk);
	if (s->cookie || tell_socket(sk, s, *cookie, is_unix, 0, 0))
		*told_place(*cookie) = *cookie;
	return s;
}

/* What TCP notes of a connection's last packet is overwritten as soon as a receive has taken bytes of one; right before
 * that, it calls a tracepoint. Of each CPU, of the receive that is under way there: */
struct arrival {
	__u64 socket; /* 0: none */
	__u64 ns;
	__u32 position; /* up to which it has taken bytes */
	__u32 end;	/* up to which bytes had come: of those that come while it is under way that is not known */
};

struct {
	__uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, struct arrival);
} arrivals SEC(".maps");

static __always_inline struct arrival *arrival_here(void)
{
	__u32 zero = 0;

	return bpf_map_lookup_elem(&arrivals, &zero);
}

/* jiffies may be so old, where the CPU that counts them was kept from it: then another one does. */
#define TICKS_STALE 6

/* TCP notes the time, too, when a timer makes it acknowledge what nobody has read for 40 ms. But it knows the tick in
 * which the last data came. */
static __always_inline __u64 data_came_by(struct sock *sk, __u64 noted_ns)
{
	__u32 ticks = (__u32)bpf_jiffies64() - BPF_CORE_READ((struct inet_connection_sock *)sk, icsk_ack.lrcvtime);
	__u64 ns;

	if ((__s32)ticks <= TICKS_STALE)
		return noted_ns;
	ns = bpf_ktime_get_ns() - (__u64)(ticks - TICKS_STALE) * tick_ns;
	return ns < noted_ns ? ns : noted_ns;
}

SEC("tp_btf/tcp_rcv_space_adjust")
int BPF_PROG(socket_arrival, struct sock *sk)
{
	struct task_struct *current = bpf_get_current_task_btf();
	struct arrival *a;
	struct tcp_sock *tcp;

	if (!in_session(current->tgid))
		return 0;
	a = arrival_here();
	tcp = bpf_skc_to_tcp_sock(sk);
	if (!a || !tcp || a->socket == (__u64)sk) /* not its first bytes */
		return 0;
	a->socket = (__u64)sk;
	a->ns = data_came_by(sk, tcp->tcp_clock_cache);
	a->position = tcp->copied_seq;
	a->end = tcp->rcv_nxt;
	return 0;
}

/* When the last packet of a connection had come before a receive of n bytes from `position` on; 0: not known, as where
 * the thread was moved to another CPU in between, or some of the bytes came later. */
static __always_inline __u64 take_arrival(struct sock *sk, __u32 position, __u32 n)
{
	struct arrival *a = arrival_here();
	__u64 ns;

	if (!a || a->socket != (__u64)sk)
		return 0;
	ns = a->position - position - 1 < n && (__s32)(position + n - a->end) <= 0 ? a->ns : 0;
	a->socket = 0;
	return ns;
}

static __always_inline int tell_transfer(struct sock *sk, int n, int is_send)
{
	struct task_struct *current = bpf_get_current_task_btf();
	int is_unix = sk->__sk_common.skc_family == FAMILY_UNIX;
	__u64 cookie = sk->__sk_common.skc_cookie.counter, position, arrived_ns;
	struct socket_state *s = 0;
	struct tcp_sock *tcp = 0;
	struct vp_ring_event *e;

	if (current->tgid == own_pid || !in_session(current->tgid))
		return 0;
	if (n < 0) {
		if (is_send && !records_stacks)
			take_sending(current);
		return 0;
	}
	if (!is_followed(sk, is_unix)) {
		__sync_fetch_and_add(&n_other_transfers, 1);
		return 0;
	}
	if (is_unix || !cookie || *told_place(cookie) != cookie) {
		s = see_socket(sk, is_unix, &cookie);
		if (!s)
			return 0;
	}
	if (is_unix) {
		position = __sync_fetch_and_add(is_send ? &s->n_sent : &s->n_received, n);
	} else {
		tcp = bpf_skc_to_tcp_sock(sk);
		position = tcp ? (__u32)((is_send ? tcp->write_seq : tcp->copied_seq) - n) : 0;
	}
	arrived_ns = is_send || !tcp ? 0 : take_arrival(sk, (__u32)position, (__u32)n);
	e = reserve(VP_KIND_KERNEL_TRANSFER);
	if (!e)
		return 0;
	e->context = 0;
	e->detail = is_send ? VP_TRANSFER_SEND : 0;
	e->tid = current->pid;
	e->other = n;
	e->transfer.cookie = cookie;
	e->transfer.position = position; /* of the first byte */
	e->transfer.from_ns = begin_of(current, tcp, is_send, e->ns);
	e->transfer.arrived_ns = arrived_ns;
	submit(e);
	return 0;
}

SEC("tp_btf/sock_send_length")
int BPF_PROG(socket_send, struct sock *sk, int n, int flags)
{
	return tell_transfer(sk, n, 1);
}

SEC("tp_btf/sock_recv_length")
int BPF_PROG(socket_receive, struct sock *sk, int n, int flags)
{
	if (!(flags & FLAG_PEEK))
		return tell_transfer(sk, n, 0);
	take_arrival(sk, 0, 0); /* the next receive's is another, which TCP notes to have come now */
	return 0;
}

#endif
