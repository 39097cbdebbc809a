/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Unwinds copies of stacks: by the unwind tables of the programs and libraries that a process had mapped, which
 * stripped ones have, too. Registers and memory come from the copy alone, so the process may run on, or have ended.
 * x86-64.
 *
 * Files are hostile input, as in elf_symbols.h; nothing is fetched from a debuginfod server. Not for several threads.
 */
#ifndef VPROF_UNWINDER_H
#define VPROF_UNWINDER_H

#include <stddef.h>
#include <stdint.h>

struct vprof_unwinder;

/* `maps`: what /proc/PID/maps showed, n bytes. NULL: no memory, or not to be read. */
struct vprof_unwinder *vprof_unwinder_new(const char *maps, size_t n);
void vprof_unwinder_free(struct vprof_unwinder *u); /* NULL is fine */

struct vprof_mapped_file {
	const char *path;
	uint64_t start, end, bias; /* bias: of its addresses against the file's */
	const unsigned char *build_id;
	size_t n_build_id; /* 0: none */
};

/* Calls `found` for each file that was mapped and can be read. */
void vprof_unwinder_files(struct vprof_unwinder *u, void (*found)(void *arg, const struct vprof_mapped_file *file),
			  void *arg);

struct vprof_stack_copy {
	uint64_t ip, sp, bp, bx, r12_to_r15[4];
	const unsigned char *memory; /* [n_bytes] from sp on */
	size_t n_bytes;
};

struct vprof_unwound {
	size_t n;      /* addresses, innermost first; all but the first are return addresses */
	int is_placed; /* where each of them was read from is known */
	/* Outer frames are missing: not copied, not known, or too many. Where code has no unwind tables its frame is
	 * the last one: by its frame pointer, if it has one, its caller may be missed. */
	int is_cut;
	int is_unknown;	 /* an address lies in no file: it may have been mapped since */
	int is_full;	 /* it has more than `most` addresses */
	size_t n_wanted; /* bytes of memory from the stack pointer on, without which it is cut; 0: that is not why */
};

/* Fills addresses[most]; there is always the first. places[most]: where in the memory each return address was; that of
 * the first is 0. */
struct vprof_unwound vprof_unwinder_unwind(struct vprof_unwinder *u, const struct vprof_stack_copy *stack,
					   uint64_t *addresses, size_t *places, size_t most);

#endif
