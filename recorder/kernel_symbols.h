/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The running kernel's functions, from /proc/kallsyms. */
#ifndef VPROF_KERNEL_SYMBOLS_H
#define VPROF_KERNEL_SYMBOLS_H

#include <stdint.h>

struct vprof_kernel_symbols;

/* Empty when addresses are hidden from this process (kernel.kptr_restrict). NULL: no memory. */
struct vprof_kernel_symbols *vprof_kernel_symbols_read(void);
void vprof_kernel_symbols_free(struct vprof_kernel_symbols *s);

/* The function that an address lies in: its name, "ext4_sync_file" or "virtblk_done [virtio_blk]", and where it begins.
 * NULL: unknown. O(log n). */
const char *vprof_kernel_symbols_find(const struct vprof_kernel_symbols *s, uint64_t address, uint64_t *start);

/* From where to where a function's code lies, up to the next symbol. VPROF_ERR_MISSING: the kernel has none of this
 * name. O(n). */
int vprof_kernel_symbols_range(const struct vprof_kernel_symbols *s, const char *name, unsigned long long *begin,
			       unsigned long long *end);

#endif
