/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Which releases may end which waits: a class for all kinds that follow one rule (release_rules.h). */
#ifndef VPROF_WAKE_CLASS_H
#define VPROF_WAKE_CLASS_H

#include <stdint.h>

enum vprof_wake_class {
	VPROF_WAKE_CLASS_NONE,
	VPROF_WAKE_CLASS_MUTEX,
	VPROF_WAKE_CLASS_RWLOCK,
	VPROF_WAKE_CLASS_COND,
	VPROF_WAKE_CLASS_BARRIER,
	VPROF_WAKE_CLASS_SEMAPHORE,
	VPROF_WAKE_CLASS_JOIN,
	VPROF_WAKE_CLASS_ANNOTATED,
	VPROF_WAKE_CLASS_FUTEX,
	VPROF_WAKE_CLASS_CHILD,
	VPROF_WAKE_CLASS_ONCE,
	VPROF_WAKE_CLASS_CHANNEL,
	VPROF_WAKE_CLASS_SPIN
};

/* Of an enum vp_wait with VP_FLAG_*: an enum vprof_wake_class. */
uint32_t vprof_wake_class(uint8_t kind, uint8_t flags);

/* Does another thread end a wait of this kind (enum vp_wait)? Not I/O, sleeps and waits for child processes. */
int vprof_wait_has_waker(uint32_t kind);

#endif
