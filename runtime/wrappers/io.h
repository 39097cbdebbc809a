/* SPDX-License-Identifier: Apache-2.0 */
/* Macros for the wrappers of blocking calls. */
#ifndef VPROF_RUNTIME_IO_H
#define VPROF_RUNTIME_IO_H

#include "runtime/channel.h"

#define RT_IO_BY_FD 0 /* kind of a wait: that of the descriptor */

void rt_io_record(enum vp_call call, unsigned kind, int64_t object, uint64_t start, uint64_t end, int64_t result);
/* The wait for data that came out of a channel. */
void rt_io_record_in(uint64_t key, enum vp_call call, unsigned kind, int fd, uint64_t start, uint64_t end,
		     int64_t result);

/* WRAP(type, name, parameters, arguments, call, kind, object): `r` is the result. */
#define WRAP(type, name, parameters, arguments, call, kind, object)                                                    \
	WRAP_THEN(type, name, parameters, arguments, call, kind, object, (void)0)
#define WRAP_THEN(type, name, parameters, arguments, call, kind, object, then)                                         \
	RT_NEXT(name);                                                                                                 \
	RT_EXPORT type name parameters                                                                                 \
	{                                                                                                              \
		uint64_t start_, end_;                                                                                 \
		type r;                                                                                                \
		if (!rt_active())                                                                                      \
			return REAL(name) arguments;                                                                   \
		start_ = rt_now();                                                                                     \
		r = REAL(name) arguments;                                                                              \
		end_ = rt_now();                                                                                       \
		if (end_ - start_ >= rt_process.io_ticks)                                                              \
			rt_io_record(VP_CALL_##call, kind, object, start_, end_, r);                                   \
		then;                                                                                                  \
		return r;                                                                                              \
	}

/* Calls that take data out of a channel, and calls that put data in; `data`: an eventfd's value, or null. */
#define WRAP_IN(type, name, parameters, arguments, call, kind, fd, key, data)                                          \
	RT_NEXT(name);                                                                                                 \
	RT_EXPORT type name parameters                                                                                 \
	{                                                                                                              \
		uint64_t key_, start_, end_, amount_;                                                                  \
		type r;                                                                                                \
		if (!rt_active())                                                                                      \
			return REAL(name) arguments;                                                                   \
		key_ = key;                                                                                            \
		start_ = rt_now();                                                                                     \
		r = REAL(name) arguments;                                                                              \
		end_ = rt_now();                                                                                       \
		amount_ = RT_UNLIKELY(key_ != RT_CHANNEL_NONE) ? rt_channel_amount(key_, RT_IO_DATA(r), data) : 0;     \
		if (end_ - start_ >= rt_process.io_ticks) {                                                            \
			if (amount_)                                                                                   \
				rt_io_record_in(key_, VP_CALL_##call, kind, fd, start_, end_, RT_IO_DATA(r));          \
			else                                                                                           \
				rt_io_record(VP_CALL_##call, kind, fd, start_, end_, r);                               \
		}                                                                                                      \
		if (amount_)                                                                                           \
			rt_channel_moved(VP_KIND_RECEIVE, key_, amount_, start_, end_);                                \
		return r;                                                                                              \
	}
#define WRAP_OUT(type, name, parameters, arguments, call, kind, fd, data)                                              \
	RT_NEXT(name);                                                                                                 \
	RT_EXPORT type name parameters                                                                                 \
	{                                                                                                              \
		uint64_t key_, start_, end_, amount_;                                                                  \
		type r;                                                                                                \
		if (!rt_active())                                                                                      \
			return REAL(name) arguments;                                                                   \
		key_ = rt_channel(fd, RT_CHANNEL_OUT);                                                                 \
		start_ = rt_now();                                                                                     \
		r = REAL(name) arguments;                                                                              \
		end_ = rt_now();                                                                                       \
		amount_ = RT_UNLIKELY(key_ != RT_CHANNEL_NONE) ? rt_channel_amount(key_, RT_IO_DATA(r), data) : 0;     \
		if (amount_)                                                                                           \
			rt_channel_moved(VP_KIND_SEND, key_, amount_, start_, end_);                                   \
		if (end_ - start_ >= rt_process.io_ticks)                                                              \
			rt_io_record(VP_CALL_##call, kind, fd, start_, end_, r);                                       \
		return r;                                                                                              \
	}
/* eventfd_read and eventfd_write succeed with 0. */
#define RT_IO_DATA(r) ((r) == 0 && (sizeof(r) == sizeof(int)) ? (int64_t)sizeof(uint64_t) : (int64_t)(r))
#define RT_IO_IN(fd) rt_channel(fd, RT_CHANNEL_IN)
#define RT_IO_PEEKS (MSG_PEEK | MSG_ERRQUEUE) /* flags of receiving that take nothing out of a channel */
#define RT_IO_IN_UNLESS(peeks, fd) ((peeks) ? RT_CHANNEL_NONE : rt_channel(fd, RT_CHANNEL_IN))

#endif
