/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Stacks of the kernel's events: which are the same, and what their functions are called. */
#ifndef VPROF_STACK_NAMES_H
#define VPROF_STACK_NAMES_H

#include "analysis/waits/input/input.h"
#include "trace/kernel_tables.h"

/* Fills same[n stacks of the tables]: the index of the first one at the same places of the same files (by build id,
 * else by path), whichever process's it is: those of processes that were forked from one, or run one program, are the
 * same. Addresses in no file are their process's own. OK or NOMEM. O(addresses x log(modules)). */
int vprof_stacks_find_same(uint32_t *same, const struct vprof_kernel_tables *tables);

/* Fills the history's texts of those stacks whose wanted[number] is set: "fdatasync < save_snapshot (journal.c:66)",
 * innermost function first, with what it waited for in the kernel behind. A function without a symbol is its offset in
 * its file, "server+0x1c3d0"; code that lies in no file is its address. Programs and libraries are opened where they
 * were; of those that were built again since nothing is named. OK or NOMEM. */
int vprof_waits_input_name_stacks(struct vprof_waits_input *input, const unsigned char *wanted,
				  struct vprof_error *err);

/* Fills the roles of the history's threads as far as whole stacks of theirs were recorded: the function of the program
 * that the thread begins in, "main" of a process's first. OK or NOMEM. */
int vprof_waits_input_find_roles(struct vprof_waits_input *input, struct vprof_error *err);

#endif
