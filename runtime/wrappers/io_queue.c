/* SPDX-License-Identifier: Apache-2.0 */
/* Message queues. A System V queue's id is the same in all processes; a POSIX queue is an inode. */
#define _GNU_SOURCE
#include "runtime/wrappers/io.h"

#include <mqueue.h>
#include <sys/msg.h>
#include <sys/stat.h>

/* Messages of one type, or priority, come out in the order in which they went in. */
static uint64_t mq_key(mqd_t queue, unsigned priority)
{
	int saved = errno;
	uint64_t key = RT_CHANNEL_NONE;
	struct stat st;

	if (fstat(queue, &st) == 0)
		key = rt_channel_key(st.st_dev, st.st_ino + ((uint64_t)priority << 40), RT_CHANNEL_MESSAGES);
	errno = saved;
	return key;
}

static uint64_t msg_key(int queue, const void *text)
{
	long type;

	__builtin_memcpy(&type, text, sizeof(type));
	return rt_channel_key((uint64_t)queue, 'q' + ((uint64_t)type << 8), RT_CHANNEL_MESSAGES);
}

#define RECEIVE(name, parameters, arguments, call, key, before)                                                        \
	RT_NEXT(name);                                                                                                 \
	RT_EXPORT ssize_t name parameters                                                                              \
	{                                                                                                              \
		uint64_t key_ = RT_CHANNEL_NONE, start, end;                                                           \
		before;                                                                                                \
		ssize_t r;                                                                                             \
		if (!rt_active())                                                                                      \
			return REAL(name) arguments;                                                                   \
		start = rt_now();                                                                                      \
		r = REAL(name) arguments;                                                                              \
		end = rt_now();                                                                                        \
		if (r >= 0)                                                                                            \
			key_ = key;                                                                                    \
		if (end - start >= rt_process.io_ticks && key_ != RT_CHANNEL_NONE)                                     \
			rt_io_record_in(key_, VP_CALL_##call, VP_WAIT_QUEUE, queue, start, end, r);                    \
		else if (end - start >= rt_process.io_ticks)                                                           \
			rt_io_record(VP_CALL_##call, VP_WAIT_QUEUE, queue, start, end, r);                             \
		if (key_ != RT_CHANNEL_NONE)                                                                           \
			rt_channel_moved(VP_KIND_RECEIVE, key_, 1, start, end);                                        \
		return r;                                                                                              \
	}
#define SEND(name, parameters, arguments, call, key)                                                                   \
	RT_NEXT(name);                                                                                                 \
	RT_EXPORT int name parameters                                                                                  \
	{                                                                                                              \
		uint64_t key_, start, end;                                                                             \
		int r;                                                                                                 \
		if (!rt_active())                                                                                      \
			return REAL(name) arguments;                                                                   \
		start = rt_now();                                                                                      \
		r = REAL(name) arguments;                                                                              \
		end = rt_now();                                                                                        \
		key_ = r == 0 ? key : RT_CHANNEL_NONE;                                                                 \
		if (key_ != RT_CHANNEL_NONE)                                                                           \
			rt_channel_moved(VP_KIND_SEND, key_, 1, start, end);                                           \
		if (end - start >= rt_process.io_ticks)                                                                \
			rt_io_record(VP_CALL_##call, VP_WAIT_QUEUE, queue, start, end, r);                             \
		return r;                                                                                              \
	}

RECEIVE(msgrcv, (int queue, void *text, size_t n, long type, int flags), (queue, text, n, type, flags), MSGRCV,
	flags &MSG_COPY ? RT_CHANNEL_NONE : msg_key(queue, text), (void)0)
SEND(msgsnd, (int queue, const void *text, size_t n, int flags), (queue, text, n, flags), MSGSND, msg_key(queue, text))
RECEIVE(mq_receive, (mqd_t queue, char *text, size_t n, unsigned *priority), (queue, text, n, priority), MQ_RECEIVE,
	mq_key(queue, *priority), unsigned own;
	if (!priority) priority = &own)
RECEIVE(mq_timedreceive,
	(mqd_t queue, char *restrict text, size_t n, unsigned *restrict priority,
	 const struct timespec *restrict until),
	(queue, text, n, priority, until), MQ_RECEIVE, mq_key(queue, *priority), unsigned own;
	if (!priority) priority = &own)
SEND(mq_send, (mqd_t queue, const char *text, size_t n, unsigned priority), (queue, text, n, priority), MQ_SEND,
     mq_key(queue, priority))
SEND(mq_timedsend, (mqd_t queue, const char *text, size_t n, unsigned priority, const struct timespec *until),
     (queue, text, n, priority, until), MQ_SEND, mq_key(queue, priority))
