/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Every call that libvprof.so wraps, each with success and with failures. What comes of it is written down in lines
 * that must be the same with and without the library. */
#ifndef VPROF_TESTS_RUNTIME_WRAPPED_CALLS_H
#define VPROF_TESTS_RUNTIME_WRAPPED_CALLS_H

#include <errno.h>

#define ERRNO_BEFORE 77

void call_report(const char *name, const char *arguments, long result, int error);
/* Calls name(...) and writes down the result and errno; CALL_SIGN only whether the result is negative. */
#define CALL_(convert, name, ...)                                                                                      \
	do {                                                                                                           \
		long result_;                                                                                          \
		errno = ERRNO_BEFORE;                                                                                  \
		result_ = (long)(name(__VA_ARGS__));                                                                   \
		call_report(#name, #__VA_ARGS__, convert(result_), errno);                                             \
	} while (0)
#define CALL_AS_IT_IS(r) (r)
#define CALL_IS_NEGATIVE(r) ((r) < 0)
#define CALL(name, ...) CALL_(CALL_AS_IT_IS, name, __VA_ARGS__)
#define CALL_SIGN(name, ...) CALL_(CALL_IS_NEGATIVE, name, __VA_ARGS__)
/* An effect. */
#define NOTE(value) call_report("note", #value, (long)(value), 0)

void interrupt_begin(void); /* signals every 3 ms, whose handler lets calls fail with EINTR */
void interrupt_end(void);

void calls_of_files(void); /* wrapped_calls_io.c */
void calls_of_sockets(void);
void calls_of_queues(void);
void calls_of_locks(void); /* wrapped_calls_sync.c */
void calls_of_threads(void);
void calls_of_processes(void);

#endif
