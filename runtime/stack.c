/* SPDX-License-Identifier: Apache-2.0 */
/* Call stacks at the events where work is handed from thread to thread.
 *
 * Samples: each thread's first events of each kind, then few. Call paths: at each mark of an interval and of a queue.
 *
 * To walk a stack costs microseconds, so it is done once, and then the stack is found again by what lies at the places
 * of its return addresses. A return address says which code runs in the frame around it and so how large that frame
 * is: if the innermost place and all return addresses are as they were, it is the same stack. (Of frames whose size
 * varies, a return address that was left behind at the very place would be taken for it.) The unwinder is linked in
 * statically and needs no memory of its own.
 */
#define _GNU_SOURCE
#include "runtime/runtime.h"

#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>
#include <unwind.h>

/* The range of our own code. */
#ifdef VPROF_STATIC
extern const char __start_vprof_text[] __attribute__((visibility("hidden"))); /* make_static */
extern const char __stop_vprof_text[] __attribute__((visibility("hidden")));
#define OWN_START __start_vprof_text
#define OWN_END __stop_vprof_text
#else
extern const char __ehdr_start[] __attribute__((visibility("hidden")));
extern const char _end[] __attribute__((visibility("hidden")));
#define OWN_START __ehdr_start
#define OWN_END _end
#endif

#ifdef VPROF_STATIC
__thread bool rt_in_unwinder __attribute__((tls_model("initial-exec")));
#endif

/* In a static program without signals: a handler's own waits are the program's, and an exception in it would need the
 * lock that the interrupted unwinder has taken. */
static void unwind(_Unwind_Trace_Fn each, void *w)
{
#ifdef VPROF_STATIC
	uint64_t mask = rt_signals_block();

	rt_unwinding_set(true);
#endif
	_Unwind_Backtrace(each, w);
#ifdef VPROF_STATIC
	rt_unwinding_set(false);
	rt_signals_restore(mask);
#endif
}

static _Unwind_Reason_Code any_frame(struct _Unwind_Context *context, void *arg)
{
	(void)context;
	(void)arg;
	return _URC_NO_REASON;
}

/* The unwinder's first walk fills its tables: done early, not during a measurement. */
static void first_walk(void)
{
	unwind(any_frame, NULL);
}

#ifdef VPROF_STATIC

/* A static program registers its frames with the unwinder in the first constructor without a priority. Before that the
 * unwinder would abort. */
static bool is_ready;

__attribute__((constructor)) static void stack_start(void)
{
	is_ready = true;
	first_walk();
}

void rt_stack_init(void)
{
}

#else

static const bool is_ready = true;

void rt_stack_init(void)
{
	first_walk();
}

#endif

#define FRONT 6u    /* of the stacks, which stay in their order */
#define WALKS 2048u /* of a thread; beyond, one in WALK_EVERY of the marks whose stack is not kept */
#define WALK_EVERY 16u
#define OWN_MAX 8u /* frames of our own code inside a sampled stack */
#define FRAMES_MAX (OWN_MAX + VP_STACK_MAX)

struct stack {
	uintptr_t frame; /* of the hook; of rt_stack(), with IS_SAMPLE */
	uint32_t n, id;
	uint32_t first;		    /* frame outside of our own code and of the probe's */
	uint32_t place[FRAMES_MAX]; /* of each return address, above `frame` */
	uint64_t address[FRAMES_MAX];
};
#define IS_SAMPLE 1u /* frames lie at even addresses */

_Static_assert(FRAMES_MAX <= UINT8_MAX, "as struct rt_kept counts them");

struct stack_walk {
	struct stack *stack; /* frames outside of our own code; those of a sample begin with ours */
	uint64_t caller;     /* the frames inside it are the probe's */
	bool is_cachable;
};

static bool is_ours(uint64_t pc)
{
	return pc >= (uint64_t)(uintptr_t)OWN_START && pc < (uint64_t)(uintptr_t)OWN_END;
}

static _Unwind_Reason_Code stack_frame(struct _Unwind_Context *context, void *arg)
{
	struct stack_walk *w = arg;
	struct stack *stack = w->stack;
	uint64_t pc = (uint64_t)_Unwind_GetIP(context);
	uintptr_t place = (uintptr_t)_Unwind_GetCFA(context) - sizeof(uint64_t);
	bool ours = is_ours(pc);

	if (!pc)
		return _URC_END_OF_STACK;
	if (ours && (!(stack->frame & IS_SAMPLE) || stack->n > stack->first || place < stack->frame))
		return _URC_NO_REASON;
	if (ours && stack->n == OWN_MAX) {
		w->is_cachable = false;
		return _URC_NO_REASON;
	}
	if (pc == w->caller)
		stack->first = stack->n;
#if defined(__x86_64__)
	if (place < stack->frame || place - stack->frame >= UINT32_MAX || *(const uint64_t *)place != pc)
		w->is_cachable = false;
#else
	w->is_cachable = false; /* a return address may lie anywhere in its frame */
#endif
	stack->place[stack->n] = (uint32_t)(place - stack->frame);
	stack->address[stack->n++] = pc;
	stack->first += ours;
	return stack->n - stack->first == VP_STACK_MAX || stack->n == FRAMES_MAX ? _URC_END_OF_STACK : _URC_NO_REASON;
}

/* As it is now? Each place is in a frame that the addresses before it have shown to be there. */
__attribute__((no_sanitize("address"))) RT_HOT static bool is_same(const struct rt_paths *p, uint32_t i)
{
	const struct rt_kept kept = p->kept[i];
	const uint64_t *address = p->words + kept.word;
	const uint32_t *place = (const uint32_t *)(address + kept.n);

	for (uint32_t k = 0; k < kept.n; k++)
		if (*(const uint64_t *)(kept.frame + place[k]) != address[k])
			return false;
	return true;
}

static void swap(struct rt_paths *p, uint32_t i, uint32_t j)
{
	struct rt_kept kept = p->kept[i];

	p->kept[i] = p->kept[j];
	p->kept[j] = kept;
}

/* NULL: it has to be walked. What is met again moves to the front, two cache lines. */
RT_HOT static const struct rt_kept *find(struct rt_paths *p, uintptr_t frame)
{
	for (uint32_t i = 0; i < p->n_kept; i++)
		if (p->kept[i].frame == frame && is_same(p, i)) {
			if (i < FRONT)
				return &p->kept[i];
			swap(p, i, i / 2);
			return &p->kept[i / 2];
		}
	return NULL;
}

/* When there is no more room, all others go: those that are still met are walked again. */
static void keep(struct rt_paths *p, const struct stack *stack)
{
	uint32_t n_words = stack->n + (stack->n + 1) / 2;
	uint32_t *place;

	if (p->n_kept == RT_KEPT || p->n_words + n_words > RT_KEPT_WORDS)
		p->n_kept = p->n_words = 0;
	p->kept[p->n_kept++] = (struct rt_kept){ stack->frame, stack->id, (uint16_t)p->n_words, (uint8_t)stack->n,
						 (uint8_t)stack->first };
	place = (uint32_t *)(p->words + p->n_words + stack->n);
	for (uint32_t i = 0; i < stack->n; i++) {
		p->words[p->n_words + i] = stack->address[i];
		place[i] = stack->place[i];
	}
	p->n_words += n_words;
}

static uint64_t path_hash(const uint64_t *addresses, unsigned n)
{
	uint64_t hash = n;

	for (unsigned i = 0; i < n; i++)
		hash = ((hash ^ addresses[i]) * UINT64_C(0x9e3779b97f4a7c15)) ^ hash >> 29;
	return hash;
}

/* The number of a path, which is recorded when it is new; 0: no room. */
static uint32_t path_number(struct rt_thread *th, struct rt_paths *p, const uint64_t *addresses, unsigned n)
{
	uint64_t hash = path_hash(addresses, n);
	struct vp_unit head;

	for (uint32_t i = 0; i < p->n_known; i++)
		if (p->hash[i] == hash)
			return i + 1;
	if (p->n_known == RT_KNOWN)
		return 0;
	head = (struct vp_unit){ rt_now(), VP_W(VP_KIND_STACK, n | (uint64_t)VP_STACK_PATH << 8 |
								       (uint64_t)(p->n_known + 1) << VP_PATH_SHIFT) };
	if (!rt_write_long(th, &head, 1, addresses, n * sizeof(addresses[0])))
		return 0;
	p->hash[p->n_known++] = hash;
	return p->n_known;
}

static uint32_t path_walk(struct rt_thread *th, struct rt_paths *p, uintptr_t frame, uint64_t caller)
{
	struct stack stack = { .frame = frame };
	struct stack_walk w = { .stack = &stack, .caller = caller, .is_cachable = true };

	if (p->n_walks >= WALKS && p->n_skipped++ % WALK_EVERY)
		return 0;
	p->n_walks++;
	rt_modules_check(th);
	unwind(stack_frame, &w);
	if (stack.n == stack.first)
		return 0;
	stack.id = path_number(th, p, stack.address + stack.first, stack.n - stack.first);
	if (stack.id && w.is_cachable)
		keep(p, &stack);
	return stack.id;
}

void rt_paths_forget(struct rt_thread *th)
{
	th->paths.thread_seq = 0;
}

RT_HOT static struct rt_paths *paths_of(struct rt_thread *th)
{
	struct rt_paths *p = &th->paths;

	if (p->thread_seq != th->thread_seq) { /* numbers are the thread's own */
		p->n_kept = p->n_words = p->n_known = p->n_walks = p->n_skipped = 0;
		p->thread_seq = th->thread_seq;
	}
	return p;
}

RT_HOT uint32_t rt_path(struct rt_thread *th, uintptr_t frame, const void *caller)
{
	const struct rt_kept *known;
	struct rt_paths *p;
	uint32_t id;

	if (!rt_process.shm->stack_samples || th->in_stack || !is_ready)
		return 0;
	th->in_stack = (uintptr_t)__builtin_frame_address(0);
	p = paths_of(th);
	known = find(p, frame);
	id = known ? known->id : path_walk(th, p, frame, (uint64_t)(uintptr_t)caller);
	th->in_stack = 0;
	return id;
}

/* Two addresses in each unit behind the first. */
static void sample_write(struct rt_thread *th, enum vp_stack kind, const uint64_t *address, uint32_t n)
{
	struct vp_unit units[1 + (VP_STACK_MAX + 1) / 2];

	units[0] = (struct vp_unit){ rt_now(), VP_W(VP_KIND_STACK, n | (uint64_t)kind << 8) };
	for (uint32_t i = 0; i < n; i += 2)
		units[1 + i / 2] = (struct vp_unit){ address[i], i + 1 < n ? address[i + 1] : 0 };
	if (n)
		rt_write(th, units, 1 + (n + 1) / 2);
}

static void __attribute__((noinline)) sample_walk(struct rt_thread *th, struct rt_paths *p, enum vp_stack kind,
						  uintptr_t frame, const void *caller)
{
	struct stack stack = { .frame = frame };
	struct stack_walk w = { .stack = &stack, .caller = (uint64_t)(uintptr_t)caller, .is_cachable = true };

	rt_modules_check(th);
	unwind(stack_frame, &w);
	if (w.is_cachable)
		keep(p, &stack);
	sample_write(th, kind, stack.address + stack.first, stack.n - stack.first);
}

RT_HOT void rt_stack(struct rt_thread *th, enum vp_stack kind, const void *caller)
{
	uintptr_t frame = (uintptr_t)__builtin_frame_address(0);
	uint32_t limit = rt_process.shm->stack_samples, nth;
	const struct rt_kept *known;
	struct rt_paths *p;

	if (!limit || th->in_stack || !is_ready)
		return;
	nth = th->n_stacks[kind]++;
	if (nth >= limit && nth % RT_STACK_EVERY)
		return;
	th->in_stack = frame;
	p = paths_of(th);
	known = find(p, frame | IS_SAMPLE);
	if (known)
		sample_write(th, kind, p->words + known->word + known->first, known->n - known->first);
	else
		sample_walk(th, p, kind, frame | IS_SAMPLE, caller);
	th->in_stack = 0;
}
