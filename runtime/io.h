/* SPDX-License-Identifier: Apache-2.0 */
/* The shapes that the wrappers of blocking calls have. */
#ifndef VPROF_RUNTIME_IO_H
#define VPROF_RUNTIME_IO_H

#include "runtime/channel.h"

#define RT_IO_BY_FD 0 /* kind of a wait: what the descriptor is */

void rt_io_record(enum vp_call call, unsigned kind, int64_t object, uint64_t start, uint64_t end, int64_t result);
void rt_io_record_in(const struct rt_channel_wait *w, enum vp_call call, unsigned kind, int fd, uint64_t end,
		     int64_t result);

/* WRAP(type, name, parameters, arguments, call, kind, object): `r` is the result. */
#define WRAP(type, name, parameters, arguments, call, kind, object)                                          \
	WRAP_THEN(type, name, parameters, arguments, call, kind, object, (void)0)
#define WRAP_THEN(type, name, parameters, arguments, call, kind, object, then)                               \
	RT_NEXT(name);                                                                                       \
	RT_EXPORT type name parameters                                                                       \
	{                                                                                                    \
		uint64_t start_, end_;                                                                       \
		type r;                                                                                      \
		if (!rt_active())                                                                            \
			return REAL(name) arguments;                                                         \
		start_ = rt_now();                                                                           \
		r = REAL(name) arguments;                                                                    \
		end_ = rt_now();                                                                             \
		if (end_ - start_ >= rt_process.io_ticks)                                                    \
			rt_io_record(VP_CALL_##call, kind, object, start_, end_, r);                            \
		then;                                                                                        \
		return r;                                                                                    \
	}

/* Calls that take data out of a channel, and those that put some in. */
#define WRAP_IN(type, name, parameters, arguments, call, kind, fd)                                           \
	RT_NEXT(name);                                                                                       \
	RT_EXPORT type name parameters                                                                       \
	{                                                                                                    \
		struct rt_channel_wait w_;                                                                   \
		uint64_t end_;                                                                               \
		type r;                                                                                      \
		if (!rt_active())                                                                            \
			return REAL(name) arguments;                                                         \
		rt_channel_wait_begin(&w_, rt_channel(fd, RT_CHANNEL_IN));                                   \
		r = REAL(name) arguments;                                                                    \
		end_ = rt_now();                                                                             \
		rt_channel_wait_end(&w_);                                                                    \
		if (end_ - w_.start >= rt_process.io_ticks) {                                                \
			if (w_.slot)                                                                         \
				rt_io_record_in(&w_, VP_CALL_##call, kind, fd, end_, RT_IO_DATA(name, r));   \
			else                                                                                 \
				rt_io_record(VP_CALL_##call, kind, fd, w_.start, end_, r);                   \
		}                                                                                            \
		return r;                                                                                    \
	}
#define WRAP_OUT(type, name, parameters, arguments, call, kind, fd)                                          \
	RT_NEXT(name);                                                                                       \
	RT_EXPORT type name parameters                                                                       \
	{                                                                                                    \
		struct rt_channel_wake w_;                                                                   \
		uint64_t start_, end_;                                                                       \
		type r;                                                                                      \
		if (!rt_active())                                                                            \
			return REAL(name) arguments;                                                         \
		rt_channel_wake_begin(&w_, rt_channel(fd, RT_CHANNEL_OUT));                                  \
		start_ = rt_now();                                                                           \
		r = REAL(name) arguments;                                                                    \
		end_ = rt_now();                                                                             \
		if (RT_UNLIKELY(w_.slot) && r >= 0)                                                          \
			rt_channel_wake_end(&w_, kind, start_, end_);                                        \
		if (end_ - start_ >= rt_process.io_ticks)                                                    \
			rt_io_record(VP_CALL_##call, kind, fd, start_, end_, r);                             \
		return r;                                                                                    \
	}
/* eventfd_read and msgrcv succeed with 0. */
#define RT_IO_DATA(name, r) ((r) == 0 && (sizeof(r) == sizeof(int)) ? 1 : (int64_t)(r))

#endif
