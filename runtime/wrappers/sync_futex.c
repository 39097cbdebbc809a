/* SPDX-License-Identifier: Apache-2.0 */
/* syscall(): futex waits and wakes of programs that make their own locks (libstdc++'s futures and atomic waits too),
 * and waits for the completion of asynchronous reads and writes.
 *
 * Everything else goes straight to the kernel. The library itself and the loader call syscall() before libc's own
 * definition is found, so the kernel is entered here.
 */
#define _GNU_SOURCE
#include "runtime/wrappers/io.h"
#include "runtime/wrappers/sync.h"

#include <linux/futex.h>
#include <stdarg.h>
#include <sys/syscall.h>
#include <unistd.h>

static inline long kernel(long number, long a, long b, long c, long d, long e, long f)
{
#if defined(__x86_64__)
	register long r10 __asm__("r10") = d;
	register long r8 __asm__("r8") = e;
	register long r9 __asm__("r9") = f;
	long result;

	__asm__ volatile("syscall"
			 : "=a"(result)
			 : "a"(number), "D"(a), "S"(b), "d"(c), "r"(r10), "r"(r8), "r"(r9)
			 : "rcx", "r11", "memory");
	return result;
#elif defined(__aarch64__)
	register long x8 __asm__("x8") = number;
	register long x0 __asm__("x0") = a;
	register long x1 __asm__("x1") = b;
	register long x2 __asm__("x2") = c;
	register long x3 __asm__("x3") = d;
	register long x4 __asm__("x4") = e;
	register long x5 __asm__("x5") = f;

	__asm__ volatile("svc 0" : "+r"(x0) : "r"(x8), "r"(x1), "r"(x2), "r"(x3), "r"(x4), "r"(x5) : "memory");
	return x0;
#else
#error "no system calls for this processor"
#endif
}

static inline long result_of(long raw)
{
	if ((unsigned long)raw <= -4096UL)
		return raw;
	errno = (int)-raw;
	return -1;
}

static bool futex_shared(long address, long op)
{
	return !(op & FUTEX_PRIVATE_FLAG) && rt_address_shared((const void *)address);
}

static long futex_wait(long address, long op, long value, long d, long e, long f)
{
	struct rt_wait w;
	long raw;

	rt_wait_begin(&w, (const void *)address, futex_shared(address, op));
	raw = kernel(SYS_futex, address, op, value, d, e, f);
	if (raw == -EAGAIN) /* it has another value by now */
		rt_wait_leave(&w);
	else
		rt_wait_end(&w, VP_WAIT_FUTEX, (int)-raw, VP_CALL_FUTEX, false);
	return raw;
}

/* The kernel returns how many it woke: stored in place of the release's number. */
static long futex_wake(long address, long op, long value, long d, long e, long f)
{
	struct rt_release r;
	long raw;

	rt_release_begin(&r, (const void *)address, futex_shared(address, op));
	if (!r.t)
		r.t = rt_now_fenced();
	raw = kernel(SYS_futex, address, op, value, d, e, f);
	if (raw > 0) {
		r.seq = raw < VP_SEQ_MASK ? (uint32_t)raw : VP_SEQ_MASK;
		rt_release_record(&r, atomic_load(r.slot), VP_WAIT_FUTEX, 0);
	}
	return raw;
}

/* Waits for the completion of reads and writes that were started before. */
static enum vp_call completion_call(long number)
{
	switch (number) {
#ifdef SYS_io_getevents
	case SYS_io_getevents:
#endif
#ifdef SYS_io_pgetevents
	case SYS_io_pgetevents:
#endif
		return VP_CALL_IO_GETEVENTS;
#ifdef SYS_io_uring_enter
	case SYS_io_uring_enter:
		return VP_CALL_IO_URING_ENTER;
#endif
	default:
		return VP_CALL_NONE;
	}
}

static long completion_wait(enum vp_call call, long number, long a, long b, long c, long d, long e, long f)
{
	uint64_t start = rt_now(), end;
	long raw = kernel(number, a, b, c, d, e, f);

	end = rt_now();
	if (end - start >= rt_process.io_ticks)
		rt_io_record(call, VP_WAIT_DISK, 0, start, end, raw);
	return raw;
}

static long forked(long number, long a, long b, long c, long d, long e)
{
	long raw;

	rt_fork_prepare();
	raw = kernel(number, a, b, c, d, e, 0);
	if (raw == 0)
		rt_fork_child();
	else
		rt_fork_parent();
	return raw;
}

RT_EXPORT long syscall(long number, ...)
{
	va_list rest;
	long a, b, c, d, e, f;
	enum vp_call call;

	va_start(rest, number);
	a = va_arg(rest, long);
	b = va_arg(rest, long);
	c = va_arg(rest, long);
	d = va_arg(rest, long);
	e = va_arg(rest, long);
	f = va_arg(rest, long);
	va_end(rest);
	if (rt_call_forks(number, a))
		return result_of(forked(number, a, b, c, d, e));
	if (!rt_active())
		return result_of(kernel(number, a, b, c, d, e, f));
	call = completion_call(number);
	if (call)
		return result_of(completion_wait(call, number, a, b, c, d, e, f));
	if (number != SYS_futex)
		return result_of(kernel(number, a, b, c, d, e, f));
	switch (b & FUTEX_CMD_MASK) {
	case FUTEX_WAIT:
	case FUTEX_WAIT_BITSET:
		return result_of(futex_wait(a, b, c, d, e, f));
	case FUTEX_WAKE:
	case FUTEX_WAKE_BITSET:
		return result_of(futex_wake(a, b, c, d, e, f));
	default:
		return result_of(kernel(number, a, b, c, d, e, f));
	}
}
