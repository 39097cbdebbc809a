/* SPDX-License-Identifier: Apache-2.0 */
/* The probes that vprof inserts into shadow sources; reaches the compiler by -include.
 *
 * Includes nothing and passes strict modes from C89 to C++20. All objects of one binary or shared library share
 * the weak hidden symbols below; libvprof.so is found at run time, so no link line changes. Without it the probes
 * are inert.
 *
 * Invariants:
 *  - A closed gate reads one thread-local pointer and one word and touches nothing else.
 *  - A unit of the trace is reserved by one instruction on the thread's `next`, so that a signal handler's probe
 *    between any two instructions takes another unit.
 *  - Scopes of open frames are linked from the thread, innermost first, so that longjmp can close them.
 *
 * Everything before VP_PROBE_TYPES_ONLY's check is shared with the runtime.
 */
#ifndef VP_PROBE_H
#define VP_PROBE_H
#pragma GCC system_header
/* gcc -O0 sees a way past `__builtin_unreachable()` into a cleanup, and warns of a missing return behind it. */
#pragma GCC diagnostic ignored "-Wreturn-type"

__extension__ typedef unsigned long long vp_u64;

#define VP_ABI 4u
#define VP_ABI_FIRST 0x10000u /* beside it: the first time that this module attaches since it was loaded */

struct vp_scope {     /* one open frame */
	vp_u64 gate;  /* of the frame around it */
	vp_u64 start; /* ticks; of a skipped hot call: the gate that it would have opened */
	struct vp_scope *outer;
	vp_u64 code; /* and how a hot call is recorded: VP_SKIPPED and what hot.c keeps above it */
};
#define VP_SKIPPED ((vp_u64)1 << 24)
/* Of a call that was skipped since it began in a pause between two recording windows: the pause's number, not 0, and
 * which bit is set in the gate that it would have opened. */
#define VP_PAUSE_SHIFT 26
#define VP_PAUSE(code) ((unsigned int)((code) >> VP_PAUSE_SHIFT))
#define VP_PAUSED_GATE_SHIFT 58
#define VP_IS_HOT_(scope) ((scope)->code >> 24)

/* How often one function was called in this stretch of the thread's work, a stretch being the time between two marks
 * of intervals. The calls beyond a limit are sampled (runtime/hot.c). */
struct vp_hot {
	vp_u64 key;	   /* stretch | code */
	vp_u64 since;	   /* ticks */
	int left;	   /* calls until the runtime decides; below 0, down to -gap, they are skipped */
	unsigned char gap; /* 0: every call is recorded */
	unsigned char pending, second, rest;
	unsigned int n;
	unsigned int block : 22, size : 8, stage : 2;
};
#define VP_HOT_SLOTS 256u

/* A resident probe (docs/design/live.md): what a call of it records is decided while the program runs, by whoever
 * writes here. A change takes effect for calls that begin after it. All of a module's lie in its section
 * VP_LIVE_SECTION. */
struct vp_live_site {
	vp_u64 mask;	    /* gates under which a call is recorded; 0: none */
	vp_u64 opens;	    /* the gate inside a recorded call; 0: as that of a function that is not broken down */
	unsigned int code;  /* as in the trace; constant */
	unsigned int flags; /* VP_LIVE_ROOT: an ENTER record, too */
	void (*twin)(void); /* the instrumented copy of the function; 0: the probe stands in the function itself;
			     * VP_LIVE_COPY: in an instrumented copy, by whatever function that was entered */
};
#define VP_LIVE_COPY 1u
#define VP_LIVE_SECTION "vp_live"
#define VP_LIVE_ROOT 1u

/* an annotation whose work ends when the scope is left */
struct vp_hook {
	unsigned int kind;
	unsigned int ticket;
	const char *name;
	vp_u64 value, start, before;
};

struct vp_api;

/* the head of the runtime's own structure */
struct vp_thread {
	vp_u64 gate;
	unsigned long next, limit; /* addresses: the next unit, and where the slow path begins */
	struct vp_scope *top;
	vp_u64 (*ticks)(void);	    /* null: the processor's counter */
	const struct vp_api *api;   /* null: inert */
	struct vp_hot *hot;	    /* [VP_HOT_SLOTS] */
	vp_u64 stretch;		    /* number of the stretch of work << 32 */
	int hot_after;		    /* calls in one stretch that are recorded in any case */
	const unsigned int *closed; /* not 0 between two recording windows */
	vp_u64 beneath_closed;	    /* gates that stay open inside a call that is not recorded for that */
	unsigned int rests;	    /* not 0: takes part in no session; its clock sends probes to the slow path */
};

struct vp_api {
	/* A unit {t, w} whose reserved address is not below the limit. */
	void (*full)(struct vp_thread *thread, unsigned long address, vp_u64 t, vp_u64 w);
	/* A record of this moment. caller: where the stack sample begins. */
	void (*hook)(struct vp_thread *thread, unsigned int kind, const char *name, vp_u64 value, const void *caller);
	/* Annotated acquire and release functions. */
	void (*enter)(struct vp_thread *thread, struct vp_hook *hook);
	void (*leave)(struct vp_thread *thread, struct vp_hook *hook, const void *caller);
	/* A call that the counter leaves to the runtime: bits for its scope's code. */
	vp_u64 (*hot_enter)(struct vp_thread *thread, struct vp_hot *hot, vp_u64 key);
	/* The end, at `now`, of a frame with such bits that is not skipped, or was skipped for a pause that is over;
	 * gate and top are not yet restored. */
	void (*hot_leave)(struct vp_thread *thread, struct vp_scope *scope, vp_u64 now);
};

/* Hooks: kinds of trace/format.h, and these. */
#define VP_HOOK_BEGIN 2u
#define VP_HOOK_RESUME 3u
#define VP_HOOK_SUSPEND 4u
#define VP_HOOK_END 5u
#define VP_HOOK_TYPE 6u
#define VP_HOOK_WORK 7u
#define VP_HOOK_ENQUEUE 10u
#define VP_HOOK_DEQUEUE 11u
#define VP_HOOK_FALSE_WAKE 15u
#define VP_HOOK_TYPE_TEXT 64u
#define VP_HOOK_SPIN_BEGIN 65u
#define VP_HOOK_SPIN_END 66u
#define VP_HOOK_WAKE 67u
#define VP_HOOK_ACQUIRE 68u
#define VP_HOOK_RELEASE 69u

#define VP_PAYLOAD_LIMIT ((1UL << 40) - 1)

#ifndef VP_PROBE_TYPES_ONLY

#define VP_WEAK_ __attribute__((__weak__, __visibility__("hidden")))
#define VP_OUT_ __attribute__((__weak__, __visibility__("hidden"), __noinline__, __no_instrument_function__))
#ifdef __cplusplus
#define VP_INLINE_ inline __attribute__((__always_inline__, __no_instrument_function__))
#else
#define VP_INLINE_ extern __inline__ __attribute__((__gnu_inline__, __always_inline__, __no_instrument_function__))
#endif

/* Eight bytes of static TLS for each shared library with probes: general-dynamic access would cost a call for
 * each closed gate. -DVP_TLS_DYNAMIC is for libraries that are loaded with dlopen and have more
 * thread-local storage than fits into the loader's reserve. */
#if defined(__PIC__) && !defined(__PIE__) && !defined(VP_TLS_DYNAMIC)
#define VP_TLS_ __attribute__((__weak__, __visibility__("hidden"), __tls_model__("initial-exec")))
#else
#define VP_TLS_ VP_WEAK_
#endif

#ifdef __cplusplus
extern "C" {
#endif

/* Where every thread's pointer starts: its gate is open for all, its clock sends the probe to the slow path. The
 * clock that never ticks also keeps inert threads from the fast one. */
VP_OUT_ vp_u64 vp_start_ticks(void)
{
	return 0;
}
VP_WEAK_ struct vp_thread vp_start_thread = { ~0ULL, 0, 0, 0, vp_start_ticks, 0, 0, 0, 0, 0, 0, 0 };
VP_WEAK_ struct vp_thread vp_inert_thread = { 0, 0, 0, 0, vp_start_ticks, 0, 0, 0, 0, 0, 0, 0 };
VP_TLS_ __thread struct vp_thread *vp_self = &vp_start_thread;
VP_WEAK_ struct vp_thread *(*vp_rt_attach)(unsigned int abi, unsigned long thread_bytes) = 0;
VP_WEAK_ int vp_rt_looked = 0;

extern struct vp_thread *vprof_rt_attach(unsigned int abi, unsigned long thread_bytes)
	__attribute__((__weak__)); /* libvprof.a's, or null */
extern void *vp_dlsym(void *handle, const char *name) __asm__("dlsym") __attribute__((__weak__));

/* The thread's pointer for this module, from now on. Never null. A thread that rests asks each time whether a session
 * has begun. */
VP_OUT_ struct vp_thread *vp_attach(void)
{
	struct vp_thread *thread = 0;
	unsigned int first = 0;

	if (vp_self != &vp_start_thread && !vp_self->rests)
		return vp_self;
	if (!vp_rt_looked) {
		first = VP_ABI_FIRST;
		if (vprof_rt_attach) {
			vp_rt_attach = vprof_rt_attach;
		} else if (vp_dlsym) {
			void *found = vp_dlsym(0, "vprof_rt_attach");
			__builtin_memcpy(&vp_rt_attach, &found, sizeof(found));
		}
		vp_rt_looked = 1;
	}
	if (vp_rt_attach)
		thread = vp_rt_attach(VP_ABI | first, sizeof(struct vp_thread));
	vp_self = thread ? thread : &vp_inert_thread;
	return vp_self;
}

#ifdef VP_LIVE
/* The linker keeps the section whose beginning is asked for, and with it the twins. */
__asm__(".pushsection " VP_LIVE_SECTION ",\"aw\"\n\t.popsection");
extern struct vp_live_site vp_live_first[] __asm__("__start_vp_live") __attribute__((__visibility__("hidden")));
#endif

/* Makes the process active: the runtime's wrappers pass everything through in all others. */
__attribute__((__weak__, __visibility__("hidden"), __noinline__, __no_instrument_function__, __constructor__(101))) void
vp_module_start(void)
{
#ifdef VP_LIVE
	__asm__ __volatile__("" : : "r"(vp_live_first));
#endif
	vp_attach();
}

VP_INLINE_ vp_u64 vp_ticks(const struct vp_thread *thread)
{
#if defined(__x86_64__)
	if (__builtin_expect(!thread->ticks, 1))
		return __builtin_ia32_rdtsc();
#elif defined(__aarch64__)
	if (__builtin_expect(!thread->ticks, 1)) {
		vp_u64 now;
		__asm__ __volatile__("mrs %0, cntvct_el0" : "=r"(now));
		return now;
	}
#endif
	return thread->ticks();
}

/* Reserves the next unit against signal handlers of this thread; other threads never touch `next`. */
VP_INLINE_ unsigned long vp_reserve(struct vp_thread *thread, unsigned long n_bytes)
{
#if defined(__x86_64__)
	unsigned long address = n_bytes;
	__asm__ __volatile__("{xaddq %0, %1|xadd %1, %0}" : "+r"(address), "+m"(thread->next) : : "cc", "memory");
	return address;
#elif defined(__aarch64__)
	/* Inline: gcc's atomics are calls into its library. A signal between the two makes the store fail. */
	unsigned long address, after;
	unsigned int failed;
	__asm__ __volatile__("1: ldxr %0, %3\n\tadd %1, %0, %4\n\tstxr %w2, %1, %3\n\tcbnz %w2, 1b"
			     : "=&r"(address), "=&r"(after), "=&r"(failed), "+Q"(thread->next)
			     : "r"(n_bytes)
			     : "memory");
	return address;
#else
	return __atomic_fetch_add(&thread->next, n_bytes, __ATOMIC_RELAXED);
#endif
}

VP_INLINE_ void vp_unit_write(struct vp_thread *thread, vp_u64 t, vp_u64 w)
{
	unsigned long address = vp_reserve(thread, 16);

	if (__builtin_expect(address >= thread->limit, 0)) {
		thread->api->full(thread, address, t, w);
	} else {
		((volatile vp_u64 *)address)[0] = t;
		((volatile vp_u64 *)address)[1] = w;
	}
}

/* Links the frame's scope and changes the gate, the time taken as late as may be. `inner` is the gate inside. A
 * handler's longjmp finds either the whole scope or none of it. */
VP_INLINE_ void vp_scope_enter(struct vp_scope *scope, struct vp_thread *thread, vp_u64 code, vp_u64 inner)
{
	scope->gate = thread->gate;
	scope->outer = thread->top;
	scope->code = code;
	scope->start = vp_ticks(thread);
	__asm__ __volatile__("" : : : "memory");
	thread->top = scope;
	thread->gate = inner;
}

VP_INLINE_ void vp_scope_leave(struct vp_scope *scope, struct vp_thread *thread)
{
	vp_u64 start = scope->start;
	vp_u64 duration = vp_ticks(thread) - start;

	thread->gate = scope->gate;
	thread->top = scope->outer;
	if (__builtin_expect((duration >> 40) != 0, 0)) /* VP_PAYLOAD_LIMIT */
		duration = duration >> 63 ? 0 : VP_PAYLOAD_LIMIT;
	vp_unit_write(thread, start, scope->code | duration << 24);
}

/* A call that is not measured, and with it all that it calls. */
VP_INLINE_ void vp_scope_skip(struct vp_scope *scope, struct vp_thread *thread, unsigned long code, vp_u64 inner)
{
	scope->gate = thread->gate;
	scope->outer = thread->top;
	scope->code = code | VP_SKIPPED;
	scope->start = inner;
	__asm__ __volatile__("" : : : "memory");
	thread->top = scope;
	thread->gate = 0;
}

/* The same in a pause, of which the time is known: if a window opens while it lasts, it is recorded. */
VP_INLINE_ void vp_scope_pause(struct vp_scope *scope, struct vp_thread *thread, unsigned long code, vp_u64 inner,
			       unsigned int pause)
{
	scope->gate = thread->gate;
	scope->outer = thread->top;
	scope->code = code | VP_SKIPPED | (vp_u64)pause << VP_PAUSE_SHIFT |
		      (vp_u64)(unsigned int)__builtin_ctzll(inner) << VP_PAUSED_GATE_SHIFT;
	scope->start = vp_ticks(thread);
	__asm__ __volatile__("" : : : "memory");
	thread->top = scope;
	thread->gate = inner & thread->beneath_closed;
}

/* The function's first call in this stretch of work, or a hot one. */
VP_OUT_ struct vp_scope *vp_open_hot(struct vp_scope *scope, unsigned long code, vp_u64 inner, struct vp_thread *thread,
				     struct vp_hot *hot)
{
	vp_u64 key = thread->stretch | code;
	/* 0: a handler made the first call, between the caller's look and ours */
	vp_u64 bits = hot->gap ? VP_SKIPPED : 0;
	unsigned int pause = __atomic_load_n(thread->closed, __ATOMIC_RELAXED);

	if (__builtin_expect(pause != 0, 0)) {
		vp_scope_pause(scope, thread, code, inner, pause);
		return scope;
	}
	if (hot->key != key && !hot->gap) {
		vp_scope_enter(scope, thread, code, inner);
		hot->key = key;
		hot->since = scope->start;
		hot->n = 0;
		hot->left = thread->hot_after;
		return scope;
	}
	if (hot->key != key || hot->left <= -(int)hot->gap)
		bits = thread->api->hot_enter(thread, hot, key);
	if (bits & VP_SKIPPED)
		vp_scope_skip(scope, thread, code, inner);
	else
		vp_scope_enter(scope, thread, code | bits, inner);
	return scope;
}

VP_INLINE_ struct vp_scope *vp_open_counted(struct vp_scope *scope, unsigned long code, vp_u64 inner,
					    struct vp_thread *thread)
{
	struct vp_hot *hot = &thread->hot[(code ^ code >> 8) % VP_HOT_SLOTS];

	if (__builtin_expect(hot->key != (thread->stretch | code) || --hot->left <= 0, 0))
		return vp_open_hot(scope, code, inner, thread, hot);
	vp_scope_enter(scope, thread, code, inner);
	return scope;
}

VP_OUT_ void vp_close_hot(struct vp_scope *scope, struct vp_thread *thread)
{
	unsigned int pause = VP_PAUSE(scope->code);

	if (scope->code & VP_SKIPPED && (!pause || pause == __atomic_load_n(thread->closed, __ATOMIC_RELAXED))) {
		thread->gate = scope->gate;
		thread->top = scope->outer;
	} else {
		thread->api->hot_leave(thread, scope, vp_ticks(thread));
	}
}

/* The first probe of a thread in this module, and clocks that are not the processor's counter. */
VP_OUT_ struct vp_scope *vp_open_slow(struct vp_scope *scope, unsigned long code, vp_u64 mask, vp_u64 inner)
{
	struct vp_thread *thread = vp_attach();

	return !thread->rests && thread->gate & mask ? vp_open_counted(scope, code, inner, thread) : 0;
}

/* Also of a frame that moved to another thread, one without a runtime perhaps: there its end is not recorded. */
VP_OUT_ void vp_close_slow(struct vp_scope *scope)
{
	struct vp_thread *thread = vp_attach();

	if (thread->api && VP_IS_HOT_(scope))
		vp_close_hot(scope, thread);
	else if (thread->api)
		vp_scope_leave(scope, thread);
}

/* The gate was open. Null when it is closed after all. These two are the whole cost of a recorded call: no frame
 * of their own, no call but as their last act. */
VP_OUT_ struct vp_scope *vp_open(struct vp_scope *scope, unsigned long code, vp_u64 mask, vp_u64 inner)
{
	struct vp_thread *thread = vp_self;

	if (__builtin_expect(thread->ticks != 0, 0))
		return vp_open_slow(scope, code, mask, inner);
	return vp_open_counted(scope, code, inner, thread);
}

VP_OUT_ struct vp_scope *vp_open_root(struct vp_scope *scope, unsigned long code, vp_u64 mask, vp_u64 inner)
{
	scope = vp_open(scope, code, mask, inner);
	if (scope && !VP_IS_HOT_(scope))
		vp_unit_write(vp_self, scope->start, 1 | (vp_u64)code << 24);
	return scope;
}

VP_OUT_ void vp_close(struct vp_scope *scope)
{
	struct vp_thread *thread = vp_self;

	if (__builtin_expect(thread->ticks != 0, 0))
		vp_close_slow(scope);
	else if (__builtin_expect(VP_IS_HOT_(scope) != 0, 0))
		vp_close_hot(scope, thread);
	else
		vp_scope_leave(scope, thread);
}

VP_INLINE_ struct vp_scope *vp_enter(struct vp_scope *scope, unsigned long code, vp_u64 mask, unsigned int context)
{
	return vp_self->gate & mask ? vp_open(scope, code, mask, (vp_u64)1 << context) : 0;
}

VP_INLINE_ struct vp_scope *vp_enter_root(struct vp_scope *scope, unsigned long code, vp_u64 mask, unsigned int context)
{
	return vp_self->gate & mask ? vp_open_root(scope, code, mask, (vp_u64)1 << context) : 0;
}

/* A resident probe whose mask has a bit of the gate. Mask and gate may belong to two plans for a moment: such calls
 * straddle the change, and are known as that. */
VP_OUT_ struct vp_scope *vp_live_open(struct vp_scope *scope, struct vp_live_site *site)
{
	vp_u64 mask = __atomic_load_n(&site->mask, __ATOMIC_RELAXED);
	vp_u64 inner = __atomic_load_n(&site->opens, __ATOMIC_RELAXED);

	if (!inner)
		inner = 2;
	if (__builtin_expect(__atomic_load_n(&site->flags, __ATOMIC_RELAXED) & VP_LIVE_ROOT, 0))
		return vp_open_root(scope, site->code, mask, inner);
	return vp_open(scope, site->code, mask, inner);
}

VP_INLINE_ struct vp_scope *vp_live_enter(struct vp_scope *scope, struct vp_live_site *site)
{
	return vp_self->gate & __atomic_load_n(&site->mask, __ATOMIC_RELAXED) ? vp_live_open(scope, site) : 0;
}

VP_INLINE_ void vp_leave(struct vp_scope **open)
{
	if (*open)
		vp_close(*open);
}

VP_OUT_ void vp_hook_record(unsigned int kind, const char *name, vp_u64 value)
{
	struct vp_thread *thread = vp_attach();

	if (thread->api && !thread->rests)
		thread->api->hook(thread, kind, name, value, __builtin_return_address(0));
}

VP_OUT_ struct vp_hook *vp_hook_open(struct vp_hook *hook, unsigned int kind, const char *name, vp_u64 value)
{
	struct vp_thread *thread = vp_attach();

	if (!thread->api || thread->rests)
		return 0;
	hook->kind = kind;
	hook->name = name;
	hook->value = value;
	if (kind >= VP_HOOK_ACQUIRE)
		thread->api->enter(thread, hook);
	return hook;
}

VP_OUT_ void vp_hook_close(struct vp_hook *hook)
{
	struct vp_thread *thread = vp_attach();

	if (thread->api && hook->kind >= VP_HOOK_ACQUIRE)
		thread->api->leave(thread, hook, __builtin_return_address(0));
	else if (thread->api)
		thread->api->hook(thread, hook->kind, hook->name, hook->value, __builtin_return_address(0));
}

/* Without a runtime marks cost a load and a comparison: a lock that is annotated is taken often. */
VP_INLINE_ void vp_hook_now(unsigned int kind, const char *name, vp_u64 value)
{
	if (vp_self != &vp_inert_thread)
		vp_hook_record(kind, name, value);
}

VP_INLINE_ void vp_hook_leave(struct vp_hook **open)
{
	if (*open)
		vp_hook_close(*open);
}

#ifdef __cplusplus
}
#endif

/* Frames. Declarations only. */
#define VP_SCOPE_(scope, open, enter, code, mask, context)                                                             \
	struct vp_scope scope;                                                                                         \
	struct vp_scope *open __attribute__((__cleanup__(vp_leave), __unused__)) = enter(&scope, code, mask, context);
#define VP_FUNCTION(code, mask, context) VP_SCOPE_(vp_scope_, vp_open_, vp_enter, code, mask, context)
#define VP_ROOT(code, mask, context) VP_SCOPE_(vp_scope_, vp_open_, vp_enter_root, code, mask, context)
#define VP_SITE(code, mask, context) VP_SCOPE_(vp_site_##code, vp_site_open_##code, vp_enter, code, mask, context)

/* Resident probes. In a twin (C) the site is a variable that names it. Elsewhere it is made by the assembler: one for
 * each copy that the compiler makes of the function, also of inline functions and templates, whose static variables
 * cannot be put into a section. */
#define VP_LIVE_VARIABLE_(site, code, twin)                                                                            \
	static struct vp_live_site site                                                                                \
		__attribute__((__section__(VP_LIVE_SECTION), __aligned__(32))) = { 0, 0, code, 0, twin };
#define VP_LIVE_SCOPE_(scope, open, site)                                                                              \
	struct vp_scope scope;                                                                                         \
	struct vp_scope *open __attribute__((__cleanup__(vp_leave), __unused__)) = vp_live_enter(&scope, site);
#define VP_LIVE_TWIN(code, twin)                                                                                       \
	VP_LIVE_VARIABLE_(vp_live_, code, (void (*)(void))twin) VP_LIVE_SCOPE_(vp_scope_, vp_open_, &vp_live_)
#if defined(__x86_64__)
#define VP_LIVE_ADDRESS_ "{leaq 17b(%%rip), %0|lea %0, 17b[rip]}"
#elif defined(__aarch64__)
#define VP_LIVE_ADDRESS_ "adrp %0, 17b\n\tadd %0, %0, :lo12:17b"
#endif
#ifdef VP_LIVE_PROBED /* the probed one of a C++ unit's two assemblies */
#define VP_LIVE_IN_ "1"
#else
#define VP_LIVE_IN_ "0"
#endif
#ifdef VP_LIVE_ADDRESS_
#define VP_LIVE_MADE_(site, code)                                                                                      \
	struct vp_live_site *site = (__extension__({                                                                   \
		struct vp_live_site *vp_made_;                                                                         \
		__asm__ __inline__(".pushsection " VP_LIVE_SECTION ",\"aw\"\n\t.balign 32\n"                           \
				   "17:\t.8byte 0, 0\n\t.4byte %c1, 0\n\t.8byte " VP_LIVE_IN_                          \
				   "\n\t.popsection\n\t" VP_LIVE_ADDRESS_                                              \
				   : "=r"(vp_made_)                                                                    \
				   : "i"(code));                                                                       \
		vp_made_;                                                                                              \
	}));
#ifdef VP_LIVE_PLAIN
#define VP_LIVE_FUNCTION(code)
#else
#define VP_LIVE_FUNCTION(code) VP_LIVE_MADE_(vp_live_, code) VP_LIVE_SCOPE_(vp_scope_, vp_open_, vp_live_)
#endif
#endif
#if defined(VP_LIVE_PLAIN)
#define VP_LIVE_SITE(code)
#elif defined(__cplusplus) || defined(VP_LIVE_PROBED)
#define VP_LIVE_SITE(code)                                                                                             \
	VP_LIVE_MADE_(vp_live_##code, code) VP_LIVE_SCOPE_(vp_site_##code, vp_site_open_##code, vp_live_##code)
#else
#define VP_LIVE_SITE(code)                                                                                             \
	VP_LIVE_VARIABLE_(vp_live_##code, code, 0)                                                                     \
	VP_LIVE_SCOPE_(vp_site_##code, vp_site_open_##code, &vp_live_##code)
#endif

/* What the text of a C function with a twin is spliced with (instrumenter/splice/splice_live.c). VP_LIVE_TWINS asks for
 * twins; a unit that does not compile with them has all probes in bodies. clang changes how static functions are called
 * unless their address is taken, which would keep those of headers in every unit. */
#if defined(VP_LIVE_TWINS) && !defined(__cplusplus) && defined(__x86_64__)
#define VP_LIVE_TWINS_
#define VP_LIVE_HERE(code)
#define VP_LIVE_HERE_SITE(code)
#define VP_TWIN_(name, ...)                                                                                            \
	static __typeof__(name) name##__vp __attribute__((__noinline__, __section__(".text.unlikely.vp"),              \
							  __patchable_function_entry__(0, 0), __VA_ARGS__));
#define VP_TWIN(name) VP_TWIN_(name, __used__)
#ifdef __clang__
#define VP_APART __attribute__((__noinline__))
#else
#define VP_APART __attribute__((__noinline__, __noclone__))
#endif
#define VP_TWIN_OF_HEADER(name) VP_TWIN_(name, __unused__)
/* The function's address, with the compiler in the dark about whose it is: a call that is not inlined, wherever else it
 * is. */
VP_INLINE_ void (*vp_unseen(void (*function)(void)))(void)
{
	__asm__("" : "+r"(function));
	return function;
}
#define VP_UNSEEN(name) ((__typeof__(&(name)))vp_unseen((void (*)(void))(name)))
#else
#define VP_LIVE_HERE(code) VP_LIVE_FUNCTION(code)
#define VP_LIVE_HERE_SITE(code) VP_LIVE_SITE(code)
#define VP_APART
#endif
#if defined(VP_LIVE_TWINS_) && !defined(__clang__)
#define VP_LIVE_HEADER_TWINS_
#define VP_LIVE_HERE_IN_HEADER(code)
#define VP_APART_IN_HEADER VP_APART
#define VP_TWIN_KEEP(name)
#else
#define VP_LIVE_HERE_IN_HEADER(code) VP_LIVE_FUNCTION(code)
#define VP_APART_IN_HEADER
#define VP_TWIN_KEEP(name) static void (*const vp_kept_##name)(void) __attribute__((__used__)) = (void (*)(void))name;
#endif

#ifdef __cplusplus
/* A call inside a C++ expression. The object lives to the end of the full expression, as the call's temporaries do;
 * its members give the result back as it is and close the scope right after the call. What an exception leaves, or
 * VP_SITE_SCOPE encloses, is closed by the destructor. docs/design/call-sites.md. */
extern "C++" {
class vp_site
{
	struct vp_scope scope;
	struct vp_scope *open;
	vp_site(const vp_site &);
	vp_site &operator=(const vp_site &);

      public:
	VP_INLINE_ vp_site(unsigned long code, vp_u64 mask, unsigned int context)
	{
		open = vp_enter(&scope, code, mask, context);
	}
	VP_INLINE_ explicit vp_site(struct vp_live_site *live)
	{
		open = vp_live_enter(&scope, live);
	}
	VP_INLINE_ ~vp_site()
	{
		vp_leave(&open);
	}
	VP_INLINE_ void close()
	{
		vp_leave(&open);
		open = 0;
	}
	template <class Result> VP_INLINE_ Result value(Result result)
	{
		close();
		return result;
	}
	template <class Result> VP_INLINE_ Result &reference(Result &result)
	{
		close();
		return result;
	}
#if __cplusplus >= 201103L
	template <class Result> VP_INLINE_ Result &&reference(Result &&result)
	{
		close();
		return static_cast<Result &&>(result);
	}
#endif
	VP_INLINE_ void none(int)
	{
		close();
	}
};
VP_INLINE_ void vp_site_hold(const vp_site &)
{
}
}
#define VP_SITE_VALUE(code, mask, context) ::vp_site(code, mask, context).value
#define VP_SITE_REFERENCE(code, mask, context) ::vp_site(code, mask, context).reference
#define VP_SITE_VOID(code, mask, context) ::vp_site(code, mask, context).none
#define VP_SITE_SCOPE(code, mask, context) ::vp_site_hold(::vp_site(code, mask, context)),
#if defined(VP_LIVE_PLAIN)
#define VP_LIVE_SITE_VALUE(code)
#define VP_LIVE_SITE_REFERENCE(code)
#define VP_LIVE_SITE_VOID(code) (void)
#define VP_LIVE_SITE_SCOPE(code)
#elif defined(VP_LIVE_ADDRESS_)
extern "C++" {
template <unsigned int Code> VP_INLINE_ struct vp_live_site *vp_live_made()
{
	VP_LIVE_MADE_(site, Code)
	return site;
}
}
#define VP_LIVE_SITE_VALUE(code) ::vp_site(::vp_live_made<code>()).value
#define VP_LIVE_SITE_REFERENCE(code) ::vp_site(::vp_live_made<code>()).reference
#define VP_LIVE_SITE_VOID(code) ::vp_site(::vp_live_made<code>()).none
#define VP_LIVE_SITE_SCOPE(code) ::vp_site_hold(::vp_site(::vp_live_made<code>())),
#endif
#endif

/* W3C Trace Context's header, "00-TRACE-PARENT-FLAGS": the last 16 of the trace's 32 digits, which both ends of a
 * request read alike. 0: it is none. */
VP_OUT_ vp_u64 vp_traceparent(const char *text)
{
	vp_u64 trace = 0;
	int i;

	for (i = 0; text && i < 35; i++) {
		char c = text[i];
		int digit = c >= '0' && c <= '9' ? c - '0' : c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;

		if (i == 2 ? c != '-' : digit < 0)
			return 0;
		trace = i > 2 ? trace << 4 | (vp_u64)digit : 0;
	}
	return text && text[35] == '-' ? trace : 0;
}

/* Pointers and integers alike. */
#define VP_VALUE_(value) ((vp_u64)(__UINTPTR_TYPE__)(value))

/* Annotations as void expressions. */
#define VP_DO_BEGIN(name, id) vp_hook_now(VP_HOOK_BEGIN, name, VP_VALUE_(id))
#define VP_DO_RESUME(name, id) vp_hook_now(VP_HOOK_RESUME, name, VP_VALUE_(id))
#define VP_DO_SUSPEND(name, id) vp_hook_now(VP_HOOK_SUSPEND, name, VP_VALUE_(id))
#define VP_DO_END(name, id) vp_hook_now(VP_HOOK_END, name, VP_VALUE_(id))
#define VP_DO_WORK(counter, amount) vp_hook_now(VP_HOOK_WORK, counter, VP_VALUE_(amount))
#define VP_DO_ENQUEUE(item) vp_hook_now(VP_HOOK_ENQUEUE, 0, VP_VALUE_(item))
#define VP_DO_DEQUEUE(item) vp_hook_now(VP_HOOK_DEQUEUE, 0, VP_VALUE_(item))
#define VP_DO_SPIN_BEGIN(object) vp_hook_now(VP_HOOK_SPIN_BEGIN, 0, VP_VALUE_(object))
#define VP_DO_SPIN_END(object) vp_hook_now(VP_HOOK_SPIN_END, 0, VP_VALUE_(object))
#define VP_DO_WAKE(object) vp_hook_now(VP_HOOK_WAKE, 0, VP_VALUE_(object))
#define VP_DO_RELEASE(object) vp_hook_now(VP_HOOK_RELEASE, 0, VP_VALUE_(object))
#define VP_DO_FALSE_WAKE() vp_hook_now(VP_HOOK_FALSE_WAKE, 0, 0)
#define VP_DO_TYPE_TEXT(text) vp_hook_now(VP_HOOK_TYPE_TEXT, text, 0)
#define VP_DO_TYPE_NUMBER(number) vp_hook_now(VP_HOOK_TYPE, 0, VP_VALUE_(number))

#ifdef __cplusplus
extern "C++" {
inline void vp_type_any(const char *text)
{
	vp_hook_now(VP_HOOK_TYPE_TEXT, text, 0);
}
inline void vp_type_any(char *text)
{
	vp_hook_now(VP_HOOK_TYPE_TEXT, text, 0);
}
inline void vp_type_any(const unsigned char *text)
{
	vp_hook_now(VP_HOOK_TYPE_TEXT, (const char *)text, 0);
}
inline void vp_type_any(unsigned char *text)
{
	vp_hook_now(VP_HOOK_TYPE_TEXT, (const char *)text, 0);
}
template <class Value> inline void vp_type_any(Value value)
{
	vp_hook_now(VP_HOOK_TYPE, 0, VP_VALUE_(value));
}
}
#define VP_DO_TYPE(value) vp_type_any(value)
#else
#define VP_IS_(value, type) __builtin_types_compatible_p(__typeof__((value) + 0), type)
#define VP_IS_TEXT_(value)                                                                                             \
	(VP_IS_(value, char *) || VP_IS_(value, const char *) || VP_IS_(value, unsigned char *) ||                     \
	 VP_IS_(value, const unsigned char *))
#define VP_DO_TYPE(value)                                                                                              \
	(__extension__(VP_IS_TEXT_(value) ?                                                                            \
			       vp_hook_now(VP_HOOK_TYPE_TEXT, (const char *)(__UINTPTR_TYPE__)(value), 0) :            \
			       vp_hook_now(VP_HOOK_TYPE, 0, VP_VALUE_(value))))
#endif

/* The same as declarations, at a function's entry; n makes the names unique. */
#define VP_NOW_(n, expression) int vp_now_##n __attribute__((__unused__)) = ((expression), 0);
#define VP_BEGIN(n, name, id) VP_NOW_(n, VP_DO_BEGIN(name, id))
#define VP_RESUME(n, name, id) VP_NOW_(n, VP_DO_RESUME(name, id))
#define VP_SUSPEND(n, name, id) VP_NOW_(n, VP_DO_SUSPEND(name, id))
#define VP_END(n, name, id) VP_NOW_(n, VP_DO_END(name, id))
#define VP_TYPE(n, value) VP_NOW_(n, VP_DO_TYPE(value))
#define VP_WORK(n, counter, amount) VP_NOW_(n, VP_DO_WORK(counter, amount))
#define VP_ENQUEUE(n, item) VP_NOW_(n, VP_DO_ENQUEUE(item))
#define VP_DEQUEUE(n, item) VP_NOW_(n, VP_DO_DEQUEUE(item))
#define VP_IF(n, condition, what, ...) VP_NOW_(n, (condition) ? VP_DO_##what(__VA_ARGS__) : (void)0)

/* Evaluated at the entry, for a hook at the exit: VP_DO_END(name, vp_keep_<n>). */
#define VP_KEEP(n, value) vp_u64 vp_keep_##n __attribute__((__unused__)) = VP_VALUE_(value);

/* Scopes: arguments are evaluated now, the record is written when the scope is left. */
#define VP_HOOKED_(n, kind, name, value)                                                                               \
	struct vp_hook vp_hook_##n;                                                                                    \
	struct vp_hook *vp_hook_open_##n __attribute__((__cleanup__(vp_hook_leave), __unused__)) =                     \
		vp_self == &vp_inert_thread ? 0 : vp_hook_open(&vp_hook_##n, kind, name, VP_VALUE_(value));
#define VP_ACQUIRE(n, object, function) VP_HOOKED_(n, VP_HOOK_ACQUIRE, function, object)
#define VP_RELEASE(n, object) VP_HOOKED_(n, VP_HOOK_RELEASE, 0, object)
#define VP_LATER_BEGIN_(n, name, id) VP_HOOKED_(n, VP_HOOK_BEGIN, name, id)
#define VP_LATER_RESUME_(n, name, id) VP_HOOKED_(n, VP_HOOK_RESUME, name, id)
#define VP_LATER_SUSPEND_(n, name, id) VP_HOOKED_(n, VP_HOOK_SUSPEND, name, id)
#define VP_LATER_END_(n, name, id) VP_HOOKED_(n, VP_HOOK_END, name, id)
#define VP_LATER_WORK_(n, counter, amount) VP_HOOKED_(n, VP_HOOK_WORK, counter, amount)
#define VP_LATER_ENQUEUE_(n, item) VP_HOOKED_(n, VP_HOOK_ENQUEUE, 0, item)
#define VP_LATER_DEQUEUE_(n, item) VP_HOOKED_(n, VP_HOOK_DEQUEUE, 0, item)
#define VP_LATER_RELEASE_(n, object) VP_RELEASE(n, object)
#define VP_AT_EXIT(n, what, ...) VP_LATER_##what##_(n, __VA_ARGS__)

#if defined(__cplusplus) && __cplusplus >= 201103L
/* Statements evaluated when the scope is left, C++ only. */
extern "C++" {
template <class Statements> struct vp_at_exit {
	Statements statements;
	explicit vp_at_exit(Statements s) : statements(s)
	{
	}
	~vp_at_exit()
	{
		statements();
	}
	vp_at_exit(const vp_at_exit &) = delete;
	vp_at_exit &operator=(const vp_at_exit &) = delete;
};
}
#define VP_AT_EXIT_DO(n, ...)                                                                                          \
	auto vp_lambda_##n = [&]() { __VA_ARGS__; };                                                                   \
	vp_at_exit<decltype(vp_lambda_##n)> vp_at_exit_##n __attribute__((__unused__)) (vp_lambda_##n);
#endif

#endif /* VP_PROBE_TYPES_ONLY */
#endif
