/* SPDX-License-Identifier: Apache-2.0 */
/* Message queues. A System V queue's id is the same in all processes; a POSIX queue is an inode. */
#define _GNU_SOURCE
#include "runtime/io.h"

#include <mqueue.h>
#include <sys/msg.h>
#include <sys/stat.h>

static uint64_t mq_key(mqd_t queue)
{
	int saved = errno;
	uint64_t key = RT_CHANNEL_NONE;
	struct stat st;

	if (fstat(queue, &st) == 0)
		key = rt_channel_key(st.st_dev, st.st_ino);
	errno = saved;
	return key;
}

#define RECEIVE(name, parameters, arguments, call, key)                                                      \
	RT_NEXT(name);                                                                                       \
	RT_EXPORT ssize_t name parameters                                                                    \
	{                                                                                                    \
		struct rt_channel_wait w;                                                                    \
		uint64_t end;                                                                                \
		ssize_t r;                                                                                   \
		if (!rt_active())                                                                            \
			return REAL(name) arguments;                                                         \
		rt_channel_wait_begin(&w, key);                                                              \
		r = REAL(name) arguments;                                                                    \
		end = rt_now();                                                                              \
		rt_channel_wait_end(&w);                                                                     \
		if (end - w.start >= rt_process.io_ticks && w.slot)                                          \
			rt_io_record_in(&w, VP_CALL_##call, VP_WAIT_QUEUE, queue, end, r < 0 ? r : r + !r);  \
		return r;                                                                                    \
	}
#define SEND(name, parameters, arguments, call, key)                                                         \
	RT_NEXT(name);                                                                                       \
	RT_EXPORT int name parameters                                                                        \
	{                                                                                                    \
		struct rt_channel_wake w;                                                                    \
		uint64_t start, end;                                                                         \
		int r;                                                                                       \
		if (!rt_active())                                                                            \
			return REAL(name) arguments;                                                         \
		rt_channel_wake_begin(&w, key);                                                              \
		start = rt_now();                                                                            \
		r = REAL(name) arguments;                                                                    \
		end = rt_now();                                                                              \
		if (r == 0 && w.slot)                                                                        \
			rt_channel_wake_end(&w, VP_WAIT_QUEUE, start, end);                                  \
		if (end - start >= rt_process.io_ticks)                                                      \
			rt_io_record(VP_CALL_##call, VP_WAIT_QUEUE, queue, start, end, r);                   \
		return r;                                                                                    \
	}

RECEIVE(msgrcv, (int queue, void *text, size_t n, long type, int flags), (queue, text, n, type, flags), MSGRCV,
	rt_channel_key((uint64_t)queue, 'q'))
SEND(msgsnd, (int queue, const void *text, size_t n, int flags), (queue, text, n, flags), MSGSND,
     rt_channel_key((uint64_t)queue, 'q'))
RECEIVE(mq_receive, (mqd_t queue, char *text, size_t n, unsigned *priority), (queue, text, n, priority), MQ_RECEIVE,
	mq_key(queue))
RECEIVE(mq_timedreceive, (mqd_t queue, char *restrict text, size_t n, unsigned *restrict priority,
	const struct timespec *restrict until), (queue, text, n, priority, until), MQ_RECEIVE, mq_key(queue))
SEND(mq_send, (mqd_t queue, const char *text, size_t n, unsigned priority), (queue, text, n, priority), MQ_SEND,
     mq_key(queue))
SEND(mq_timedsend, (mqd_t queue, const char *text, size_t n, unsigned priority, const struct timespec *until),
     (queue, text, n, priority, until), MQ_SEND, mq_key(queue))
