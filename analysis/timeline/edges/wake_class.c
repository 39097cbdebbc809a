/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "analysis/timeline/edges/wake_class.h"

#include "trace/format.h"

static const uint8_t class_of[VP_WAIT_COUNT] = {
	[VP_WAIT_MUTEX] = VPROF_WAKE_CLASS_MUTEX,	  [VP_WAIT_RWLOCK_READ] = VPROF_WAKE_CLASS_RWLOCK,
	[VP_WAIT_RWLOCK_WRITE] = VPROF_WAKE_CLASS_RWLOCK, [VP_WAIT_COND] = VPROF_WAKE_CLASS_COND,
	[VP_WAIT_BARRIER] = VPROF_WAKE_CLASS_BARRIER,	  [VP_WAIT_SEMAPHORE] = VPROF_WAKE_CLASS_SEMAPHORE,
	[VP_WAIT_JOIN] = VPROF_WAKE_CLASS_JOIN,		  [VP_WAIT_SPIN] = VPROF_WAKE_CLASS_SPIN,
	[VP_WAIT_ANNOTATED] = VPROF_WAKE_CLASS_ANNOTATED, [VP_WAIT_FUTEX] = VPROF_WAKE_CLASS_FUTEX,
	[VP_WAIT_CHILD] = VPROF_WAKE_CLASS_CHILD, /* object: the child's pid */
	[VP_WAIT_ONCE] = VPROF_WAKE_CLASS_ONCE,
};

int vprof_wait_has_waker(uint32_t kind)
{
	return kind < VP_WAIT_COUNT && class_of[kind] != VPROF_WAKE_CLASS_NONE &&
	       class_of[kind] != VPROF_WAKE_CLASS_CHILD;
}

uint32_t vprof_wake_class(uint8_t kind, uint8_t flags)
{
	if (flags & VP_FLAG_CHANNEL)
		return VPROF_WAKE_CLASS_CHANNEL;
	return kind < VP_WAIT_COUNT ? class_of[kind] : VPROF_WAKE_CLASS_NONE;
}
