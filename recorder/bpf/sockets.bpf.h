/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Who sends and receives how much over which connection.
 *
 * Two tracepoints see each send and receive of whichever system call (read, sendmsg, writev, sendfile, io_uring ...) as
 * it returns; when it began is noted at the entry of each system call. Not seen are splices from a socket, and what
 * kernel threads do. The position of a transfer's bytes in their stream is TCP's sequence number, so that both ends
 * agree on it whatever is lost; for Unix sockets it is counted here.
 *
 * Invariant: a socket is told before its first transfer, and again whenever the ring had no room for that.
 *
 * Only for record.bpf.c. Programs' names begin with socket_ (recorder.c).
 */
#ifndef VPROF_SOCKETS_BPF_H
#define VPROF_SOCKETS_BPF_H

#define FAMILY_UNIX 1
#define FAMILY_INET 2
#define FAMILY_INET6 10
#define TYPE_STREAM 1
#define TYPE_SEQPACKET 5
#define PROTOCOL_TCP 6
#define STATE_ESTABLISHED 1
#define STATE_SYN_SENT 2
#define STATE_SYN_RECEIVED 3
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

#define CALL_FUTEX 202 /* x86 */

struct call_entry { /* the system call that a thread is in, or was in last */
	__u64 ns;
	__u64 futex; /* its address, 0: another call */
};

struct { /* of threads of the session */
	__uint(type, BPF_MAP_TYPE_TASK_STORAGE);
	__uint(map_flags, BPF_F_NO_PREALLOC);
	__type(key, int);
	__type(value, struct call_entry);
} entries SEC(".maps");

__u64 n_other_transfers; /* of datagrams and of protocols that are not followed */

SEC("tp_btf/sys_enter")
int BPF_PROG(socket_enter, struct pt_regs *regs, long number)
{
	struct task_struct *current = bpf_get_current_task_btf();
	struct call_entry *entry;

	if (!current->pid || current->tgid == own_pid || !in_session(current->tgid))
		return 0;
	entry = bpf_task_storage_get(&entries, current, 0, BPF_LOCAL_STORAGE_GET_F_CREATE);
	if (!entry)
		return 0;
	entry->ns = bpf_ktime_get_ns();
	entry->futex = 0;
	if (number == CALL_FUTEX && bpf_core_field_exists(regs->di))
		entry->futex = regs->di;
	return 0;
}

/* Who asked for a connection is known only to those who see it being made. */
SEC("tp_btf/inet_sock_set_state")
int BPF_PROG(socket_change, struct sock *sk, int from, int to)
{
	struct socket_state *s;

	if (sk->sk_protocol != PROTOCOL_TCP || (to != STATE_SYN_SENT && to != STATE_ESTABLISHED))
		return 0;
	s = bpf_sk_storage_get(&sockets, sk, 0, BPF_LOCAL_STORAGE_GET_F_CREATE);
	if (!s)
		return 0;
	if (to == STATE_SYN_SENT) {
		s->connect_ns = bpf_ktime_get_ns();
		return 0;
	}
	s->established_ns = bpf_ktime_get_ns();
	if (from == STATE_SYN_SENT)
		s->role = VP_SOCKET_CLIENT;
	else if (from == STATE_SYN_RECEIVED)
		s->role = VP_SOCKET_SERVER;
	return 0;
}

static __always_inline void read_addresses(struct sock *sk, struct vp_ring_event *e)
{
	e->socket.local_port = sk->__sk_common.skc_num;
	e->socket.remote_port = __builtin_bswap16(sk->__sk_common.skc_dport);
	if (sk->__sk_common.skc_family == FAMILY_INET6) {
		bpf_core_read(e->socket.local, 16, &sk->__sk_common.skc_v6_rcv_saddr);
		bpf_core_read(e->socket.remote, 16, &sk->__sk_common.skc_v6_daddr);
		return;
	}
	__builtin_memset(e->socket.path, 0, sizeof e->socket.path);
	e->socket.local[10] = e->socket.local[11] = e->socket.remote[10] = e->socket.remote[11] = 0xff;
	bpf_core_read(e->socket.local + 12, 4, &sk->__sk_common.skc_rcv_saddr);
	bpf_core_read(e->socket.remote + 12, 4, &sk->__sk_common.skc_daddr);
}

/* The path that the server listens at: an accepted socket has it, too. */
static __always_inline int read_path(struct sock *sk, struct vp_ring_event *e)
{
	struct unix_address *address = BPF_CORE_READ((struct unix_sock *)sk, addr);

	if (!address || BPF_CORE_READ(address, len) <= UNIX_NAME_AT)
		return 0;
	bpf_probe_read_kernel_str(e->socket.path, sizeof e->socket.path, address->name[0].sun_path);
	if (!e->socket.path[0]) { /* a name that is no path */
		e->socket.path[0] = '@';
		bpf_probe_read_kernel_str(e->socket.path + 1, sizeof e->socket.path - 1, address->name[0].sun_path + 1);
	}
	return 1;
}

static __always_inline void read_unix(struct sock *sk, struct socket_state *s, struct vp_ring_event *e)
{
	struct sock *peer = BPF_CORE_READ((struct unix_sock *)sk, peer);

	e->socket.local_port = e->socket.remote_port = 0;
	__builtin_memset(e->socket.path, 0, sizeof e->socket.path);
	e->socket.peer = peer ? BPF_CORE_READ(peer, __sk_common.skc_cookie.counter) : 0;
	if (read_path(sk, e))
		s->role = VP_SOCKET_SERVER;
	else if (peer && read_path(peer, e))
		s->role = VP_SOCKET_CLIENT;
}

/* 0: there was no room. */
static __always_inline int tell_socket(struct sock *sk, struct socket_state *s, __u64 cookie, int is_unix)
{
	struct vp_ring_event *e = reserve(BYTES_UP_TO(socket), VP_KIND_KERNEL_SOCKET);

	if (!e)
		return 0;
	e->context = 0;
	e->tid = 0;
	e->other = 0;
	e->socket.cookie = cookie;
	e->socket.peer = 0;
	e->socket.network = BPF_CORE_READ(sk, __sk_common.skc_net.net, ns.inum);
	e->socket.connect_ns = s->connect_ns;
	e->socket.established_ns = s->established_ns;
	if (is_unix)
		read_unix(sk, s, e);
	else
		read_addresses(sk, e);
	e->detail = s->role | (is_unix ? VP_SOCKET_UNIX : 0);
	submit(e);
	s->cookie = cookie;
	return 1;
}

static __always_inline int is_followed(struct sock *sk, int is_unix)
{
	if (is_unix)
		return sk->sk_type == TYPE_STREAM || sk->sk_type == TYPE_SEQPACKET;
	return sk->sk_protocol == PROTOCOL_TCP && sk->sk_type == TYPE_STREAM;
}

/* Of the first byte; called when the transfer is over. */
static __always_inline __u64 position_of(struct sock *sk, struct socket_state *s, __u32 n, int is_send, int is_unix)
{
	struct tcp_sock *tcp;

	if (is_unix)
		return __sync_fetch_and_add(is_send ? &s->n_sent : &s->n_received, n);
	tcp = bpf_skc_to_tcp_sock(sk);
	return tcp ? (__u32)((is_send ? tcp->write_seq : tcp->copied_seq) - n) : 0;
}

/* The futex that a thread sleeps at, which tells queues from one another and from locks. 0: at something else. */
static __always_inline __u32 futex_of(struct task_struct *sleeper)
{
	struct call_entry *entry = bpf_task_storage_get(&entries, sleeper, 0, 0);

	return entry && entry->futex ? ((__u32)(entry->futex >> 2) ^ (__u32)(entry->futex >> 34)) | 1 : 0;
}

static __always_inline int tell_transfer(struct sock *sk, int n, int is_send)
{
	struct task_struct *current = bpf_get_current_task_btf();
	int is_unix = sk->__sk_common.skc_family == FAMILY_UNIX;
	__u64 cookie, position;
	struct call_entry *entry;
	struct vp_ring_event *e;
	struct socket_state *s;

	if (n < 0 || current->tgid == own_pid || !in_session(current->tgid))
		return 0;
	if (!is_followed(sk, is_unix)) {
		__sync_fetch_and_add(&n_other_transfers, 1);
		return 0;
	}
	s = bpf_sk_storage_get(&sockets, sk, 0, BPF_LOCAL_STORAGE_GET_F_CREATE);
	if (!s) {
		__sync_fetch_and_add(lost_here(bpf_get_smp_processor_id()), 1);
		return 0;
	}
	cookie = s->cookie ? s->cookie : bpf_get_socket_cookie(sk);
	if (!s->cookie)
		tell_socket(sk, s, cookie, is_unix);
	position = position_of(sk, s, n, is_send, is_unix);
	e = reserve(BYTES_UP_TO(transfer), VP_KIND_KERNEL_TRANSFER);
	if (!e)
		return 0;
	entry = bpf_task_storage_get(&entries, current, 0, 0);
	e->context = 0;
	e->detail = is_send ? VP_TRANSFER_SEND : 0;
	e->tid = current->pid;
	e->other = n;
	e->transfer.cookie = cookie;
	e->transfer.position = position;
	e->transfer.from_ns = entry ? entry->ns : e->ns;
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
	return flags & FLAG_PEEK ? 0 : tell_transfer(sk, n, 0);
}

#endif
