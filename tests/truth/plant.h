/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Planting durations and keeping account of them, for the ground-truth programs.
 *
 * A program gives each request the time that each of its functions shall take, spins for it, and measures what it
 * really took by its own readings of the processor's counter: one pair inside the function, one pair around the call.
 * The function's time, as anybody else may measure it, lies between the two. Whatever the machine does to the program
 * is in the account as well. Everything used inside an interval is a macro without a call, so that the call graph that
 * vprof sees is the program's own and nothing else.
 */
#ifndef PLANT_H
#define PLANT_H

#include <stddef.h>
#include <stdint.h>
#include <sys/resource.h>

#ifdef __cplusplus
extern "C" {
#endif

#if defined(__GNUC__) && !defined(__clang__)
#define NOINLINE __attribute__((noinline, noclone)) /* nor made another function of */
#else
#define NOINLINE __attribute__((noinline))
#endif

/* Built with PLANT_DRIVEN, a program takes exactly the times that it draws, whatever the machine does: its clock stands
 * still but where it spins or waits, and vprof reads the same clock (driven_clock.c). One thread, or several that share
 * nothing but under mutexes (driven_threads.c): each has a clock of its own. */
#ifdef PLANT_DRIVEN
extern __thread uint64_t plant_driven_ns;
#define PLANT_NOW() (plant_driven_ns)
#elif defined(__x86_64__)
#define PLANT_NOW()                                                                                                    \
	(__extension__({                                                                                               \
		uint32_t plant_low_, plant_high_;                                                                      \
		__asm__ volatile("lfence; rdtsc" : "=a"(plant_low_), "=d"(plant_high_) : : "memory");                  \
		(uint64_t)plant_high_ << 32 | plant_low_;                                                              \
	}))
#elif defined(__aarch64__)
#define PLANT_NOW()                                                                                                    \
	(__extension__({                                                                                               \
		uint64_t plant_ticks_;                                                                                 \
		__asm__ volatile("isb; mrs %0, cntvct_el0" : "=r"(plant_ticks_) : : "memory");                         \
		plant_ticks_;                                                                                          \
	}))
#else
#error "the ground-truth programs know the counters of x86-64 and aarch64"
#endif

/* How often the calling thread was preempted: getrusage(RUSAGE_THREAD), without a call. */
#if defined(__x86_64__)
#define PLANT_GETRUSAGE(usage)                                                                                         \
	do {                                                                                                           \
		long plant_status_ = 98;                                                                               \
		__asm__ volatile("syscall" : "+a"(plant_status_) : "D"(1), "S"(usage) : "rcx", "r11", "memory");       \
	} while (0)
#else
#define PLANT_GETRUSAGE(usage)                                                                                         \
	do {                                                                                                           \
		register long plant_who_ __asm__("x0") = 1, plant_call_ __asm__("x8") = 165;                           \
		register void *plant_usage_ __asm__("x1") = (usage);                                                   \
		__asm__ volatile("svc 0" : "+r"(plant_who_) : "r"(plant_call_), "r"(plant_usage_) : "memory");         \
	} while (0)
#endif
#define PLANT_INTERRUPTIONS()                                                                                          \
	(__extension__({                                                                                               \
		struct rusage plant_rusage_;                                                                           \
		PLANT_GETRUSAGE(&plant_rusage_);                                                                       \
		plant_rusage_.ru_nivcsw;                                                                               \
	}))

extern double plant_ticks_per_ns;    /* measured by plant_start */
extern uint64_t plant_start_unix_ns; /* when it was called */
/* two readings with nothing between them: what an account of short calls must take out */
extern uint64_t plant_clock_ticks;
/* a microsecond: two readings of a loop that are further apart had something between them */
extern uint64_t plant_away_ticks;

/* What something took in one request, in ticks: at least, at most. Of that the thread may not have had the CPU for up
 * to `away`, by the gaps between readings while it was busy. */
struct plant_time {
	uint64_t low, high, away;
};

/* Busy for `ns`; adds the ticks that it really took to (took).low. */
#ifdef PLANT_DRIVEN
#define PLANT_SPIN(ns, took)                                                                                           \
	do {                                                                                                           \
		uint64_t plant_for_ = (uint64_t)((double)(ns) * plant_ticks_per_ns);                                   \
		plant_driven_ns += plant_for_;                                                                         \
		(took).low += plant_for_;                                                                              \
	} while (0)
#else
#define PLANT_SPIN(ns, took)                                                                                           \
	do {                                                                                                           \
		uint64_t plant_from_ = PLANT_NOW();                                                                    \
		uint64_t plant_until_ = plant_from_ + (uint64_t)((double)(ns) * plant_ticks_per_ns);                   \
		uint64_t plant_now_ = plant_from_, plant_last_;                                                        \
		do {                                                                                                   \
			plant_last_ = plant_now_;                                                                      \
			plant_now_ = PLANT_NOW();                                                                      \
			if (plant_now_ - plant_last_ > plant_away_ticks)                                               \
				(took).away += plant_now_ - plant_last_;                                               \
		} while (plant_now_ < plant_until_);                                                                   \
		(took).low += plant_now_ - plant_from_;                                                                \
	} while (0)
#endif

/* Busy with so many readings of the clock as take about `ns`: with CPU time, not until a time. */
#define PLANT_WORK(ns, took)                                                                                           \
	do {                                                                                                           \
		uint64_t plant_readings_ = (uint64_t)((double)(ns) * plant_ticks_per_ns) / (plant_clock_ticks + 1);    \
		uint64_t plant_from_ = PLANT_NOW(), plant_now_ = plant_from_, plant_last_;                             \
		while (plant_readings_--) {                                                                            \
			plant_last_ = plant_now_;                                                                      \
			plant_now_ = PLANT_NOW();                                                                      \
			if (plant_now_ - plant_last_ > plant_away_ticks)                                               \
				(took).away += plant_now_ - plant_last_;                                               \
		}                                                                                                      \
		(took).low += plant_now_ - plant_from_;                                                                \
	} while (0)

/* Makes the call; adds what it took, as seen from outside, to (took).high. */
#define PLANT_CALL(took, call)                                                                                         \
	do {                                                                                                           \
		uint64_t plant_before_ = PLANT_NOW();                                                                  \
		call;                                                                                                  \
		(took).high += PLANT_NOW() - plant_before_;                                                            \
	} while (0)

/* Arguments of every program: [REQUESTS [SEED]]. */
struct plant_options {
	size_t n;
	uint64_t random; /* state of the generator */
};

struct plant_options plant_start(int argc, char **argv, size_t default_n); /* also calibrates */
uint32_t plant_uniform(uint64_t *random, uint32_t low, uint32_t high);	   /* low .. high - 1 */
void plant_sleep_us(uint32_t us);
void *plant_share(size_t n_bytes); /* zeroed memory that children share; never null */
/* CPU time of the calling thread. The scheduler's own account is not exact: it charges a thread with what the CPU did
 * between the request for a switch and the switch, which takes milliseconds where a handler of interrupts or a system
 * call of another thread is in between (rq_clock_skip_update). Hence by perf's task clock, where the kernel permits it.
 */
double plant_cpu_ns(void);
int plant_is_cpu_exact(void);
/* How long it could have run, but others had the CPU, by the kernel's account; below 0 where that has none. */
double plant_delay_ns(void);

/* A column of the account: a function, wait or delay at one place of the call graph. Columns of one name are one
 * factor, whose share is the sum of their variances (algorithm 1). */
struct truth_column {
	const char *name;
	int parent; /* the column that it is part of; -1: of the interval itself, which column 0 always is */
	int flags;
	int beneath; /* levels of functions beneath that are no columns, and of calls through pointers */
};
#define TRUTH_BLAME 1	/* done by others while the request waited */
#define TRUTH_PLANTED 2 /* must be measured in the end, whatever its share */
#define TRUTH_SAMPLED                                                                                                  \
	4 /* a hot function, most of whose calls nobody times: sampled_low and _high, constant_low and _high are its   \
	     bounds */
#define TRUTH_WAIT 8	   /* a wait or delay, or what holds one: its height depends on what explains it */
#define TRUTH_APART 32	   /* no sibling of the other parts in the tree: its pairs are not compared */
#define TRUTH_PREEMPTED 16 /* known only where the kernel reports context switches */

/* One row for each request. Its columns' `low` may be 0 where they have parts: then it is their parts' sum. */
struct truth {
	int n_columns;
	const struct truth_column *columns; /* [n_columns] */
	size_t n, capacity;
	struct plant_time *rows; /* [capacity * n_columns], row-major */
	/* of the interval in `row`, as vprof knows it; NULL: row + 1. Where several rows have one id: when they began,
	   ticks, which is 0 in others */
	uint64_t (*id_of)(const struct truth *t, size_t row);
	uint64_t *begins; /* [capacity] */
	double cpu_ns;	  /* of all requests; 0: nobody measured it */
	double sampled_low, sampled_high;
	double own_low, own_high;	    /* likewise, without the time in which the function was preempted */
	double constant_low, constant_high; /* likewise, of what would go if the function always took its mean */
	double exact_low, exact_high;	    /* of its share when every call was recorded, and of what would go */
	double exact_constant_low, exact_constant_high;
	double undivided_high; /* at most, of the share of untimed calls that took far longer than usual */
};

void truth_open(struct truth *t, int n_columns, const struct truth_column *columns, size_t capacity);
void truth_add(struct truth *t, const struct plant_time *row);
void truth_add_from(struct truth *t, const struct plant_time *row, uint64_t begin); /* ticks */

/* A figure of results.json: lists[list] has an item of this name whose `key`, divided by `of`, is `share`; without a
 * list it is a figure of the whole run. */
#define TRUTH_MAX_FIGURES 12
struct truth_figure {
	const char *list, *item, *key;
	double of, share;
	/* so much of it may be told as preempted time instead, and of what it is the difference to */
	double preempted, preempted_rest;
};

/* What the checker compares beside the shares, the means and the order of the columns. */
struct truth_answer {
	const char *interval;
	const char *a, *b; /* a pair that must be found: the planted one */
	/* the preempted part of the mean latency; needs cpu_ns of all requests, which never block */
	int has_preempted;
	int has_untimed; /* calls, which count as usual ones whatever the machine did to them */
	struct truth_figure figures[TRUTH_MAX_FIGURES]; /* up to the first without a key */
};

void truth_bound_exactly(struct truth *t, int column);	  /* its rows are those of all calls now: exact_low ... */
double truth_share(const struct truth *t, int column);	  /* Var(column) / Var(latency), n - 1 */
double truth_variance(const struct truth *t, int column); /* ticks^2 */
double truth_value(const struct truth *t, size_t row, int column); /* ticks, halfway between low and high */
/* Of the mean, and of the slowest hundredth of all requests (tail) and the others (rest), in ns; column 0: the
 * latency. */
double truth_tail_from(const struct truth *t); /* ticks: the shortest of the slowest hundredth */
double truth_mean_ns(const struct truth *t, int column);
double truth_tail_ns(const struct truth *t, int column);
double truth_rest_ns(const struct truth *t, int column);
/* By x, one value for each request: slope of the latency in ns, and R^2; of a column's own time. */
double truth_slope_ns(const struct truth *t, const uint32_t *x);
double truth_explained(const struct truth *t, int column, const uint32_t *x);
/* Part of the variance of a column between the kinds 0 .. n_kinds - 1 of requests. */
double truth_between(const struct truth *t, int column, const uint32_t *kind, uint32_t n_kinds);
/* Writes the file that TRUTH_OUT names (default truth.json), and the rows to a file in the folder that
 * TRUTH_ROWS names; returns main's exit status. Frees the rows. */
int truth_write(struct truth *t, const struct truth_answer *answer);

/* A file of rows: a plant_rows, n_columns plant_rows_column, for each row the id and the begin
 * (uint64_t, Unix ns or 0) of its interval, and n * n_columns plant_time, row by row. From these of all processes that
 * ran meanwhile join_rows makes the account of those requests that a live session counted. It is read where it was
 * written, by the same build. */
#define PLANT_ROWS_MAGIC 0x73776f72u /* "rows" */
struct plant_rows {
	uint32_t magic, n_columns;
	uint64_t n;
	double ticks_per_ns;
	uint64_t begin_unix_ns, end_unix_ns; /* of the process: its intervals are in between */
	int32_t has_untimed;
	char interval[64], a[64], b[64]; /* truth_answer; "": none */
};
struct plant_rows_column {
	char name[64];
	int32_t parent, flags, beneath;
};

/* Stretches of time of one thread, in order: what a lock's holder did. */
struct plant_stretch {
	uint64_t before, from, to, after; /* readings around the call, and inside of it */
	uint64_t away;			  /* of it, as plant_time has it */
};
struct plant_log {
	size_t n, capacity;
	struct plant_stretch *stretches;
};

/* Busy for `ns`, as the log's next stretch: PLANT_STRETCH inside the function, PLANT_LOG around its call. */
#define PLANT_STRETCH(log, ns)                                                                                         \
	do {                                                                                                           \
		struct plant_time plant_took_ = { 0, 0, 0 };                                                           \
		(log)->stretches[(log)->n].from = PLANT_NOW();                                                         \
		PLANT_SPIN(ns, plant_took_);                                                                           \
		(log)->stretches[(log)->n].to = PLANT_NOW();                                                           \
		(log)->stretches[(log)->n].away = plant_took_.away;                                                    \
	} while (0)
#define PLANT_LOG(log, call)                                                                                           \
	do {                                                                                                           \
		(log)->stretches[(log)->n].before = PLANT_NOW();                                                       \
		call;                                                                                                  \
		(log)->stretches[(log)->n++].after = PLANT_NOW();                                                      \
	} while (0)

/* The last stretch from within, added to `took`; and what of the stretches lies between `from` and `to`. */
void plant_log_last(const struct plant_log *log, struct plant_time *took);
struct plant_time plant_log_overlap(const struct plant_log *log, uint64_t from, uint64_t to);

/* As plant_wait(), for the part of one holder: nothing of it is sure where the kernel took the waiter's CPU away. */
struct plant_time plant_held(struct plant_time held, long interruptions);
/* A wait of `all` ticks for what others held, `held` of it. A free lock is no wait, and where the kernel took the
 * waiter's CPU away, that may have been before the wait began, or after it was over: then nothing is sure. */
struct plant_time plant_wait(uint64_t all, struct plant_time held, long interruptions);
/* The `away` of time spent waiting for others: all but the time in which they surely had the CPU. */
uint64_t plant_away_waiting(uint64_t all, struct plant_time others);

#ifdef __cplusplus
}
#endif

#endif
