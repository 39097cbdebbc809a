/* SPDX-License-Identifier: Apache-2.0 */
/* The compiler's callbacks for -fsanitize=thread, passed on to libvprof-flows.so when that is loaded.
 *
 * This object is joined with every object that a discovery build compiles. All symbols are weak and hidden, so that a
 * module keeps one of each, however many objects bring them, and no libtsan is ever needed. Atomic operations are
 * carried out here, in the strongest order: this is a program that has to run right, not fast.
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <string.h>

#include "runtime/flows/flow_hooks.h"

#define STUB __attribute__((weak, visibility("hidden")))
#define PC ((uintptr_t)__builtin_return_address(0))
#define HOOKS(call)                                                                                                    \
	do {                                                                                                           \
		const struct vprof_flow_hooks *hooks = vp_flow_hooks;                                                  \
		if (__builtin_expect(hooks != NULL, 0))                                                                \
			hooks->call;                                                                                   \
	} while (0)

#define WATCHED(call)                                                                                                  \
	do {                                                                                                           \
		const struct vprof_flow_hooks *hooks = vp_flow_hooks;                                                  \
		if (__builtin_expect(hooks != NULL && __atomic_load_n(&hooks->watches, __ATOMIC_RELAXED) & 1, 0))      \
			hooks->call;                                                                                   \
	} while (0)

STUB const struct vprof_flow_hooks *vp_flow_hooks;
extern __typeof__(dlsym) dlsym __attribute__((weak)); /* a static program may have none */

static inline void prepare_assembly(void);

STUB void __tsan_init(void)
{
	const struct vprof_flow_hooks *hooks;

	if (vp_flow_hooks || !dlsym)
		return;
	hooks = dlsym(RTLD_DEFAULT, "vprof_flow_hooks");
	if (!hooks || hooks->version != VPROF_FLOW_HOOKS_VERSION)
		return;
	hooks->module(&vp_flow_hooks);
	prepare_assembly();
	vp_flow_hooks = hooks;
}

#define ACCESS(n)                                                                                                      \
	STUB void __tsan_read##n(void *p)                                                                              \
	{                                                                                                              \
		WATCHED(read((uintptr_t)p, n, PC));                                                                    \
	}                                                                                                              \
	STUB void __tsan_write##n(void *p)                                                                             \
	{                                                                                                              \
		WATCHED(write((uintptr_t)p, n, PC));                                                                   \
	}                                                                                                              \
	STUB void __tsan_unaligned_read##n(void *p)                                                                    \
	{                                                                                                              \
		WATCHED(read((uintptr_t)p, n, PC));                                                                    \
	}                                                                                                              \
	STUB void __tsan_unaligned_write##n(void *p)                                                                   \
	{                                                                                                              \
		WATCHED(write((uintptr_t)p, n, PC));                                                                   \
	}                                                                                                              \
	STUB void __tsan_volatile_read##n(void *p)                                                                     \
	{                                                                                                              \
		WATCHED(read((uintptr_t)p, n, PC));                                                                    \
	}                                                                                                              \
	STUB void __tsan_volatile_write##n(void *p)                                                                    \
	{                                                                                                              \
		WATCHED(write((uintptr_t)p, n, PC));                                                                   \
	}                                                                                                              \
	STUB void __tsan_unaligned_volatile_read##n(void *p)                                                           \
	{                                                                                                              \
		WATCHED(read((uintptr_t)p, n, PC));                                                                    \
	}                                                                                                              \
	STUB void __tsan_unaligned_volatile_write##n(void *p)                                                          \
	{                                                                                                              \
		WATCHED(write((uintptr_t)p, n, PC));                                                                   \
	}                                                                                                              \
	STUB void __tsan_read_write##n(void *p)                                                                        \
	{                                                                                                              \
		WATCHED(read((uintptr_t)p, n, PC));                                                                    \
		WATCHED(write((uintptr_t)p, n, PC));                                                                   \
	}                                                                                                              \
	STUB void __tsan_unaligned_read_write##n(void *p)                                                              \
	{                                                                                                              \
		WATCHED(read((uintptr_t)p, n, PC));                                                                    \
		WATCHED(write((uintptr_t)p, n, PC));                                                                   \
	}

ACCESS(1)
ACCESS(2)
ACCESS(4)
ACCESS(8)
ACCESS(16)

STUB void __tsan_read_range(void *p, size_t n)
{
	WATCHED(read((uintptr_t)p, n, PC));
}

STUB void __tsan_write_range(void *p, size_t n)
{
	WATCHED(write((uintptr_t)p, n, PC));
}

STUB void __tsan_vptr_read(void **p)
{
	WATCHED(read((uintptr_t)p, sizeof *p, PC));
}

STUB void __tsan_vptr_update(void **p, void *value)
{
	(void)value;
	WATCHED(write((uintptr_t)p, sizeof *p, PC));
}

STUB void __tsan_func_entry(void *caller)
{
	(void)caller;
}

STUB void __tsan_func_exit(void)
{
}

STUB void __tsan_ignore_thread_begin(void)
{
}

STUB void __tsan_ignore_thread_end(void)
{
}

/* What sources call themselves where the compiler says that the thread sanitizer is on. */
STUB void __tsan_acquire(void *p)
{
	(void)p;
}

STUB void __tsan_release(void *p)
{
	(void)p;
}

/* clang calls the first three; memcpy and memmove of gcc's objects are renamed to the last two. */
STUB void *__tsan_memcpy(void *to, const void *from, size_t n)
{
	WATCHED(copy((uintptr_t)to, (uintptr_t)from, n, PC));
	return memcpy(to, from, n);
}

STUB void *__tsan_memmove(void *to, const void *from, size_t n)
{
	WATCHED(copy((uintptr_t)to, (uintptr_t)from, n, PC));
	return memmove(to, from, n);
}

STUB void *__tsan_memset(void *to, int byte, size_t n)
{
	WATCHED(write((uintptr_t)to, n, PC));
	return memset(to, byte, n);
}

STUB void *vp_flow_memcpy(void *to, const void *from, size_t n)
{
	WATCHED(copy((uintptr_t)to, (uintptr_t)from, n, PC));
	return memcpy(to, from, n);
}

STUB void *vp_flow_memmove(void *to, const void *from, size_t n)
{
	WATCHED(copy((uintptr_t)to, (uintptr_t)from, n, PC));
	return memmove(to, from, n);
}

/* flow_probe.h */
STUB void vp_flow_lock_acquired(const unsigned long long *lock)
{
	HOOKS(acquired((uintptr_t)*lock, PC));
}

STUB void vp_flow_lock_releasing(unsigned long long lock)
{
	HOOKS(releasing((uintptr_t)lock, PC));
}

#define FETCH(bits, type, name, operation)                                                                             \
	STUB type __tsan_atomic##bits##_fetch_##name(volatile type *p, type v, int order)                              \
	{                                                                                                              \
		type old;                                                                                              \
		HOOKS(publish((uintptr_t)p, bits / 8, 0, order, PC));                                                  \
		old = __sync_fetch_and_##operation(p, v);                                                              \
		HOOKS(observe((uintptr_t)p, bits / 8, VPROF_FLOW_NOT_TOLD, order, PC));                                \
		return old;                                                                                            \
	}

#define ATOMIC(bits, type)                                                                                             \
	static inline type swap##bits(volatile type *p, type v)                                                        \
	{                                                                                                              \
		type old = *p, seen;                                                                                   \
		while ((seen = __sync_val_compare_and_swap(p, old, v)) != old)                                         \
			old = seen;                                                                                    \
		return old;                                                                                            \
	}                                                                                                              \
	STUB type __tsan_atomic##bits##_load(const volatile type *p, int order)                                        \
	{                                                                                                              \
		type v = LOAD##bits(p);                                                                                \
		HOOKS(observe((uintptr_t)p, bits / 8, (uint64_t)v, order, PC));                                        \
		return v;                                                                                              \
	}                                                                                                              \
	STUB void __tsan_atomic##bits##_store(volatile type *p, type v, int order)                                     \
	{                                                                                                              \
		HOOKS(publish((uintptr_t)p, bits / 8, (uint64_t)v, order, PC));                                        \
		swap##bits(p, v);                                                                                      \
	}                                                                                                              \
	STUB type __tsan_atomic##bits##_exchange(volatile type *p, type v, int order)                                  \
	{                                                                                                              \
		type old;                                                                                              \
		HOOKS(publish((uintptr_t)p, bits / 8, (uint64_t)v, order, PC));                                        \
		old = swap##bits(p, v);                                                                                \
		HOOKS(observe((uintptr_t)p, bits / 8, (uint64_t)old, order, PC));                                      \
		return old;                                                                                            \
	}                                                                                                              \
	static inline int exchange##bits(volatile type *p, type *expected, type v, int order, uintptr_t pc)            \
	{                                                                                                              \
		type seen;                                                                                             \
		HOOKS(publish((uintptr_t)p, bits / 8, (uint64_t)v, order, pc));                                        \
		seen = __sync_val_compare_and_swap(p, *expected, v);                                                   \
		HOOKS(observe((uintptr_t)p, bits / 8, (uint64_t)seen, order, pc));                                     \
		if (seen == *expected)                                                                                 \
			return 1;                                                                                      \
		*expected = seen;                                                                                      \
		return 0;                                                                                              \
	}                                                                                                              \
	STUB int __tsan_atomic##bits##_compare_exchange_strong(volatile type *p, type *e, type v, int order, int fail) \
	{                                                                                                              \
		(void)fail;                                                                                            \
		return exchange##bits(p, e, v, order, PC);                                                             \
	}                                                                                                              \
	STUB int __tsan_atomic##bits##_compare_exchange_weak(volatile type *p, type *e, type v, int order, int fail)   \
	{                                                                                                              \
		(void)fail;                                                                                            \
		return exchange##bits(p, e, v, order, PC);                                                             \
	}                                                                                                              \
	STUB type __tsan_atomic##bits##_compare_exchange_val(volatile type *p, type e, type v, int order, int fail)    \
	{                                                                                                              \
		(void)fail;                                                                                            \
		exchange##bits(p, &e, v, order, PC);                                                                   \
		return e;                                                                                              \
	}                                                                                                              \
	FETCH(bits, type, add, add)                                                                                    \
	FETCH(bits, type, sub, sub)                                                                                    \
	FETCH(bits, type, and, and)                                                                                    \
	FETCH(bits, type, or, or)                                                                                      \
	FETCH(bits, type, xor, xor)                                                                                    \
	FETCH(bits, type, nand, nand)

#define LOAD8(p) __atomic_load_n(p, __ATOMIC_SEQ_CST)
#define LOAD16(p) __atomic_load_n(p, __ATOMIC_SEQ_CST)
#define LOAD32(p) __atomic_load_n(p, __ATOMIC_SEQ_CST)
#define LOAD64(p) __atomic_load_n(p, __ATOMIC_SEQ_CST)

ATOMIC(8, uint8_t)
ATOMIC(16, uint16_t)
ATOMIC(32, uint32_t)
ATOMIC(64, uint64_t)
#ifdef __GCC_HAVE_SYNC_COMPARE_AND_SWAP_16
typedef unsigned __int128 uint128;
/* may write what is there already: the object cannot be constant, as its address is atomic's */
#define LOAD128(p) __sync_val_compare_and_swap((volatile uint128 *)(p), 0, 0)
ATOMIC(128, uint128)
#endif

STUB void __tsan_atomic_thread_fence(int order)
{
	(void)order;
	__atomic_thread_fence(__ATOMIC_SEQ_CST);
}

STUB void __tsan_atomic_signal_fence(int order)
{
	(void)order;
	__atomic_signal_fence(__ATOMIC_SEQ_CST);
}

/* ---- atomic instructions of inline assembly ---- */

#if defined(__x86_64__)
/* Where vp_flow_asm_before and _after find what, in 8 bytes each: registers from rax to r15 without rsp, flags, whether
 * it is after, the return address, what the instruction is, rax, the address. The caller's code is that of
 * instrumenter/flow_assembly.c. */
enum { SAVED_AFTER = 16, SAVED_PC, SAVED_WHAT, SAVED_RAX, SAVED_ADDRESS, SAVED_REGISTERS = 15 };
enum { KIND_XCHG = 1, KIND_CMPXCHG, KIND_XADD };

/* Vector registers hold values of the program. What XSAVE does not cover, the hooks do not use. */
#define VECTORS "0xe7" /* x87, SSE, AVX, AVX-512 */
#define AREA "2816"    /* of these, with room to align it */

STUB int vp_flow_has_xsave;

static inline void prepare_assembly(void)
{
	uint32_t a = 1, b, c, d;

	__asm__("cpuid" : "+a"(a), "=b"(b), "=c"(c), "=d"(d));
	vp_flow_has_xsave = c >> 27 & 1; /* the system has switched it on */
}

STUB __attribute__((used)) void vp_flow_asm(const uint64_t *saved)
{
	uint64_t what = saved[SAVED_WHAT], n = what & 0xff, kind = what >> 8 & 0xff, reg = what >> 16 & 0xff, value = 0;
	const struct vprof_flow_hooks *hooks = vp_flow_hooks;
	int is_after = saved[SAVED_AFTER] != 0, is_told = 1;

	if (kind == KIND_CMPXCHG && is_after)
		value = saved[SAVED_RAX];
	else if (reg < SAVED_REGISTERS && (kind == KIND_XCHG || kind == (is_after ? KIND_XADD : KIND_CMPXCHG)))
		value = reg ? saved[reg] : saved[SAVED_RAX];
	else
		is_told = 0;
	value &= n < 8 ? (UINT64_C(1) << 8 * n) - 1 : UINT64_MAX;
	if (!is_after) {
		hooks->publish(saved[SAVED_ADDRESS], n, value, __ATOMIC_SEQ_CST, saved[SAVED_PC]);
		return;
	}
	if (!is_told)
		value = VPROF_FLOW_NOT_TOLD;
	hooks->observe(saved[SAVED_ADDRESS], n, value, __ATOMIC_SEQ_CST, saved[SAVED_PC]);
	hooks->changed(saved[SAVED_ADDRESS]);
}

#define PUSH_ALL                                                                                                       \
	"pushq %r15\n pushq %r14\n pushq %r13\n pushq %r12\n pushq %r11\n pushq %r10\n pushq %r9\n pushq %r8\n"        \
	"pushq %rbp\n pushq %rdi\n pushq %rsi\n pushq %rdx\n pushq %rcx\n pushq %rbx\n pushq %rax\n"
#define POP_ALL                                                                                                        \
	"popq %rax\n popq %rbx\n popq %rcx\n popq %rdx\n popq %rsi\n popq %rdi\n popq %rbp\n"                          \
	"popq %r8\n popq %r9\n popq %r10\n popq %r11\n popq %r12\n popq %r13\n popq %r14\n popq %r15\n"
#define CLEAR_HEADER                                                                                                   \
	"movq $0, 512(%rsp)\n movq $0, 520(%rsp)\n movq $0, 528(%rsp)\n movq $0, 536(%rsp)\n"                          \
	"movq $0, 544(%rsp)\n movq $0, 552(%rsp)\n movq $0, 560(%rsp)\n movq $0, 568(%rsp)\n"
#define MASK "movl $" VECTORS ", %eax\n xorl %edx, %edx\n"
#define SAVE "cmpl $0, vp_flow_has_xsave(%rip)\n je 2f\n" CLEAR_HEADER MASK "xsave64 (%rsp)\n"
#define SYMBOL(name) ".weak " name "\n .hidden " name "\n .type " name ", @function\n" name ":\n"

/* clang-format off */
__asm__(
	".text\n"
	SYMBOL("vp_flow_asm_before")
	"	pushq $0\n"
	"	jmp 1f\n"
	SYMBOL("vp_flow_asm_after")
	"	pushq $1\n"
	"1:	pushfq\n"
	"	cmpq $0, vp_flow_hooks(%rip)\n"
	"	je 4f\n"
	"	cld\n"
	PUSH_ALL
	"	movq %rsp, %rdi\n"
	"	movq %rsp, %rbx\n"
	"	subq $" AREA ", %rsp\n"
	"	andq $-64, %rsp\n"
	SAVE
	"	call vp_flow_asm\n"
	MASK
	"	xrstor64 (%rsp)\n"
	"	jmp 3f\n"
	"2:	fxsave64 (%rsp)\n"
	"	call vp_flow_asm\n"
	"	fxrstor64 (%rsp)\n"
	"3:	movq %rbx, %rsp\n"
	POP_ALL
	"4:	popfq\n"
	"	leaq 8(%rsp), %rsp\n"
	"	ret\n");
/* clang-format on */
#else
static inline void prepare_assembly(void)
{
}
#endif
