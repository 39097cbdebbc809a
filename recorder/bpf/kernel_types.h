/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The few kernel structures that the programs read, with only the fields they read. The loader moves each access to
 * where the field lies in the running kernel (CO-RE).
 */
#ifndef VPROF_KERNEL_TYPES_H
#define VPROF_KERNEL_TYPES_H

typedef unsigned char __u8;
typedef unsigned short __u16;
typedef unsigned int __u32;
typedef unsigned long long __u64;
typedef signed char __s8;
typedef short __s16;
typedef int __s32;
typedef long long __s64;
typedef __u16 __be16;
typedef __u32 __be32;
typedef __u32 __wsum;

enum {
	BPF_MAP_TYPE_HASH = 1,
	BPF_MAP_TYPE_LRU_HASH = 9,
	BPF_MAP_TYPE_ARRAY = 2,
	BPF_MAP_TYPE_PERCPU_ARRAY = 6,
	BPF_MAP_TYPE_ARRAY_OF_MAPS = 12,
	BPF_MAP_TYPE_SK_STORAGE = 24,
	BPF_MAP_TYPE_RINGBUF = 27,
	BPF_MAP_TYPE_TASK_STORAGE = 29
};
enum { BPF_ANY = 0, BPF_NOEXIST = 1 };
enum { BPF_RB_NO_WAKEUP = 1 };
enum { BPF_F_NO_PREALLOC = 1, BPF_F_MMAPABLE = 1024, BPF_LOCAL_STORAGE_GET_F_CREATE = 1 };

#pragma clang attribute push(__attribute__((preserve_access_index)), apply_to = record)

struct atomic {
	int counter;
};

struct signal_struct {
	struct atomic live;
};

struct mm_struct {
	unsigned long start_code, end_code, start_brk, brk, mmap_base, start_stack;
};

struct pt_regs { /* x86 */
	unsigned long r15, r14, r13, r12, bp, bx, ax, di, ip, sp, orig_ax;
};

struct thread_struct { /* x86 */
	unsigned long fsbase;
};

struct ns_common {
	unsigned int inum;
};

struct net {
	struct ns_common ns;
};

struct nsproxy {
	struct net *net_ns;
};

struct task_struct {
	struct thread_struct thread;
	void *stack;
	struct mm_struct *mm;
	unsigned int flags;
	int pid, tgid, exit_code;
	struct task_struct *real_parent;
	struct signal_struct *signal;
	struct nsproxy *nsproxy;
	char comm[16];
};

struct gendisk {
	int major, first_minor;
};

struct request_queue {
	struct gendisk *disk;
};

struct request {
	struct request_queue *q;
	unsigned int cmd_flags, __data_len;
	__u64 __sector;
};

struct net_device {
	int ifindex;
	unsigned int flags;
};

struct list_head {
	struct list_head *next, *prev;
};

struct sk_buff {
	unsigned int len;
	struct net_device *dev;
	__u64 skb_mstamp_ns;
	struct list_head tcp_tsorted_anchor;
};

typedef struct {
	struct net *net;
} possible_net_t;

struct in6_addr {
	unsigned char bytes[16];
};

typedef struct {
	__s64 counter;
} atomic64_t;

struct sock_common {
	__be32 skc_daddr, skc_rcv_saddr;
	__be16 skc_dport;
	__u16 skc_num;
	unsigned short skc_family;
	possible_net_t skc_net;
	struct in6_addr skc_v6_daddr, skc_v6_rcv_saddr;
	atomic64_t skc_cookie;
};

struct sock {
	struct sock_common __sk_common;
	__u16 sk_protocol, sk_type;
};

struct tcp_sock {
	__u32 copied_seq, write_seq, snd_nxt, snd_una, rcv_nxt;
	__u64 tcp_wstamp_ns, tcp_clock_cache, first_tx_mstamp;
	struct list_head tsorted_sent_queue;
};

struct inet_connection_sock {
	struct {
		__u32 lrcvtime;
	} icsk_ack;
};

struct sockaddr_un {
	unsigned short sun_family;
	char sun_path[108];
};

struct unix_address {
	int len;
	struct sockaddr_un name[0];
};

struct unix_sock {
	struct unix_address *addr;
	struct sock *peer;
};

#pragma clang attribute pop

/* tracepoints' arguments that are only passed on, or not looked at */
struct irqaction;
struct hrtimer;
struct linux_binprm;

#endif
