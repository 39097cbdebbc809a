/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The stacks of a recording of the kernel's events, as text for people:
 *
 *   fdatasync < save_snapshot (journal.c:75) < compact_journal (journal.c:52) < main (main.c:31) [kernel:
 * jbd2_log_wait_commit < ext4_sync_file]
 *
 * Innermost function first, inlined ones and source lines where there is debug information. The scheduler's own
 * functions and the entry of system calls, which every kernel stack has, are left out. Where nothing is known of an
 * address, the file and the place in it stand, or the address.
 */
#ifndef VPROF_STACK_TEXTS_H
#define VPROF_STACK_TEXTS_H

#include "trace/kernel_tables.h"

struct vprof_stack_texts;

/* `tables` must outlive it. NULL: no memory. Files are opened when they are needed; one that was built again since
 * names nothing. Not for several threads. */
struct vprof_stack_texts *vprof_stack_texts_new(const struct vprof_kernel_tables *tables);
void vprof_stack_texts_free(struct vprof_stack_texts *t);

/* Of a pair of stacks as events have them; 0: none. "" when both are none or unknown. Belongs to `t`. */
const char *vprof_stack_text(struct vprof_stack_texts *t, uint32_t kernel_stack, uint32_t user_stack);

#endif
