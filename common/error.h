/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Errors that a person can act on.
 *
 * A call that can fail returns 0 or a negative enum vprof_err and takes, as its last argument, a
 * struct vprof_error that it fills with the complete message: what failed, on what, what to do about
 * it. Nothing below cli/ prints or exits. `err` may be NULL when the caller only wants the code.
 */
#ifndef VPROF_ERROR_H
#define VPROF_ERROR_H

#include <stdarg.h>

enum vprof_err {
	VPROF_OK = 0,
	VPROF_ERR_FAILED = -1,	     /* an operation failed: I/O, a child process, a tool */
	VPROF_ERR_NOMEM = -2,	     /* out of memory */
	VPROF_ERR_INPUT = -3,	     /* a file or argument of the user's is wrong */
	VPROF_ERR_CORRUPT = -4,	     /* a file of ours is damaged */
	VPROF_ERR_STALE = -5,	     /* sources changed since the scan */
	VPROF_ERR_MISSING = -6,	     /* a tool or file that we need is not there */
	VPROF_ERR_INCONCLUSIVE = -7, /* too little data to say anything */
	VPROF_ERR_BUILD = -8,	     /* the target's build failed */
};

/* What made a call fail, where a caller can do something about it, or say more than the message does. */
enum vprof_error_reason {
	VPROF_REASON_NONE,
	VPROF_REASON_INTERRUPTED,      /* by a signal */
	VPROF_REASON_NOTHING_COMPILED, /* an observed build ran no compiler */
	VPROF_REASON_NO_LOCALHOST,     /* a tool could not resolve the name localhost */
	VPROF_REASON_DISK_FULL,
	VPROF_REASON_TRACE_CUT,	 /* the disk did not take all of a run's trace */
	VPROF_REASON_NO_SCANNER, /* the scanner cannot start */
	VPROF_REASON_SCAN_FAILED,
	VPROF_REASON_NOT_WRITABLE, /* the project's folder, or .vprof in it */
};

struct vprof_error {
	char message[2048]; /* always NUL-terminated; cut with "..." when too long */
	enum vprof_error_reason reason;
};

/* Formats the message and returns `code`, so that `return vprof_error_set(...)` reads naturally. */
int vprof_error_set(struct vprof_error *err, int code, const char *fmt, ...) __attribute__((format(printf, 3, 4)));

/* The same, with a reason; vprof_error_set() leaves none. */
int vprof_error_because(struct vprof_error *err, int code, enum vprof_error_reason reason, const char *fmt, ...)
	__attribute__((format(printf, 4, 5)));

/* Of an errno: VPROF_REASON_DISK_FULL, or none. */
enum vprof_error_reason vprof_error_reason_of(int error);

/* NOMEM with the message "out of memory"; returns the code. */
int vprof_error_no_memory(struct vprof_error *err);

/* Puts "context: " before the message already there, whose reason stays; returns `code`. */
int vprof_error_prefix(struct vprof_error *err, int code, const char *fmt, ...) __attribute__((format(printf, 3, 4)));

#endif
