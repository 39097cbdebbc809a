/* SPDX-License-Identifier: GPL-3.0-or-later */
/* How often each situation occurred. */
#ifndef SIMULATE_COVERAGE_H
#define SIMULATE_COVERAGE_H

/* clang-format off */
#define COVERAGE(X)                                                                                                  \
	X(SCHEDULES, "schedules") X(THREADS, "threads") X(RECORDS, "records (16 bytes)")	\
	X(WAITS, "waits compared") X(WAKERS, "wakers compared") \
	X(LOSSY_WAITS, "waits while records were lost") X(LOSSY_WAKERS, "wakers of these, sure all the same") \
	X(UNKNOWABLE_WAITS, "waits with the trace's begin or end between them and their release: not compared") \
	X(UNKNOWABLE, "intervals with such a wait: not compared, but for their tiles")                              \
	X(INTERVALS, "intervals compared exactly: path, queue delays, blame, nodes")                                  \
	X(CUT_END, "intervals cut by the trace's end") X(CUT_BEGIN, "intervals cut by the trace's begin")             \
	X(RESTARTED, "intervals begun again before they ended")                                                      \
	X(LOSSY, "intervals that were left out, as they have to be: records lost meanwhile")                              \
	X(SAME_ID, "intervals with the id of an open one in another process") \
	X(SWITCH_GAPS, "stretches in which switches were lost") \
	X(NESTED, "intervals begun while the thread worked for another")                                              \
	X(SEVERAL_THREADS, "intervals whose path is on several threads")                                              \
	X(SEVERAL_SEGMENTS, "intervals taken up three times or more")                                                 \
	X(CONCURRENT, "intervals that ended while others worked for them")                                            \
	X(PROCESSES, "intervals whose path is in several processes")                                                  \
	X(START_OFF, "intervals whose first segment goes on off their path")                   \
	X(END_OTHER, "intervals ended on a thread without the label")                                                 \
	X(BY_ITEM, "taken up: from an annotated queue, the item enqueued by the interval")                            \
	X(BY_RELAY, "taken up: the item enqueued by a thread without an interval, which had dequeued one")            \
	X(BY_MESSAGE, "taken up: by a message through a channel") X(BY_WAKE, "taken up: woken by the interval, no queue event") \
	X(BY_OWN, "taken up: by the thread that had suspended it") X(BY_LAST, "taken up: from the segment that ended last") \
	X(BY_LASTING, "taken up: from a thread that did not leave it")							\
	X(OWN_LATER, "taken up: the thread's own segment ended later than the cause")                                \
	X(DEQUEUE_INSIDE, "taken up: dequeued after the segment began") X(BATCH, "taken up: dequeued before another segment") \
	X(SAME_ITEM, "item's address used again by another enqueue of the same interval")                             \
	X(PIECES, "pieces of paths (stretches of one thread, its wait or who is to blame)")                            \
	X(QUEUED, "queue delays") X(QUEUED_BLAME, "queue delays beneath which the thread waited for another")         \
	X(WAIT_MUTEX, "waits on the path: mutex") X(WAIT_READ, "waits on the path: read lock")                        \
	X(WAIT_WRITE, "waits on the path: write lock") X(WAIT_COND, "waits on the path: condition variable")          \
	X(WAIT_BARRIER, "waits on the path: barrier") X(WAIT_SEMAPHORE, "waits on the path: semaphore")               \
	X(WAIT_JOIN, "waits on the path: join") X(WAIT_SPIN, "waits on the path: spin lock")                          \
	X(WAIT_ANNOTATED, "waits on the path: annotated acquire function") X(WAIT_ONCE, "waits on the path: once")    \
	X(WAIT_FUTEX, "waits on the path: futex") X(WAIT_CHANNEL, "waits on the path: pipe, poll")                          \
	X(WAIT_IO, "waits on the path: sleep, I/O: no waker") X(WAIT_TIMEOUT, "waits on the path: timed out")         \
	X(WAIT_FALSE, "waits on the path: joined over a false wake-up")                                               \
	X(WAIT_PARTIAL, "waits on the path that began before the piece they stand in")                               \
	X(BLAME_SELF, "wakers that worked for the interval itself") X(BLAME_OTHER, "wakers that worked for another interval") \
	X(BLAME_NONE, "wakers that worked for no interval") X(BLAME_2, "blame: waker that was blocked itself")         \
	X(BLAME_3, "blame: three threads deep or more") X(BLAME_PROCESS, "blame: waker in another process")            \
	X(SEVERAL_HOLDERS, "waits for what several threads held, one after the other") \
	X(HOLDERS, "... threads that held it before the waker: each is to blame for its time") \
	X(TOOK_LATE, "... threads that took it without having waited for it") \
	X(LAST_READER, "... readers, the last before a writer") \
	X(CONVOY, "wakers that stood in the same line: looked through") X(CIRCLE, "waits already being explained further up") \
	X(WAIT_TIMED_OUT, "waits that timed out, on the path or not") X(FALSE_WAKE, "false wake-ups, on the path or not") \
	X(LATE, "waits ended by a release whose time was taken after it") X(AFTER_RELEASE, "time between release and going on") \
	X(UNENDED_BLAME, "wakers that waited without a waker: sleep, I/O, time-out") X(PREEMPTED, "preempted stretches")                  \
	X(PREEMPTED_BLAME, "preempted stretches of wakers") X(IO_KERNEL, "stretches of I/O calls in the kernel") \
	X(IO_OFF, "stretches of I/O calls without a processor") X(IO_EITHER, "stretches of I/O calls of which nothing tells") \
	X(PREEMPTED_IO, "preempted stretches of I/O calls") X(SITE_WAIT, "waits within a measured call site of the same name") \
	X(UNRECORDED_FRAME, "open calls that were never recorded") \
	X(ANALYSES, "analyses whose figures were compared, all of them") X(FIGURED, "... intervals in these") \
	X(APART, "... intervals left out of these: whom they waited for nobody can know") \
	X(EMPTY, "analyses without an interval whose figures are known") X(FIGURES, "... nodes: mean, variance, share") \
	X(COVARIANCES, "... covariances of siblings") X(FACTORS, "... factors: share, mean, deviation, height, score") \
	X(IF_CONSTANT, "... what would go if they were constant") X(TOGETHER, "... own work and that beneath waits together") \
	X(CAUSES, "... causes: share, if constant, splits") \
	X(RANKED, "... neighbours in the ranking") X(SEVERAL_TRACES, "analyses of several traces together") \
	X(OFFSET_WAITS, "waits compared once more, with clocks that differ between processors") \
	X(OFFSET_PATHS, "... paths") X(FORKS, "forks") X(EXECS, "programs executed in forked processes") \
	X(WAIT_CHILD, "waits on the path: for the end of a process") \
	X(WINDOW_CLOSED, "calls that came between two recording windows") \
	X(WINDOW_OUTSIDE, "intervals that began there: compared, but for the figures") \
	X(HOT_TIMED, "calls of hot functions that were timed") X(HOT_SKIPPED, "... that were skipped, or lie in skipped ones") \
	X(HOT_PARTIAL, "... that were recorded from their first wait on") \
	X(UNDER_WAY, "calls that were under way when a recording window opened") \
	X(HOT_RARE, "... that lasted longer than they stand for others") \
	X(HOT_CHOSEN, "stretches of paths that stand for other calls, too") \
	X(NOISY, "products of sampling errors, compared")
/* clang-format on */

enum coverage {
#define COVER_ENUM(id, text) COVER_##id,
	COVERAGE(COVER_ENUM)
#undef COVER_ENUM
		COVER_COUNT
};

#endif
