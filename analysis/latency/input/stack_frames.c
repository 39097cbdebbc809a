/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "analysis/latency/input/stack_frames.h"

#include <pthread.h>
#include <stdio.h>
#include <string.h>

#include "common/elf/code_flow.h"
#include "common/elf/elf_symbols.h"
#include "common/elf/function_search.h"
#include "common/files.h"

#define CALLS_KNOWN 1024

struct opened_file {
	const char *path;      /* kept */
	struct vprof_elf *elf; /* NULL: cannot be read, or is another one now */
	struct vprof_code_flow *flow;
	int has_flow; /* it was tried */
	struct vprof_namesakes *namesakes;
	int has_namesakes; /* likewise */
};

enum question { MAY_FOLLOW, MAY_BECOME };

struct followed { /* the answer for two places */
	uint32_t place, next;
	enum question question;
	int may;
};

/* Where in its function a frame is: at the instruction of the address (innermost of a stack), in the call that returns
 * to the address, or about to make that call, in the procedure linkage table or in the dynamic linker, which jump on.
 */
enum place_at { AT_INSTRUCTION, IN_CALL, BEFORE_CALL };

struct place {
	uint32_t file; /* in `files`; VPROF_NONE: the kernel, or no file */
	uint32_t function;
	uint64_t address; /* in the file */
	enum place_at at;
	int is_signal; /* a handler returns to it: what it lies on was interrupted */
};

struct pair { /* of stacks */
	uint32_t user, kernel, entry, call, stack;
};

struct vprof_stack_frames {
	struct vprof_latency_history *history;
	struct vprof_strings *strings;
	struct vprof_stack_counts *counts;
	const struct vprof_kernel_tables *tables;
	VPROF_ARRAY(struct opened_file) files;
	struct vprof_hash_index by_place, by_function, by_pair;
	VPROF_ARRAY(struct place) places; /* a place is its number here */
	VPROF_ARRAY(struct pair) pairs;
	VPROF_ARRAY(uint8_t) entries; /* [stacks of the history] enum vprof_entry */
	VPROF_ARRAY(struct followed) followed;
	struct vprof_hash_index by_followed;
	pthread_mutex_t lock; /* of what may_follow changes */
};

struct vprof_stack_frames *vprof_stack_frames_new(struct vprof_latency_history *history, struct vprof_strings *strings,
						  struct vprof_stack_counts *counts,
						  const struct vprof_kernel_tables *tables)
{
	struct vprof_stack_frames *g = calloc(1, sizeof *g);

	if (g) {
		g->history = history;
		g->strings = strings;
		g->counts = counts;
		g->tables = tables;
		pthread_mutex_init(&g->lock, NULL);
	}
	return g;
}

void vprof_stack_frames_free(struct vprof_stack_frames *g)
{
	for (size_t i = 0; g && i < g->files.n; i++) {
		vprof_code_flow_free(g->files.v[i].flow);
		vprof_namesakes_free(g->files.v[i].namesakes);
		vprof_elf_free(g->files.v[i].elf);
	}
	if (g) {
		pthread_mutex_destroy(&g->lock);
		VPROF_ARRAY_RELEASE(&g->followed);
		vprof_hash_index_release(&g->by_followed);
		VPROF_ARRAY_RELEASE(&g->files);
		VPROF_ARRAY_RELEASE(&g->places);
		VPROF_ARRAY_RELEASE(&g->pairs);
		VPROF_ARRAY_RELEASE(&g->entries);
		vprof_hash_index_release(&g->by_place);
		vprof_hash_index_release(&g->by_function);
		vprof_hash_index_release(&g->by_pair);
	}
	free(g);
}

/* The number of the file; VPROF_NONE without memory. */
static uint32_t find_file(struct vprof_stack_frames *g, const struct vprof_kernel_module *m)
{
	struct opened_file *f;
	const char *path = vprof_strings_look(g->strings, m->path);

	for (uint32_t i = 0; path && i < g->files.n; i++)
		if (g->files.v[i].path == path)
			return i;
	path = vprof_strings_keep(g->strings, m->path);
	f = path ? VPROF_PUSH(&g->files) : NULL;
	if (!f)
		return VPROF_NONE;
	f->path = path;
	if (!vprof_elf_open(&f->elf, path, NULL, NULL) && m->n_build_id &&
	    !vprof_elf_same_build(f->elf, m->build_id, m->n_build_id)) {
		vprof_elf_free(f->elf);
		f->elf = NULL;
	}
	return (uint32_t)g->files.n - 1;
}

const char *vprof_stack_frames_file(const struct vprof_stack_frames *g, size_t i, struct vprof_elf **elf)
{
	*elf = i < g->files.n ? g->files.v[i].elf : NULL;
	return i < g->files.n ? g->files.v[i].path : NULL;
}

size_t vprof_stack_frames_begins(const struct vprof_stack_frames *g, uint32_t function, uint64_t *lows, size_t most)
{
	size_t n = 0, k;

	for (size_t i = 0; i < g->places.n && n < most; i++) {
		const struct place *p = &g->places.v[i];
		struct vprof_elf *elf = p->function == function && p->file != VPROF_NONE ? g->files.v[p->file].elf :
											   NULL;
		const struct vprof_symbol *symbol =
			elf ? vprof_elf_function(elf, p->address - (p->at != AT_INSTRUCTION)) : NULL;

		for (k = 0; symbol && k < n && lows[k] != symbol->low; k++)
			;
		if (symbol && k == n)
			lows[n++] = symbol->low;
	}
	return n;
}

static uint8_t is_idle_call(const char *name)
{
	static const char *const polls[] = { "sys_poll", "sys_ppoll", "sys_select", "sys_pselect6" };
	static const char *const names[] = {
		"sys_epoll_wait", "sys_epoll_pwait",	 "sys_epoll_pwait2", "sys_accept", "sys_accept4",
		"sys_nanosleep",  "sys_clock_nanosleep", "sys_wait4",	     "sys_waitid", "sys_rt_sigtimedwait",
		"sys_pause",	  "sys_rt_sigsuspend",	 "sys_io_getevents",
	};

	for (size_t i = 0; i < sizeof polls / sizeof *polls; i++)
		if (!strcmp(name, polls[i]))
			return VPROF_LATENCY_IDLE_POLL;
	for (size_t i = 0; i < sizeof names / sizeof *names; i++)
		if (!strcmp(name, names[i]))
			return 1;
	return 0;
}

static int is_condition_wait(const char *name)
{
	static const char *const names[] = { "pthread_cond_wait", "pthread_cond_timedwait", "pthread_cond_clockwait",
					     "cnd_wait", "cnd_timedwait" };

	name += strspn(name, "_");
	for (size_t i = 0; i < sizeof names / sizeof *names; i++)
		if (!strcmp(name, names[i]))
			return 1;
	return 0;
}

static uint8_t idle_of(const char *name, uint8_t layer)
{
	if (layer == VPROF_LATENCY_KERNEL)
		return is_idle_call(name);
	return is_condition_wait(name) ? VPROF_LATENCY_IDLE_CONDITION : 0;
}

static int is_start(const char *name)
{
	return !strcmp(name, "main") || !strcmp(name, "_start") || !strncmp(name, "__libc_start_", 13) ||
	       !strcmp(name, "start_thread") || !strcmp(name, "clone3") || !strcmp(name, "__clone3");
}

/* The number of a function in the history, made when it is new; VPROF_NONE without memory. */
static uint32_t find_displayed(struct vprof_stack_frames *g, const char *name, const char *file, uint8_t layer,
			       const char *display)
{
	const char *kept = vprof_strings_keep(g->strings, name);
	const char *kept_file = vprof_strings_keep(g->strings, file);
	const char *kept_display = display ? vprof_strings_keep(g->strings, display) : NULL;
	uint64_t hash = vprof_mix(vprof_mix((uint64_t)(uintptr_t)kept) + (uint64_t)(uintptr_t)kept_file + layer) ^
			vprof_mix((uint64_t)(uintptr_t)kept_display);
	struct vprof_latency_function *f;
	size_t at;

	if (!kept || !kept_file || (display && !kept_display) || vprof_hash_index_room(&g->by_function, 1))
		return VPROF_NONE;
	VPROF_HASH_EACH(&g->by_function, hash, at, i)
	{
		f = &g->history->functions.v[i];
		if (f->name == kept && f->file == kept_file && f->layer == layer && f->display == kept_display)
			return i;
	}
	f = VPROF_PUSH(&g->history->functions);
	if (!f)
		return VPROF_NONE;
	*f = (struct vprof_latency_function){
		kept,	     kept_file, layer, layer != VPROF_LATENCY_KERNEL && is_start(kept), idle_of(kept, layer),
		kept_display
	};
	vprof_hash_index_put(&g->by_function, at, hash, (uint32_t)g->history->functions.n - 1);
	return (uint32_t)g->history->functions.n - 1;
}

static uint32_t find_function(struct vprof_stack_frames *g, const char *name, const char *file, uint8_t layer)
{
	return find_displayed(g, name, file, layer, NULL);
}

static int is_library(const char *path)
{
	const char *name = vprof_path_name(path);

	return strstr(name, ".so") != NULL;
}

/* The function around an address of a file. */
static uint32_t name_address(struct vprof_stack_frames *g, uint32_t file, uint64_t address, enum place_at at)
{
	struct opened_file *f = &g->files.v[file];
	uint8_t layer = is_library(f->path) ? VPROF_LATENCY_LIBRARY : VPROF_LATENCY_PROGRAM;
	uint64_t inside = address - (at != AT_INSTRUCTION), start; /* the call that it returns behind */
	const struct vprof_symbol *symbol = f->elf ? vprof_elf_function(f->elf, inside) : NULL;
	const char *source = NULL;
	char name[256];

	if (symbol && !f->has_namesakes) {
		f->has_namesakes = 1;
		f->namesakes = vprof_namesakes_new(f->elf);
	}
	if (symbol)
		source = vprof_namesakes_source(f->namesakes, symbol->low);
	if (symbol && source)
		snprintf(name, sizeof name, "%.160s@%.80s", symbol->name, source);
	if (symbol)
		return find_displayed(g, symbol->name, vprof_path_name(f->path), layer, source ? name : NULL);
	start = f->elf ? vprof_elf_frame_start(f->elf, inside) : 0;
	snprintf(name, sizeof name, start ? "%.200s+0x%llx" : "[%.200s]", vprof_path_name(f->path),
		 (unsigned long long)start);
	return find_function(g, name, vprof_path_name(f->path), layer);
}

/* The number of a place, made when it is new. */
static uint32_t find_place(struct vprof_stack_frames *g, uint32_t file, uint64_t address, enum place_at in)
{
	uint64_t hash = vprof_mix(address + ((uint64_t)file << 40) + (uint64_t)in);
	struct place p = { .file = file, .address = address, .at = in }, *slot;
	size_t at;

	if (vprof_hash_index_room(&g->by_place, 1))
		return VPROF_NONE;
	VPROF_HASH_EACH(&g->by_place, hash, at, i)
	{
		slot = &g->places.v[i];
		if (slot->file == file && slot->address == address && slot->at == in)
			return i;
	}
	p.function = file == VPROF_NONE ? find_function(g, "[code in no file]", "", VPROF_LATENCY_PROGRAM) :
					  name_address(g, file, address, in);
	slot = p.function == VPROF_NONE ? NULL : VPROF_PUSH(&g->places);
	if (!slot)
		return VPROF_NONE;
	if (file != VPROF_NONE && g->files.v[file].elf)
		p.is_signal = vprof_elf_frame_is_signal(g->files.v[file].elf, address - (in != AT_INSTRUCTION));
	*slot = p;
	vprof_hash_index_put(&g->by_place, at, hash, (uint32_t)g->places.n - 1);
	return (uint32_t)g->places.n - 1;
}

static int add_frame(struct vprof_stack_frames *g, uint32_t function, uint32_t place)
{
	struct vprof_latency_frame *f = function == VPROF_NONE ? NULL : VPROF_PUSH(&g->history->frames);

	if (!f)
		return VPROF_ERR_NOMEM;
	*f = (struct vprof_latency_frame){ function, place };
	return VPROF_OK;
}

static int is_unnamed(const char *name)
{
	return *name == '[' || strstr(name, "+0x");
}

/* Is the innermost frame in a procedure linkage table? */
static int is_plt(struct vprof_stack_frames *g, uint32_t file, uint64_t address)
{
	return file != VPROF_NONE && g->files.v[file].elf && vprof_elf_is_plt(g->files.v[file].elf, address);
}

/* ... or the dynamic linker, which looks the function up and jumps there, the first time that it is called? */
static int is_resolver(const char *name)
{
	return !strncmp(name, "_dl_runtime_resolve", 19) || !strncmp(name, "_dl_runtime_profile", 19);
}

/* The frame added last, in the call at `place`, is about to make that call only. */
static int call_later(struct vprof_stack_frames *g, uint32_t place)
{
	uint32_t before = find_place(g, g->places.v[place].file, g->places.v[place].address, BEFORE_CALL);

	if (before == VPROF_NONE)
		return VPROF_ERR_NOMEM;
	g->history->frames.v[g->history->frames.n - 1].place = before;
	return VPROF_OK;
}

/* Does frame i of a stack, 0 the innermost, lie on one that was interrupted by a signal? The innermost is the return
 * from the handler when it is the system call for that. */
static int is_on_interrupted(struct vprof_stack_frames *g, const struct vprof_kernel_stack *s, uint32_t i,
			     enum vprof_entry entry)
{
	const struct vprof_kernel_process *p = &g->tables->processes.v[s->process];
	uint64_t address = g->tables->addresses.v[s->first + i];
	const struct vprof_kernel_module *m = vprof_kernel_module_find(p, address);
	uint32_t file = m ? find_file(g, m) : VPROF_NONE, place = VPROF_NONE;

	if (file != VPROF_NONE)
		place = find_place(g, file, address - m->bias,
				   i || entry == VPROF_ENTRY_CALL ? IN_CALL : AT_INSTRUCTION);
	return place != VPROF_NONE && g->places.v[place].is_signal;
}

static int add_user(struct vprof_stack_frames *g, const struct vprof_kernel_stack *s, enum vprof_entry entry)
{
	const struct vprof_kernel_process *p = &g->tables->processes.v[s->process];
	uint32_t outer = VPROF_NONE; /* place of the frame before */
	int ret = VPROF_OK;

	for (uint32_t i = s->n; i-- > 0 && !ret;) {
		uint64_t address = g->tables->addresses.v[s->first + i];
		const struct vprof_kernel_module *m = vprof_kernel_module_find(p, address);
		uint32_t file = m ? find_file(g, m) : VPROF_NONE, place;
		int is_interrupted = i && is_on_interrupted(g, s, i - 1, entry);
		/* a system call returns to its address, as a call does */
		enum place_at at = !is_interrupted && (i || entry == VPROF_ENTRY_CALL) ? IN_CALL : AT_INSTRUCTION;
		const char *name;

		if (m && file == VPROF_NONE)
			return VPROF_ERR_NOMEM;
		address = m ? address - m->bias : address;
		if (at == AT_INSTRUCTION && outer != VPROF_NONE && is_plt(g, file, address)) {
			ret = call_later(g, outer);
			continue;
		}
		place = find_place(g, file, address, at);
		if (place == VPROF_NONE)
			return VPROF_ERR_NOMEM;
		name = g->history->functions.v[g->places.v[place].function].name;
		if (outer != VPROF_NONE && is_resolver(name))
			ret = call_later(g, outer);
		if (!ret)
			ret = add_frame(g, g->places.v[place].function, place);
		outer = place;
		g->counts->n_frames++;
		g->counts->n_unnamed += is_unnamed(name);
	}
	return ret;
}

static int begins(const char *name, const char *with)
{
	return !strncmp(name, with, strlen(with));
}

/* Frames of entering the kernel, which say nothing. */
static int is_entry(const char *name)
{
	return begins(name, "entry_SYSCALL") || begins(name, "do_syscall_64") || begins(name, "x64_sys_call") ||
	       begins(name, "el0") || begins(name, "invoke_syscall") || begins(name, "do_el0_svc") ||
	       begins(name, "ret_from_fork");
}

static int is_interrupt(const char *name)
{
	return begins(name, "asm_sysvec_") || begins(name, "asm_common_interrupt") || begins(name, "sysvec_") ||
	       begins(name, "irqentry_") || begins(name, "exit_to_user_mode") ||
	       begins(name, "syscall_exit_to_user_mode") || begins(name, "syscall_exit_work") ||
	       begins(name, "bpf_prog_") || begins(name, "__do_softirq") || begins(name, "handle_softirqs") ||
	       begins(name, "irq_exit") || begins(name, "__irq_exit") || begins(name, "syscall_trace_enter") ||
	       begins(name, "el1h_") || begins(name, "el1_interrupt");
}

static const char *call_of(const char *name)
{
	static const char *const prefixes[] = { "__x64_sys_", "__ia32_sys_", "__se_sys_", "__do_sys_", "__arm64_sys_" };

	for (size_t i = 0; i < sizeof prefixes / sizeof *prefixes; i++)
		if (begins(name, prefixes[i]))
			return name + strlen(prefixes[i]);
	return NULL;
}

static const char *const call_names[CALLS_KNOWN] = {
#include VPROF_SYSCALL_NAMES
};

/* The frame that stands for a system call: by number, or by the name of what implements it. */
static int add_call(struct vprof_stack_frames *g, uint32_t number, const char *implemented)
{
	char name[80];

	if (number < CALLS_KNOWN && call_names[number])
		snprintf(name, sizeof name, "sys_%.60s", call_names[number]);
	else if (implemented)
		snprintf(name, sizeof name, "sys_%.60s", implemented);
	else
		snprintf(name, sizeof name, "sys_%u", number);
	return add_frame(g, find_function(g, name, "", VPROF_LATENCY_KERNEL), 0);
}

/* The kernel's functions, outermost first. *entry: what the kernel was entered for, unless it is known already. */
static int add_kernel(struct vprof_stack_frames *g, const struct vprof_kernel_stack *s, enum vprof_entry *entry,
		      uint32_t call)
{
	size_t first = g->history->frames.n;
	int ret = *entry == VPROF_ENTRY_CALL ?
			  add_call(g, call, NULL) :
		  *entry == VPROF_ENTRY_FAULT ?
			  add_frame(g, find_function(g, "page_fault", "", VPROF_LATENCY_KERNEL), 0) :
			  VPROF_OK;

	for (uint32_t i = s ? s->n : 0; i-- > 0 && !ret;) {
		uint64_t address = g->tables->addresses.v[s->first + i];
		const struct vprof_kernel_symbol *symbol = vprof_kernel_symbol_find(g->tables, address);
		const char *name = symbol ? symbol->name : "[unknown]", *implemented = call_of(name);

		if (is_interrupt(name) || strstr(name, "schedule"))
			break; /* what lies within is not the thread's own */
		if (is_entry(name) || begins(name, "exc_page_fault") || begins(name, "do_user_addr_fault"))
			continue;
		if (implemented || begins(name, "asm_exc_page_fault")) {
			if (g->history->frames.n > first && implemented)
				continue;
			if (*entry == VPROF_ENTRY_FAULT)
				continue;
			if (*entry == VPROF_ENTRY_NONE)
				*entry = implemented ? VPROF_ENTRY_CALL : VPROF_ENTRY_FAULT;
			ret = implemented ? add_call(g, UINT32_MAX, implemented) :
					    add_frame(g, find_function(g, "page_fault", "", VPROF_LATENCY_KERNEL), 0);
			continue;
		}
		ret = add_frame(g, find_function(g, name, "", VPROF_LATENCY_KERNEL), (uint32_t)address);
	}
	return ret;
}

static uint32_t make_stack(struct vprof_stack_frames *g, const struct vprof_kernel_stack *user,
			   const struct vprof_kernel_stack *kernel, enum vprof_entry entry, uint32_t call, int *failed)
{
	struct vprof_latency_history *h = g->history;
	size_t first = h->frames.n;
	struct vprof_latency_stack *s;
	uint32_t n_user;
	uint8_t *slot;

	*failed = add_user(g, user, entry);
	n_user = (uint32_t)(h->frames.n - first);
	if (!*failed)
		*failed = add_kernel(g, kernel, &entry, call);
	s = *failed ? NULL : VPROF_PUSH(&h->stacks);
	slot = s ? VPROF_PUSH(&g->entries) : NULL;
	if (!slot) {
		*failed = VPROF_ERR_NOMEM;
		return VPROF_NONE;
	}
	*s = (struct vprof_latency_stack){ first, (uint32_t)(h->frames.n - first), n_user };
	*slot = (uint8_t)entry;
	return (uint32_t)h->stacks.n - 1;
}

uint32_t vprof_stack_frames_stack(struct vprof_stack_frames *g, uint32_t user, uint32_t kernel, enum vprof_entry entry,
				  uint32_t call, int *failed)
{
	uint64_t hash = vprof_mix(((uint64_t)user << 32 | kernel) ^ vprof_mix((uint64_t)call << 8 | entry));
	const struct vprof_kernel_stack *u, *k;
	struct pair p = { user, kernel, entry, call, VPROF_NONE }, *slot;
	size_t at;

	if (vprof_hash_index_room(&g->by_pair, 1)) {
		*failed = VPROF_ERR_NOMEM;
		return VPROF_NONE;
	}
	VPROF_HASH_EACH(&g->by_pair, hash, at, i)
	{
		slot = &g->pairs.v[i];
		if (slot->user == user && slot->kernel == kernel && slot->entry == p.entry && slot->call == call)
			return slot->stack;
	}
	u = user ? vprof_kernel_stack_find(g->tables, user) : NULL;
	k = kernel ? vprof_kernel_stack_find(g->tables, kernel) : NULL;
	if (!u || u->process == VPROF_NONE || !u->n) {
		g->counts->n_without++;
		return VPROF_NONE;
	}
	if (u->cut) {
		g->counts->n_cut++;
		g->counts->n_deep += (u->cut & VP_STACK_DEEP) != 0;
		g->counts->n_long += (u->cut & VP_STACK_LONG) != 0;
		g->counts->n_untabled += (u->cut & VP_STACK_UNTABLED) != 0;
		g->counts->n_gone += (u->cut & VP_STACK_GONE) != 0;
		return VPROF_NONE;
	}
	p.stack = make_stack(g, u, k && k->process == VPROF_NONE ? k : NULL, entry, call, failed);
	slot = p.stack == VPROF_NONE ? NULL : VPROF_PUSH(&g->pairs);
	if (!slot) {
		*failed = VPROF_ERR_NOMEM;
		return VPROF_NONE;
	}
	*slot = p;
	vprof_hash_index_put(&g->by_pair, at, hash, (uint32_t)g->pairs.n - 1);
	return p.stack;
}

enum vprof_entry vprof_stack_frames_entry(const struct vprof_stack_frames *g, uint32_t stack)
{
	return g->entries.v[stack];
}

/* A system call that a signal interrupted: the handler runs as if it were to be made again, and then it is. */
static int is_restarted(const struct vprof_elf *elf, const struct place *p, const struct place *q)
{
	static const uint8_t syscall_x86[2] = { 0x0f, 0x05 };
	uint8_t code[2];

	return p->at == IN_CALL && q->at == AT_INSTRUCTION && q->address + sizeof code == p->address &&
	       vprof_elf_read_at(elf, q->address, code, sizeof code) && !memcmp(code, syscall_x86, sizeof code);
}

static struct vprof_code_flow *flow_of(struct opened_file *f)
{
	if (!f->has_flow)
		f->flow = vprof_code_flow_new(f->elf);
	f->has_flow = 1;
	return f->flow;
}

static int follows(struct vprof_stack_frames *g, uint32_t place, uint32_t next)
{
	const struct place *p = &g->places.v[place], *q = &g->places.v[next];
	struct opened_file *f = p->file == VPROF_NONE ? NULL : &g->files.v[p->file];

	if (!f || p->file != q->file || !f->elf)
		return 1;
	/* It may have been there all the time: a fault, an instruction that takes long; or a tick on the kernel's way
	 * into a system call, before the call is known to have begun: its address is the one behind the call. Or it
	 * makes the call now that it was about to make. */
	if (p->address == q->address && p->at != IN_CALL)
		return 1;
	if (is_restarted(f->elf, p, q))
		return 1;
	return vprof_code_flow_may(flow_of(f), (struct vprof_code_place){ p->address, p->at == AT_INSTRUCTION },
				   (struct vprof_code_place){ q->address, q->at == AT_INSTRUCTION });
}

static int becomes(struct vprof_stack_frames *g, uint32_t place, uint32_t next)
{
	const struct place *p = &g->places.v[place], *q = &g->places.v[next];
	struct opened_file *f = p->file == VPROF_NONE ? NULL : &g->files.v[p->file];
	uint64_t target = 0;

	if (!f || !f->elf)
		return 1;
	if (p->file == q->file) {
		target = vprof_elf_frame_start(f->elf, q->address - (q->at != AT_INSTRUCTION));
		if (!target)
			return 1;
	}
	return vprof_code_flow_may_become(flow_of(f), (struct vprof_code_place){ p->address, p->at == AT_INSTRUCTION },
					  target);
}

/* The answer, remembered. */
static int ask(struct vprof_stack_frames *g, enum question question, uint32_t place, uint32_t next)
{
	uint64_t hash = vprof_mix(((uint64_t)place << 32 | next) + question * UINT64_C(0x9e3779b97f4a7c15));
	struct followed *known = NULL;
	size_t at;
	int may = 1;

	if (place >= g->places.n || next >= g->places.n)
		return 1;
	pthread_mutex_lock(&g->lock);
	if (!vprof_hash_index_room(&g->by_followed, 1)) {
		VPROF_HASH_EACH(&g->by_followed, hash, at, i)
		{
			if (g->followed.v[i].place == place && g->followed.v[i].next == next &&
			    g->followed.v[i].question == question) {
				known = &g->followed.v[i];
				break;
			}
		}
		if (!known) {
			may = question == MAY_FOLLOW ? follows(g, place, next) : becomes(g, place, next);
			known = VPROF_PUSH(&g->followed);
			if (known) {
				*known = (struct followed){ place, next, question, may };
				vprof_hash_index_put(&g->by_followed, at, hash, (uint32_t)g->followed.n - 1);
			}
		}
		may = known ? known->may : may;
	}
	pthread_mutex_unlock(&g->lock);
	return may;
}

int vprof_stack_frames_may_follow(void *frames, uint32_t function, uint32_t place, uint32_t next)
{
	(void)function;
	return ask(frames, MAY_FOLLOW, place, next);
}

int vprof_stack_frames_may_become(void *frames, uint32_t function, uint32_t place, uint32_t next)
{
	(void)function;
	return ask(frames, MAY_BECOME, place, next);
}
