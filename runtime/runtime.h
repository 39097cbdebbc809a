/* SPDX-License-Identifier: Apache-2.0 */
/* What all parts of libvprof.so share.
 *
 * The library lives in other people's processes: it never allocates with malloc, prints, exits or takes a lock
 * while it records, it keeps errno, and everything here may be called from a signal handler. Hidden by default;
 * exported are vprof_rt_attach (for probe.h) and the wrappers of libc's functions.
 */
#ifndef VPROF_RUNTIME_H
#define VPROF_RUNTIME_H

#include <errno.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "runtime/record.h"
#include "runtime/thread.h"
#include "trace/format.h"
#include "trace/shm.h"

#define RT_EXPORT __attribute__((visibility("default")))

#define RT_STACK_EVERY 1024u /* beyond the first stack_samples one stack in so many */
#define RT_IO_NS 2000u	     /* shorter I/O calls are no waits */
#define RT_ANNOTATED_NS 1000u

/* What wrappers read at each call comes first, in one cache line. */
struct rt_process {
	_Alignas(64) _Atomic int active; /* a module with probes registered itself and the shared memory is mapped */
	uint32_t seq;
	uint64_t io_ticks, annotated_ticks; /* thresholds */
	vp_u64 (*ticks)(void);		    /* null: the CPU's counter */
	struct vp_shm *shm;
	_Atomic uint64_t *slots;
	uint32_t slot_shift; /* 64 - log2(n_slots / 2) */
	uint32_t pid, parent_seq;
	_Atomic uint32_t n_tokens;
	_Atomic uint32_t *states;
	unsigned char *chunks;
	unsigned char *sinks;	/* see chunk.h; above the chunks */
	uint64_t pid_namespace; /* its inode, 0: unknown */
	bool is_visit;		/* the session was joined by the door, and will be left */
};
extern struct rt_process rt_process;

/* attach.c */
bool rt_start(void); /* maps the shared memory of VPROF_SHM once, or that of an invitation; false: the process rests */
void rt_leave(void); /* the process's part in the session that it joined is over; signals are blocked */
uint64_t rt_token(void); /* unique in the session */
bool rt_start_forked(void);
void rt_process_enter(void); /* into the session's list */
void rt_identity_set(void);
void rt_modules_check(struct rt_thread *th); /* MODULE records when the set of modules changed */
void rt_modules_freeze(void);		     /* around a fork, in the parent */
void rt_modules_thaw(void);
void rt_modules_forget(void);
bool rt_address_shared(const void *address); /* in memory that the program mapped to be shared */

static inline bool rt_active(void)
{
	return RT_UNLIKELY(atomic_load_explicit(&rt_process.active, memory_order_acquire));
}

/* fork.c */
void rt_fork_start(void);
void rt_fork_prepare(void);
void rt_fork_parent(void); /* undoes rt_fork_prepare() in the process that called it */
void rt_fork_child(void);
bool rt_call_forks(long number, long argument); /* does this system call copy the memory? */
void rt_creations_forget(void);			/* wrappers/sync_thread.c */

/* The session is over, or its collector was killed, which the kernel tells. */
static inline bool rt_is_over(void)
{
	const struct vp_shm *shm = rt_process.shm;

	return RT_UNLIKELY((atomic_load_explicit(&shm->owner, memory_order_relaxed) & VP_OWNER_DIED) ||
			   atomic_load_explicit(&shm->stopped, memory_order_relaxed));
}

/* hot.c */
vp_u64 rt_hot_enter(struct vp_thread *thread, struct vp_hot *hot, vp_u64 key);
void rt_hot_leave(struct vp_thread *thread, struct vp_scope *scope, vp_u64 now);
void rt_hot_unskip(struct rt_thread *th, uint64_t t); /* the thread's skipped frame is recorded from t on */
/* Another stretch of work begins. At the begin of an interval the open frames are recorded. */
void rt_hot_stretch(struct rt_thread *th, bool begins, uint64_t t);
void rt_hot_elsewhere(struct rt_thread *th); /* another coroutine's frames are open now */
void rt_hot_start(struct rt_thread *th);
void rt_hot_forget(struct rt_thread *th);
void rt_hot_end(struct rt_thread *th);

/* interval.c: calls of this thread are not recorded now. */
static inline bool rt_window_closed(const struct rt_thread *th)
{
	return __atomic_load_n(th->probe.closed, __ATOMIC_RELAXED) != 0;
}

static inline uint64_t rt_now(void)
{
#if defined(__x86_64__)
	if (RT_LIKELY(!rt_process.ticks))
		return __builtin_ia32_rdtsc();
#elif defined(__aarch64__)
	uint64_t now;

	if (RT_LIKELY(!rt_process.ticks)) {
		__asm__ volatile("mrs %0, cntvct_el0" : "=r"(now));
		return now;
	}
#endif
	return rt_process.ticks();
}

/* Not reordered with the accesses around it. */
static inline uint64_t rt_now_fenced(void)
{
	uint64_t now;

#if defined(__x86_64__)
	__asm__ volatile("lfence" ::: "memory");
	now = rt_now();
	__asm__ volatile("lfence" ::: "memory");
#elif defined(__aarch64__)
	/* Loads before it are done, and nothing behind it begins: a memory barrier alone does not order the counter.
	 */
	__asm__ volatile("dsb ishld\n\tisb" ::: "memory");
	now = rt_now();
	__asm__ volatile("isb" ::: "memory");
#else
	atomic_thread_fence(memory_order_seq_cst);
	now = rt_now();
	atomic_thread_fence(memory_order_seq_cst);
#endif
	return now;
}

/* Between an arrival and the try that follows it, and between a release and the look at its slot that follows it: one
 * of the two sees the other. On x86 the locked instruction of either has done it; elsewhere a lock's own ordering is
 * too weak. */
static inline void rt_fence(void)
{
#if defined(__x86_64__)
	atomic_signal_fence(memory_order_seq_cst);
#else
	atomic_thread_fence(memory_order_seq_cst);
#endif
}

/* stack.c: a STACK record before the thread's next record, when a sample is due. */
void rt_stack(struct rt_thread *th, enum vp_stack kind, const void *caller);
void rt_stack_init(void);
void rt_paths_forget(struct rt_thread *th); /* those of an earlier session */
/* The number of the call path that leads to the hook with this frame address, called from `caller` in the program; a
 * STACK record that defines it may be written. 0: not known. */
uint32_t rt_path(struct rt_thread *th, uintptr_t frame, const void *caller);
#ifdef VPROF_STATIC
extern __thread bool rt_in_unwinder __attribute__((tls_model("initial-exec")));
#endif

/* Is the calling thread in the unwinder, for a stack sample? A static program shares its unwinder with libvprof.a, and
 * that unwinder takes its lock through our wrappers. libvprof.so has an unwinder to itself, in which nobody registers
 * frames, so it takes no lock. */
static inline bool rt_unwinding(void)
{
#ifdef VPROF_STATIC
	return rt_in_unwinder;
#else
	return false;
#endif
}

static inline void rt_unwinding_set(bool unwinding)
{
#ifdef VPROF_STATIC
	rt_in_unwinder = unwinding;
#else
	(void)unwinding;
#endif
}

/* interval.c */
extern const struct vp_api rt_api;
uint64_t rt_string(struct rt_thread *th, const char *text); /* its hash, defined in this process */
void rt_strings_forget(void);

/* wrappers/sync.c: the ticket protocol. */
static inline _Atomic uint64_t *rt_slot(uint64_t object, bool shared)
{
	uint64_t key = shared ? object & 4095u : object ^ (uint64_t)rt_process.seq << 48;

	return &rt_process.slots[2 * (key * UINT64_C(0x9e3779b97f4a7c15) >> rt_process.slot_shift)];
}
uint32_t rt_arrive(_Atomic uint64_t *slot); /* the ticket; pair with rt_leave_slot */
#define RT_SEQ(seq) ((uint32_t)(seq) << 8)  /* a release's number beside the flags */
void rt_wait_record(struct rt_thread *th, unsigned wait, unsigned flags, uint64_t object, uint32_t ticket,
		    uint64_t start, uint64_t end, uint64_t result);
void rt_wake_record(struct rt_thread *th, unsigned wait, unsigned flags, uint64_t object, uint64_t before,
		    uint64_t after, uint64_t t);
void rt_thread_exit(struct rt_thread *th); /* EXIT, and the joiners' WAKE */

static inline void rt_leave_slot(_Atomic uint64_t *slot)
{
	atomic_fetch_sub_explicit(slot, 1, memory_order_relaxed);
}

#ifdef VPROF_STATIC

/* libvprof.a: the linker's --wrap puts the wrappers before libc's functions, which it calls __real_NAME. */
#define RT_NEXT(name) extern __typeof__(name) __real_##name
#define RT_NEXT_VERSION(name, version) RT_NEXT(name)
#define REAL(name) (&__real_##name)
static inline void rt_next_all(void)
{
}

#else

/* All wrappers' next definitions are looked up when the process becomes active, and before that on first use. */
struct rt_wrapped {
	_Atomic(void *) *cache;
	const char *name, *version;
} __attribute__((aligned(32)));			 /* the linker lays them out as an array */
void *rt_next(const struct rt_wrapped *wrapped); /* never null */
void rt_next_all(void);

/* Before a wrapper; in it, REAL(read) is libc's read. */
#define RT_NEXT_VERSION(name, version)                                                                                 \
	static _Atomic(void *) rt_next_##name RT_HOT_DATA;                                                             \
	static const struct rt_wrapped rt_wrapped_##name                                                               \
		__attribute__((section("rt_wrapped"), used)) = { &rt_next_##name, #name, version }
#define RT_NEXT(name) RT_NEXT_VERSION(name, NULL)
#define REAL(name)                                                                                                     \
	__extension__({                                                                                                \
		void *next_ = atomic_load_explicit(&rt_next_##name, memory_order_relaxed);                             \
		(__typeof__(&name))(RT_LIKELY(next_ != NULL) ? next_ : rt_next(&rt_wrapped_##name));                   \
	})

#endif /* VPROF_STATIC */

#endif
