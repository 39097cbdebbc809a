/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Where the machine code of a function leads, read from its file: may a call of the function, having been at one place,
 * come to another one? If not, and both were seen, there were two calls.
 *
 * Switches are followed through the tables that compilers make of them.
 *
 * The answer is yes wherever it is not known: code that jumps to other computed addresses, that calls setjmp, or in
 * which exceptions are caught; what cannot be decoded; functions of more than 20,000 instructions; machines other than
 * x86-64, and builds without libcapstone. Calls are taken to return, conditional jumps to go both ways. A jump to
 * another function's first instruction leaves this one, which that one then replaces.
 */
#ifndef VPROF_CODE_FLOW_H
#define VPROF_CODE_FLOW_H

#include "common/elf/elf_symbols.h"

struct vprof_code_flow; /* of a file; remembers functions that it has looked at */

/* NULL without memory, or where code cannot be read at all. elf must outlive it. */
struct vprof_code_flow *vprof_code_flow_new(struct vprof_elf *elf);
void vprof_code_flow_free(struct vprof_code_flow *flow); /* NULL is fine */

struct vprof_code_place {
	uint64_t address;
	int is_instruction; /* the instruction at the address; 0: the call that returns to it */
};

/* 0: surely not. Both are of one function, which is what holds `from`. flow NULL: 1. Not thread-safe. */
int vprof_code_flow_may(struct vprof_code_flow *flow, struct vprof_code_place from, struct vprof_code_place to);

/* May the call of the function that holds `from` end with a jump to a function that begins at `target` (0: in another
 * file), or to one that ends so, and that one run in its place? 0: surely not. flow NULL: 1. Not thread-safe. */
int vprof_code_flow_may_become(struct vprof_code_flow *flow, struct vprof_code_place from, uint64_t target);

#endif
