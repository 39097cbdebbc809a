/* SPDX-License-Identifier: Apache-2.0 */
/* Writing records. Callable from signal handlers; nothing blocks. A record that finds no room is dropped and counted.
 */
#ifndef VPROF_RUNTIME_RECORD_H
#define VPROF_RUNTIME_RECORD_H

#include "runtime/thread.h"

/* n <= 3 units; false when dropped. The first unit's t is written last. */
bool rt_write(struct rt_thread *th, const struct vp_unit *units, unsigned n);
/* n_head whole units, then bytes, padded to a unit. */
bool rt_write_long(struct rt_thread *th, const struct vp_unit *head, unsigned n_head, const void *bytes,
		   size_t n_bytes);
/* For probe.h: a unit whose reserved address is not below the limit. */
void rt_full(struct vp_thread *thread, unsigned long address, vp_u64 t, vp_u64 w);

#endif
