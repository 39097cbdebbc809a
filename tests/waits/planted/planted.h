/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Programs with a planted bottleneck, for vprof report waits: what they share.
 *
 * Every time that a program plants ends by the clock: work spins until CLOCK_MONOTONIC says so, a flush writes to the
 * disk until then. So neither a slow machine nor a busy one changes what is planted, unless it keeps a thread from its
 * CPU at the very end; that is in the program's account, like the CPU time that others took meanwhile. The account is
 * written to the file that WAITS_ACCOUNT names.
 */
#ifndef PLANTED_H
#define PLANTED_H

#include <pthread.h>
#include <stdint.h>

#define US UINT64_C(1000) /* ns */
#define MS UINT64_C(1000000)

/* Reads NAME=VALUE (planted_option); "ms" is for how long the program runs, from now on (default 2000). */
void planted_start(int argc, char **argv);
long planted_option(const char *name, long otherwise);
int planted_goes_on(void); /* until the time is over */
int planted_finish(void);  /* writes the account; main's exit status */

void planted_work(uint64_t ns); /* busy until ns have passed */
void planted_sleep(uint64_t ns);
void planted_done(uint64_t n); /* operations are complete: the throughput */

/* For the account: something that was to take planned_ns has taken it since from_ns (of planted_now). */
uint64_t planted_now(void);
void planted_took(uint64_t planned_ns, uint64_t from_ns);

/* A thread with a name; its time without a CPU (/proc/thread-self/schedstat) is part of the account. Ends the program
 * when it cannot be made. */
pthread_t planted_thread(const char *name, void *(*run)(void *), void *arg);
void planted_join(pthread_t thread);

/* A file of the current folder, past the page cache. Ends the program with status 77 where that is not to be had. */
void planted_open_disk(void);
void planted_flush(uint64_t ns); /* writes, one request at a time, until ns have passed */
uint64_t planted_write_ns(void); /* how long nine of ten single writes take at most, on this disk and now */

void planted_fail(const char *what) __attribute__((noreturn)); /* with errno's text */

#endif
