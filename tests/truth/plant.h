/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Planting durations and keeping account of them, for the ground-truth programs.
 *
 * A program gives each request the time that each of its functions shall take, spins for it, and measures what it
 * really took by its own reading of the processor's counter. Everything used inside an interval is a macro without
 * a call, so that the call graph that vprof sees is the program's own and nothing else.
 */
#ifndef PLANT_H
#define PLANT_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#define NOINLINE __attribute__((noinline))

#if defined(__x86_64__)
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

extern double plant_ticks_per_ns; /* measured by plant_start */
/* two readings with nothing between them: what an account of short calls must take out */
extern uint64_t plant_clock_ticks;

/* Busy for `ns`; adds the ticks that it really took to `took`. */
#define PLANT_SPIN(ns, took)                                                                                           \
	do {                                                                                                           \
		uint64_t plant_from_ = PLANT_NOW();                                                                    \
		uint64_t plant_until_ = plant_from_ + (uint64_t)((double)(ns) * plant_ticks_per_ns);                   \
		uint64_t plant_now_;                                                                                   \
		do                                                                                                     \
			plant_now_ = PLANT_NOW();                                                                      \
		while (plant_now_ < plant_until_);                                                                     \
		(took) += plant_now_ - plant_from_;                                                                    \
	} while (0)

/* Arguments of every program: [REQUESTS [SEED]]. */
struct plant_options {
	size_t n;
	uint64_t random; /* state of the generator */
};

struct plant_options plant_start(int argc, char **argv, size_t default_n); /* also calibrates */
uint32_t plant_uniform(uint64_t *random, uint32_t low, uint32_t high);	   /* low .. high - 1 */
void plant_sleep_us(uint32_t us);

/* What happened in every request, in ticks: its latency, and the time that each factor took. */
struct truth {
	int n_factors;
	const char *const *names; /* [n_factors] */
	size_t n, capacity;
	uint64_t *rows; /* [capacity * (n_factors + 1)], row-major; column 0 is the latency */
};

#define TRUTH_MAX_ALSO 4
struct truth_factor {
	const char *factor;
	double share;
	int is_blame; /* done by others while the request waited */
};

/* A figure of results.json: lists[list] has an item of this name whose `key`, divided by `of`, is `share`; without a
 * list it is a figure of the whole run. */
#define TRUTH_MAX_FIGURES 12
struct truth_figure {
	const char *list, *item, *key;
	double of, share;
};

/* What vprof must find. */
struct truth_answer {
	const char *a, *b;			  /* the planted factor; b: the other one of a pair, or NULL */
	double share;				  /* of the latency's variance */
	const char *accept[6];			  /* other names that may rank first (the same cause, one level away) */
	struct truth_factor also[TRUTH_MAX_ALSO]; /* must be found too, each with its share */
	int is_sampled;				  /* the planted factor's calls are so many that vprof times a few */
	/* found only where the kernel tells when threads lose a processor; else also[0] comes first */
	int needs_switches;
	double preempted_share;				/* then: of the mean latency */
	struct truth_figure figures[TRUTH_MAX_FIGURES]; /* up to the first without a key */
	int is_complete; /* the factors add up to the latency; where they did not, the run was disturbed */
};

void truth_open(struct truth *t, int n_factors, const char *const *names, size_t capacity);
void truth_add(struct truth *t, uint64_t latency, const uint64_t *took);
double truth_share(const struct truth *t, int factor);	      /* Var(factor) / Var(latency), n - 1 */
double truth_pair_share(const struct truth *t, int a, int b); /* 2 Cov(a, b) / Var(latency) */
/* Of the mean, and of the slowest hundredth of all requests (tail) and the others (rest), in ns; factor -1: the
 * latency. */
double truth_mean_ns(const struct truth *t, int factor);
double truth_tail_ns(const struct truth *t, int factor);
double truth_rest_ns(const struct truth *t, int factor);
/* By x, one value for each request: slope of the latency in ns, and R^2; of a factor's own time. */
double truth_slope_ns(const struct truth *t, const uint32_t *x);
double truth_explained(const struct truth *t, int factor, const uint32_t *x);
/* Part of the variance of the latency (factor -1), or of a factor, between the kinds 0 .. n_kinds - 1 of requests. */
double truth_between(const struct truth *t, int factor, const uint32_t *kind, uint32_t n_kinds);
/* Writes the file that TRUTH_OUT names (default truth.json); returns main's exit status. Frees the rows. */
int truth_write(struct truth *t, const struct truth_answer *answer);

/* Stretches of time of one thread, in order: what a lock's holder did. */
struct plant_log {
	size_t n, capacity;
	struct {
		uint64_t from, to;
	} *stretches;
};

uint64_t plant_log_overlap(const struct plant_log *log, uint64_t from, uint64_t to);

#ifdef __cplusplus
}
#endif

#endif
