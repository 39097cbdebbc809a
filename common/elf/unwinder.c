/* SPDX-License-Identifier: GPL-3.0-or-later */
#define _GNU_SOURCE
#include "common/elf/unwinder.h"

#include <elfutils/libdwfl.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/auxv.h>

#include "common/hash/hash_index.h"

#define ANY_PID 1 /* libdwfl wants one */
#define READS_MAX 64
#define ENTRY_BYTES 64	     /* more than the code at which a program begins */
#define STACK_MAX (1u << 30) /* what lies farther out is no stack */

struct memory_read {
	size_t place;
	uint64_t word;
};

struct known_place { /* in code */
	uint64_t pc;
	int has_tables;
};

struct vprof_unwinder {
	Dwfl *dwfl;
	VPROF_ARRAY(struct known_place) known;
	struct vprof_hash_index known_index; /* by pc */
	int is_attached;
	const struct vprof_stack_copy *stack; /* that is being unwound */
	int is_short;			      /* more memory was asked for than was copied: */
	uint64_t n_wanted;		      /* so many bytes, the first time */
	uint64_t *addresses;
	size_t *places;
	size_t n, most;
	size_t n_sure; /* up to the first in code without unwind tables; what follows it is a guess */
	int is_full, is_unknown, is_placed;
	struct memory_read reads[READS_MAX]; /* since the last frame */
	size_t n_reads;
};

/* The files' own sections have the tables. */
static int find_no_debug_file(Dwfl_Module *module, void **user, const char *name, Dwarf_Addr base, const char *file,
			      const char *link, GElf_Word crc, char **found)
{
	(void)module, (void)user, (void)name, (void)base, (void)file, (void)link, (void)crc, (void)found;
	return -1;
}

/* The kernel's code in each process, without a file: a copy of this process's own, which is that of all of its kind. */
static struct {
	pthread_once_t once;
	char *image;
	size_t n;
} vdso = { .once = PTHREAD_ONCE_INIT };

static void copy_vdso(void)
{
	const char *mapped = (const char *)getauxval(AT_SYSINFO_EHDR);
	Elf64_Ehdr header;

	if (!mapped)
		return;
	memcpy(&header, mapped, sizeof header);
	if (memcmp(header.e_ident, ELFMAG, SELFMAG) || header.e_ident[EI_CLASS] != ELFCLASS64)
		return;
	vdso.n = header.e_shoff + (size_t)header.e_shnum * header.e_shentsize; /* sections are told of last */
	vdso.image = malloc(vdso.n);
	if (vdso.image)
		memcpy(vdso.image, mapped, vdso.n);
}

/* Without its tables, what was interrupted in it would be followed by frame pointers, which in its first and last
 * instructions are those of its callers: functions would be missing from a stack that looks whole. */
static int find_elf(Dwfl_Module *module, void **user, const char *name, Dwarf_Addr base, char **file, Elf **elf)
{
	if (strncmp(name, "[vdso", 5))
		return dwfl_linux_proc_find_elf(module, user, name, base, file, elf);
	pthread_once(&vdso.once, copy_vdso);
	*elf = vdso.image ? elf_memory(vdso.image, vdso.n) : NULL;
	return -1;
}

static const Dwfl_Callbacks file_callbacks = { .find_elf = find_elf, .find_debuginfo = find_no_debug_file };

/* libdwfl takes only what has a file from maps. */
static void report_vdso(Dwfl *dwfl, const char *maps, size_t n)
{
	static const char name[] = "[vdso]";
	const char *at = memmem(maps, n, name, sizeof name - 1), *line = at;
	char range[64] = "";
	unsigned long start, end;

	while (line && line > maps && line[-1] != '\n')
		line--;
	if (line)
		memcpy(range, line, (size_t)(at - line) < sizeof range ? (size_t)(at - line) : sizeof range - 1);
	if (sscanf(range, "%lx-%lx ", &start, &end) == 2)
		dwfl_report_module(dwfl, name, start, end);
}

struct vprof_unwinder *vprof_unwinder_new(const char *maps, size_t n)
{
	struct vprof_unwinder *u = calloc(1, sizeof *u);
	FILE *f = u && n ? fmemopen((void *)maps, n, "r") : NULL;
	int failed = 1;

	u = u && f ? u : (free(u), NULL);
	if (u)
		u->dwfl = dwfl_begin(&file_callbacks);
	if (u && u->dwfl) {
		dwfl_report_begin(u->dwfl);
		failed = dwfl_linux_proc_maps_report(u->dwfl, f);
		report_vdso(u->dwfl, maps, n);
		failed |= dwfl_report_end(u->dwfl, NULL, NULL);
	}
	if (f)
		fclose(f);
	if (!failed)
		return u;
	vprof_unwinder_free(u);
	return NULL;
}

void vprof_unwinder_free(struct vprof_unwinder *u)
{
	if (!u)
		return;
	if (u->dwfl)
		dwfl_end(u->dwfl);
	VPROF_ARRAY_RELEASE(&u->known);
	vprof_hash_index_release(&u->known_index);
	free(u);
}

struct telling {
	void (*found)(void *arg, const struct vprof_mapped_file *file);
	void *arg;
};

static int tell_file(Dwfl_Module *module, void **user, const char *name, Dwarf_Addr start, void *telling)
{
	const struct telling *to = telling;
	struct vprof_mapped_file file = { .path = name, .start = start };
	GElf_Addr bias, id_at;
	Dwarf_Addr end;
	int n;

	(void)user;
	if (name[0] != '/' || !dwfl_module_getelf(module, &bias))
		return DWARF_CB_OK;
	dwfl_module_info(module, NULL, NULL, &end, NULL, NULL, NULL, NULL);
	n = dwfl_module_build_id(module, &file.build_id, &id_at);
	file.end = end;
	file.bias = bias;
	file.n_build_id = n > 0 ? (size_t)n : 0;
	to->found(to->arg, &file);
	return DWARF_CB_OK;
}

void vprof_unwinder_files(struct vprof_unwinder *u, void (*found)(void *arg, const struct vprof_mapped_file *file),
			  void *arg)
{
	struct telling telling = { found, arg };

	dwfl_getmodules(u->dwfl, tell_file, &telling, 0);
}

static pid_t next_thread(Dwfl *dwfl, void *arg, void **thread_arg)
{
	(void)dwfl;
	if (*thread_arg)
		return 0;
	*thread_arg = arg;
	return ANY_PID;
}

static bool get_thread(Dwfl *dwfl, pid_t tid, void *arg, void **thread_arg)
{
	(void)dwfl, (void)tid;
	*thread_arg = arg;
	return true;
}

static bool read_memory(Dwfl *dwfl, Dwarf_Addr address, Dwarf_Word *result, void *arg)
{
	struct vprof_unwinder *u = arg;
	uint64_t offset = address - u->stack->sp;

	(void)dwfl;
	if (u->stack->n_bytes < sizeof *result || offset > u->stack->n_bytes - sizeof *result) {
		if (!u->is_short)
			u->n_wanted = offset < STACK_MAX ? offset + sizeof *result : 0;
		u->is_short = 1;
		return false;
	}
	memcpy(result, u->stack->memory + offset, sizeof *result);
	if (u->n_reads < READS_MAX)
		u->reads[u->n_reads++] = (struct memory_read){ offset, *result };
	return true;
}

/* By x86-64's numbers in DWARF. */
static bool set_registers(Dwfl_Thread *thread, void *arg)
{
	const struct vprof_stack_copy *s = ((struct vprof_unwinder *)arg)->stack;
	Dwarf_Word ip = s->ip, sp = s->sp, bp = s->bp, bx = s->bx, saved[4];

	for (size_t i = 0; i < 4; i++)
		saved[i] = s->r12_to_r15[i];
	return dwfl_thread_state_registers(thread, 3, 1, &bx) && dwfl_thread_state_registers(thread, 6, 1, &bp) &&
	       dwfl_thread_state_registers(thread, 7, 1, &sp) && dwfl_thread_state_registers(thread, 12, 4, saved) &&
	       dwfl_thread_state_registers(thread, 16, 1, &ip);
}

static const Dwfl_Thread_Callbacks thread_callbacks = { .next_thread = next_thread,
							.get_thread = get_thread,
							.memory_read = read_memory,
							.set_initial_registers = set_registers };

/* Where the unwinder has just read this return address. */
static void place_address(struct vprof_unwinder *u, uint64_t address, size_t *place)
{
	size_t i = u->n_reads;

	while (i > 0 && u->reads[i - 1].word != address)
		i--;
	*place = i ? u->reads[i - 1].place : 0;
	u->is_placed &= i != 0;
}

static int is_covered(Dwarf_CFI *cfi, uint64_t pc)
{
	Dwarf_Frame *frame = NULL;
	int is = cfi && !dwarf_cfi_addrframe(cfi, pc, &frame);

	free(frame);
	return is;
}

static int find_tables(struct vprof_unwinder *u, uint64_t pc)
{
	Dwfl_Module *module = dwfl_addrmodule(u->dwfl, pc);
	GElf_Addr bias = 0;
	Dwarf_CFI *cfi = module ? dwfl_module_eh_cfi(module, &bias) : NULL;

	if (is_covered(cfi, pc - bias))
		return 1;
	cfi = module ? dwfl_module_dwarf_cfi(module, &bias) : NULL;
	return is_covered(cfi, pc - bias);
}

/* Whoever wrote the code in assembly, or made it while the program ran, may have left them out. */
static int has_tables(struct vprof_unwinder *u, uint64_t pc)
{
	uint64_t hash = vprof_mix(pc);
	struct known_place *place;
	size_t at;

	if (vprof_hash_index_room(&u->known_index, 1))
		return find_tables(u, pc);
	VPROF_HASH_EACH(&u->known_index, hash, at, i)
	{
		if (u->known.v[i].pc == pc)
			return u->known.v[i].has_tables;
	}
	place = VPROF_PUSH(&u->known);
	if (!place)
		return find_tables(u, pc);
	*place = (struct known_place){ pc, find_tables(u, pc) };
	vprof_hash_index_put(&u->known_index, at, hash, (uint32_t)u->known.n - 1);
	return place->has_tables;
}

static int add_frame(Dwfl_Frame *state, void *arg)
{
	struct vprof_unwinder *u = arg;
	Dwarf_Addr pc;

	if (!dwfl_frame_pc(state, &pc, NULL) || !pc)
		return DWARF_CB_ABORT;
	if (u->n == u->most) {
		u->is_full = 1;
		return DWARF_CB_ABORT;
	}
	u->places[u->n] = 0;
	if (u->n)
		place_address(u, pc, &u->places[u->n]);
	u->n_reads = 0;
	u->addresses[u->n++] = pc;
	pc -= u->n > 1;
	if (u->n_sure < u->n - 1) /* a guess */
		return DWARF_CB_OK;
	if (!dwfl_addrmodule(u->dwfl, pc))
		u->is_unknown = 1;
	if (has_tables(u, pc))
		u->n_sure = u->n;
	return DWARF_CB_OK;
}

/* Is the outermost frame that was found the one at which the program began? The dynamic linker's first function, which
 * calls what loads libraries and runs their constructors, has no unwind tables, for nobody called it. */
static int is_begin(struct vprof_unwinder *u)
{
	uint64_t at = u->n ? u->addresses[u->n - 1] - (u->n > 1) : 0;
	Dwfl_Module *module = at ? dwfl_addrmodule(u->dwfl, at) : NULL;
	GElf_Ehdr header_memory, *header;
	GElf_Addr bias;
	Elf *elf = module ? dwfl_module_getelf(module, &bias) : NULL;

	header = elf ? gelf_getehdr(elf, &header_memory) : NULL;
	return header && header->e_entry && at >= header->e_entry + bias && at - header->e_entry - bias < ENTRY_BYTES &&
	       !has_tables(u, at);
}

struct vprof_unwound vprof_unwinder_unwind(struct vprof_unwinder *u, const struct vprof_stack_copy *stack,
					   uint64_t *addresses, size_t *places, size_t most)
{
	struct vprof_unwound found = { .n = 1, .is_cut = 1 };

	addresses[0] = stack->ip;
	places[0] = 0;
	if (!u->is_attached && !dwfl_attach_state(u->dwfl, NULL, ANY_PID, &thread_callbacks, u))
		return found;
	u->is_attached = 1;
	u->stack = stack;
	u->addresses = addresses;
	u->places = places;
	u->most = most;
	u->n = u->n_sure = u->n_reads = 0;
	u->is_placed = 1;
	u->n_wanted = 0;
	u->is_short = u->is_full = u->is_unknown = 0;
	if (!dwfl_getthread_frames(u->dwfl, ANY_PID, add_frame, u) && !u->is_short)
		found.is_cut = 0;
	else if (!u->is_short && !u->is_full)
		found.is_cut = !is_begin(u);
	u->stack = NULL;
	found.is_placed = u->is_placed && u->n;
	found.n = u->n ? u->n : 1;
	if (u->n_sure + 1 < u->n) {
		found.n = u->n_sure + 1;
		found.is_cut = 1;
		found.is_placed = 0;
		u->is_full = 0;
	}
	found.is_unknown = u->is_unknown || !u->n;
	found.is_full = u->is_full;
	found.n_wanted = u->n_sure + 1 < u->n ? 0 : u->n_wanted;
	return found;
}
