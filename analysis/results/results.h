/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What an analysis found: the structs that report/ renders and runs/NNNN/results.json stores.
 *
 * Times are ns (double), variances ns^2 with the n-1 estimator, shares are of the interval's variance (0..1; a
 * covariance's share is 2 Cov / Var and may be negative). Nodes: nodes[0] is the interval itself; the children of
 * a node are contiguous and their times sum to it in every interval (a body child takes the rest).
 */
#ifndef VPROF_RESULTS_H
#define VPROF_RESULTS_H

#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "analysis/results/verdict.h"
#include "common/error.h"
#include "common/plan.h"

struct vprof_text;

#define VPROF_TAIL_SHARE 0.01
#define VPROF_TAIL_MIN 10 /* slowest intervals, below which nothing is said about them */
enum vprof_node_kind {
	VPROF_NODE_INTERVAL,
	VPROF_NODE_FUNCTION,
	VPROF_NODE_SITE,    /* external callee, at its call site */
	VPROF_NODE_POINTER, /* call through a pointer */
	VPROF_NODE_BODY,    /* the rest of the parent */
	/* a lock, a sleep, an I/O call ...; children: what the wakers ran meanwhile, and the unexplained rest */
	VPROF_NODE_WAIT,
	VPROF_NODE_QUEUED,    /* nobody worked for the interval; children: what the thread that took it up ran */
	VPROF_NODE_PREEMPTED, /* the thread could have run, but others had the CPU */
	/* spent in the parent's own code, or in calls of hot functions by it that were not timed: it is not known which
	 */
	VPROF_NODE_UNDIVIDED,
	VPROF_NODE_KIND_COUNT
};

static inline int vprof_node_kind_is_code(enum vprof_node_kind kind) /* of the program or of what it calls */
{
	return kind == VPROF_NODE_FUNCTION || kind == VPROF_NODE_SITE || kind == VPROF_NODE_POINTER;
}

#define VPROF_COST_COUNTED_PART 0.25 /* of a record's time, for a call that is only counted (docs/performance.md) */
#define VPROF_EFFECT_TOLD 0.05	     /* slowed by so much: a report begins with it */

#define VPROF_OBJECT_SEVERAL "several" /* in place of an object's address, where there are many */

struct vprof_node {
	enum vprof_node_kind kind;
	uint32_t code;	 /* trace code, 0 for interval, body, wait and queued nodes */
	uint32_t parent; /* index; nodes[0].parent == 0 */
	uint32_t first_child, n_children;
	uint32_t depth;
	uint32_t factor;      /* index + 1 into factors (the node's variance factor), 0 for nodes[0] */
	int is_blame;	      /* below a wait or queued node: work done by others while the interval waited */
	int is_unexplained;   /* the body of a wait or queue delay: no measured work explains this part of it */
	int broken_down;      /* its children are measured */
	uint64_t n_intervals; /* intervals in which it occurs */
	uint64_t n_calls;     /* counted */
	uint64_t n_timed;     /* those recorded one by one: fewer when the function is hot and its calls were sampled */
	double mean_ns, var_ns2, share;
	/* mean variance of the error that sampling adds to one interval's time; not included in var_ns2 */
	double noise_ns2;
	/* mean time that the rare long ones of its sampled calls would add if each stood for others, too */
	double rare_ns;
	double blocked_ns;	 /* mean part of its time spent blocked */
	double kernel_ns;	 /* ... running in the kernel in I/O calls; NaN when unknown */
	double io_ns;		 /* ... in I/O calls, either of the two */
	double preempted_ns;	 /* ... and preempted; NaN when unknown */
	double tail_ns, rest_ns; /* mean among the slowest intervals, and among the others; NaN when there are none */
	double probe_ns; /* what recording it and what lies below it adds to its mean; see struct vprof_results */
	/* __func__, external callee, lock primitive, "queued", "body of f"; vprof's own names stand in brackets where a
	 * function has the same one */
	const char *name;
	const char *display; /* name as reports show it */
	const char *file;
	int line;
	const char *object; /* waits for another thread: the object's address, or VPROF_OBJECT_SEVERAL; else "" */
};

static inline int
vprof_node_is_sampled(const struct vprof_node *n) /* a hot function: some of its calls were only counted */
{
	return vprof_node_kind_is_code(n->kind) && n->n_timed < n->n_calls;
}

/* Wait nodes that stand for the time of a tier without probes (analysis/join/views/views.h) are called so. */
#define VPROF_TIER_PREFIX "tier "

static inline int vprof_wait_name_is_tier(const char *name)
{
	return !strncmp(name, VPROF_TIER_PREFIX, sizeof VPROF_TIER_PREFIX - 1);
}

/* A function of the program, or a tier without probes, which stands where the functions of another one would. */
static inline int vprof_node_is_unit(const struct vprof_node *n)
{
	return n->kind == VPROF_NODE_FUNCTION || (n->kind == VPROF_NODE_WAIT && vprof_wait_name_is_tier(n->name));
}

/* siblings a < b of one parent */
struct vprof_covariance {
	uint32_t a, b;
	double cov_ns2, share, r;
	uint32_t factor; /* index + 1 */
};

enum vprof_factor_kind { VPROF_FACTOR_VARIANCE, VPROF_FACTOR_COVARIANCE };

struct vprof_factor {
	enum vprof_factor_kind kind;
	enum vprof_node_kind node_kind; /* of a variance factor */
	/* stable across runs: "v:fdatasync", "v:beneath:call", "c:a|b" (analysis/variance/factor_identity.h); verdicts
	 * are kept by it */
	const char *key;
	const char *name;	     /* "fdatasync", "(fdatasync, writeToClient)" */
	const char *name_a, *name_b; /* covariance: the two; variance: name_a == name */
	int is_blame;
	double share, share_low, share_high; /* low/high: 95 % confidence interval; NaN when not estimated */
	/* part of the variance that would go if it always took its mean: 1 - Var(T - f) / Var(T) = (2 Cov(T, f) -
	 * Var(f)) / Var(T), f being the time of its outermost nodes, those of both members for a covariance. Negative
	 * where the rest makes up for it. NaN when not estimated. */
	double if_constant, if_constant_low, if_constant_high;
	/* of the same function as own work and beneath waits, where both occur: index + 1 of the other; 0: none */
	uint32_t counterpart;
	/* both together, their covariance included: Var(f + beneath f) / Var(T), and if both were constant; NaN: no
	 * counterpart */
	double together, together_low, together_high;
	double together_constant, together_constant_low, together_constant_high;
	/* fraction of the bootstrap's replicates in which it has the same rank; NaN when not estimated */
	double place_kept;
	uint64_t n_to_settle;  /* intervals that would separate it from the factor ranked next; 0: they are separate */
	double mean_ns, sd_ns; /* summed over its nodes, per interval */
	double r;	       /* covariance: correlation */
	uint32_t height;
	double specificity, score;
	int can_break_down;    /* it, or the functions that it sits in, have unmeasured children */
	uint32_t n_unmeasured; /* how many */
	const uint32_t *nodes; /* the outermost nodes it sums (variance), or covariance indices */
	size_t n_nodes;
	double blocked_share;	   /* part of its mean spent blocked */
	double kernel_share;	   /* ... running in the kernel in I/O calls; NaN when unknown */
	double io_share;	   /* ... in I/O calls, either of the two */
	double preempted_share;	   /* ... and preempted; NaN when unknown */
	uint64_t n_calls, n_timed; /* of its nodes */
	double noise_share;	   /* of the interval's variance: what sampling would have added; it is subtracted */
	double between_share;	   /* part of its own variance that lies between types; NaN when not estimated */
	double work_share;	   /* ... that the amount of work explains; NaN without counters */
	double probe_ns;	   /* as in vprof_node, of its nodes */
	/* Of the function whose work it is, share and if_constant with their upper bounds, as far as they decide what
	 * is recorded next (cli/drilldown/close.h): of all its places together, those beneath waits among them, without
	 * what the scheduler took in it, and with all or none of what is undivided beside it, whichever bound is
	 * larger. NaN: not estimated (it has fewer records than 512 others). */
	double code_share, code_share_high, code_constant, code_constant_high;
	/* by how much the error of what recording costs moves its share, at most; within share_low and share_high */
	double share_cost_low, share_cost_high;
	/* the knot of threads and devices that wait for one another (docs/design/waits.md) for which at least half of
	 * its time is waited, as it is named in `knots`; "": none. knot_part: of its time, NaN where it is no wait,
	 * lies beneath none, or the waits were not analysed */
	const char *knot;
	double knot_part;
	enum vprof_verdict verdict; /* filled by the session */
	const char *note;
};

enum vprof_cause_kind {
	VPROF_CAUSE_WORK,      /* of a function: for the interval itself, or what others ran while it waited */
	VPROF_CAUSE_TOGETHER,  /* several callees of one function vary together: none of them explains it alone */
	VPROF_CAUSE_QUEUED,    /* queue delay that nothing measured explains */
	VPROF_CAUSE_PREEMPTED, /* the scheduler */
	VPROF_CAUSE_UNDIVIDED, /* of a hot function and its caller: this run does not tell of which */
	VPROF_CAUSE_OUTSIDE,   /* between begin and end, outside all measured functions */
	VPROF_CAUSE_KIND_COUNT
};

enum vprof_cause_status {
	VPROF_CAUSE_CANDIDATE,	  /* its bounds or its rank do not exclude chance */
	VPROF_CAUSE_SETTLED_HERE, /* they do within the run; what another run would say, a single one does not tell */
	VPROF_CAUSE_SETTLED,	  /* they do, from run to run */
	VPROF_CAUSE_STATUS_COUNT
};

/* on the way from the interval to a cause */
struct vprof_step {
	enum vprof_node_kind kind; /* FUNCTION, SITE, POINTER, WAIT or QUEUED */
	/* 1: run by others; the first such step after WAIT or QUEUED is the outermost measured function of the thread
	 * that held the lock, sent the data, or served others meanwhile */
	int is_blame;
	const char *name;
	const char *file; /* of the function's definition or of the call; waits: of the call that waits, else "" */
	int line;
	const char *object; /* as in vprof_node */
	/* of a wait: what it waits for as the source at file:line has it ("store_lock", "c->lock"); "": not known */
	const char *awaited;
	uint32_t node; /* in the place that has the largest part */
};

/* what a cause consists of at its end: parts of one cause sum to 1, shares to its share */
struct vprof_split {
	enum vprof_node_kind kind; /* BODY: the function's own code */
	const char *name;	   /* "": the rest */
	double part;		   /* Cov(its time, the cause's) / Var(the cause's) */
	double share;		   /* the same of the interval's variance */
	double mean_ns;
};

/* One chain of the variance tree, from the interval to the code in which a developer can act
 * (docs/design/statistics.md, "Causes"). No two causes have a node in common. */
struct vprof_cause {
	enum vprof_cause_kind kind;
	enum vprof_cause_status status;
	/* stable across runs, written like those of factors: "v:save_snapshot", "c:encode|checksum|..." */
	const char *key;
	const char *name; /* "save_snapshot", "(encode_body, checksum_body)" */
	const char *file;
	int line;
	double share, share_low,
		share_high; /* Var(f) / Var(T), f being the sum of its nodes; bounds as those of factors */
	double if_constant, if_constant_low, if_constant_high;
	double place_kept; /* fraction of the bootstrap's replicates in which it has the same rank; NaN: not estimated
			    */
	double first_kept; /* ... in which it is among the first k */
	double mean_ns, sd_ns;
	/* of its variance: work for the interval itself; work of others while it waited for them; while it was queued
	 */
	double own_part, waiting_part, queued_part;
	uint64_t n_places;     /* different ways from the interval to it */
	int can_break_down;    /* functions in it have unmeasured children */
	uint32_t n_unmeasured; /* how many */
	const char *knot;      /* as of a factor */
	double knot_part;
	enum vprof_verdict verdict; /* filled by the session */
	const char *note;
	const struct vprof_step *steps; /* to its end, in the place that has the largest part */
	size_t n_steps;
	const struct vprof_split *splits; /* by falling part, the rest last */
	size_t n_splits;
	const uint32_t *factors; /* that fold into it: indices, by rank */
	size_t n_factors;
	const uint32_t *nodes; /* that it sums; none lies beneath another */
	size_t n_nodes;
};

/* where intervals wait for the members of a knot */
struct vprof_knot_lock {
	const char *name;     /* the primitive: "pthread_mutex_lock"; "queued" */
	const char *function; /* the innermost measured function in which it waits; "": none */
	const char *file;     /* of the call that waits, else ""; line: 0 */
	int line;
	const char *object;  /* as in vprof_node */
	const char *awaited; /* as in vprof_step */
	double part;	     /* of the time that passes through the knot; with those left out they sum to 1 */
};

/* a knot or sink that limits throughput, and what of the intervals' time passes through it (analysis/join) */
struct vprof_knot {
	const char *name;  /* "compactor -> disk vda -> compactor" */
	double through_ns; /* mean time in which an interval waits for a member, directly or through others */
	double own_ns;	   /* ... in which members work for it themselves */
	double share, share_low, share_high; /* Var(through) / Var(latency), as of causes */
	double if_constant, if_constant_low, if_constant_high;
	const struct vprof_knot_lock *locks; /* the heaviest first */
	size_t n_locks;
};

/* Processes that work for the intervals, by the address where they serve (analysis/join/tier_work.h). */
struct vprof_tier {
	const char *name; /* as the paths of requests have it, "store:4001"; of processes that serve at none, or at
			   * several addresses, the program's */
	int is_own;	  /* intervals begin in it */
	double mean_ns;	  /* per interval: what its threads did, without what others did while they waited */
	double share;	  /* Cov(that, T) / Var(T): those of all tiers sum to 1. NaN: no variance */
	/* whose time was spent in this tier, nine tenths of it or more: indices */
	const uint32_t *factors, *causes;
	size_t n_factors, n_causes;
};

enum vprof_layer_kind {
	VPROF_LAYER_MEASURED, /* the call itself; contexts beneath it: */
	VPROF_LAYER_PROGRAM,
	VPROF_LAYER_LIBRARY,
	VPROF_LAYER_KERNEL,
	VPROF_LAYER_KINDS
};

/* A context beneath a measured call, inferred from the stacks that were taken meanwhile (analysis/join/views/views.h).
 * What was measured comes first, its contexts behind it, callers before callees. Times are between bounds, means over
 * the calls seen as a whole. */
struct vprof_layer {
	enum vprof_layer_kind kind;
	uint32_t parent;     /* index; of the call itself: its own */
	const char *key;     /* of the factor that is opened; "" beneath */
	const char *name;    /* function */
	const char *file;    /* base name of the program or library; "": the kernel */
	uint64_t n_calls;    /* recorded one by one; beneath: calls in which it was seen */
	uint64_t n_whole;    /* of the calls: seen from begin to end */
	uint64_t n_unplaced; /* events left out, whose stacks do not show the call */
	double low_ns, high_ns;
	double own_low_ns, own_high_ns; /* ... in none of the contexts beneath it */
	double share_low, share_high;	/* its variance / that of the call's time; NaN: not known */
};

enum vprof_party_kind {
	VPROF_PARTY_TYPE,     /* intervals of one type; of all, where they have none */
	VPROF_PARTY_THREAD,   /* threads that worked for no interval, by what they run */
	VPROF_PARTY_ITSELF,   /* other threads that worked for the interval that waits */
	VPROF_PARTY_RELEASED, /* nobody: after a release, until the thread that it woke ran */
	VPROF_PARTY_UNKNOWN,  /* nothing recorded tells */
	VPROF_PARTY_KINDS
};

/* who waits, or is waited for (analysis/transactions) */
struct vprof_party {
	enum vprof_party_kind kind;
	const char *name;
	uint64_t n;	 /* intervals analysed; 0: none, or they are of other intervals */
	double total_ns; /* their latencies, summed */
};

/* what a holder ran while it was waited for: in preorder, siblings by falling time */
struct vprof_holder_call {
	enum vprof_node_kind kind; /* FUNCTION, SITE, POINTER, WAIT or PREEMPTED */
	const char *name;
	const char *file; /* of the function's definition or of the call; else "" */
	int line;
	uint32_t depth;	 /* 0: the outermost */
	double total_ns; /* what it took of the waits */
};

/* what was waited for, at one place */
struct vprof_crosstalk_lock {
	const char *name;     /* the primitive: "pthread_mutex_lock"; "queued" */
	const char *function; /* the innermost measured function in which it waits; "": none */
	const char *file;     /* of the call that waits, else of that function; "": none */
	int line;
	int is_call;	     /* file:line is that of the call */
	const char *object;  /* as in vprof_node */
	const char *awaited; /* as in vprof_step */
	uint64_t n_waits;
	double total_ns, measured_ns;		      /* measured: as below */
	const struct vprof_holder_call *holder_calls; /* the heaviest */
	size_t n_holder_calls;
};

/* Waiting time of intervals of one party for what another did. */
struct vprof_crosstalk {
	uint32_t waiter, holder; /* parties */
	uint64_t n_waits;	 /* a wait that several threads prolonged counts for each */
	double total_ns;
	/* of it: in what the holders are known to have run, waited for, or been preempted in; the variance tree's blame
	 */
	double measured_ns;
	double mean_ns, mean_low, mean_high;	  /* per interval of the waiter's, with its 95 % confidence interval */
	double share, share_low, share_high;	  /* of the time of all of the waiter's intervals */
	const struct vprof_crosstalk_lock *locks; /* the heaviest */
	size_t n_locks;
};

/* one of the stages that a transaction passed: the call path at which its thread handed it on */
struct vprof_context_stage {
	const char *name;    /* the innermost functions, as many as it takes to tell it apart; "?": not known */
	const char *program; /* file name; "": not known */
	const char *path;    /* all functions: "main > serve > handle" */
};

/* What intervals of one context did: in preorder, siblings by falling time. Each node's children sum to at most its
 * time; the rest is its own. */
struct vprof_profile_node {
	/* INTERVAL: a stage, beneath the one that handed the interval on. FUNCTION, SITE, POINTER, WAIT, QUEUED,
	 * PREEMPTED: as in the variance tree */
	enum vprof_node_kind kind;
	uint32_t depth;
	int is_blame;	  /* run by others while the interval waited */
	const char *name; /* of a stage: as in struct vprof_context_stage */
	const char *file; /* of the function's definition or of the call; else "" */
	int line;
	double total_ns, own_ns; /* summed over the intervals; own: in no other node of the list */
};

/* A function on the stacks that a timer took of threads while they worked for intervals of one context, on their
 * critical paths: in preorder, siblings by falling number. */
#define VPROF_SAMPLED_DEPTH_MAX 512
struct vprof_sampled_function {
	const char *name;
	const char *file;  /* base name of the program or library; "": the kernel, or code in no file */
	uint32_t depth;	   /* 0: the outermost */
	uint64_t n, n_own; /* samples; own: in no other function of the list */
};

/* A type of transaction: intervals that passed the same stages (docs/design/transactions.md). */
struct vprof_context {
	const char *name;					/* its stages' names: "on_request -> on_reply" */
	uint64_t n;						/* intervals */
	double total_ns, mean_ns, share;			/* latencies; share: of all intervals' */
	double running_ns, waiting_ns, queued_ns, preempted_ns; /* these sum to total_ns */
	/* 95 % confidence intervals; of the four parts, as shares of total_ns. NaN: too few intervals */
	double mean_low, mean_high, share_low, share_high;
	double running_low, running_high, waiting_low, waiting_high;
	double queued_low, queued_high, preempted_low, preempted_high;
	int is_unknown;				  /* at least one stage is not known */
	int is_cut;				  /* some of its intervals passed more stages than are told apart */
	const struct vprof_context_stage *stages; /* in the order in which they were first passed */
	size_t n_stages;
	const struct vprof_profile_node *profile; /* the heaviest */
	size_t n_profile;
	const struct vprof_sampled_function *sampled; /* those with most samples; none were taken without stacks */
	size_t n_sampled;
};

/* a function found on sampled call stacks */
struct vprof_common_frame {
	const char *name;   /* symbol */
	const char *module; /* path of the binary or library */
	uint64_t n;	    /* samples that contain it */
	double depth;	    /* mean position from the outermost frame, for ordering */
	int encloses;	    /* on the common part of begin and end stacks: active throughout segments */
	int innermost_enclosing;
	int is_waker; /* on the stacks of releases that intervals waited for, a fiftieth of that time or more */
};

struct vprof_type {
	const char *name;
	uint64_t n;
	double mean_ns, sd_ns;
	double between_share, within_share; /* what it adds to the variance between types, and within them */
};

/* What was spent in a function (or wait, ...) itself and in no measured part of it: these times sum to the latency. */
struct vprof_contribution {
	uint32_t factor; /* index + 1 of the variance factor; 0: of the interval, when nothing is measured below it */
	const char *name;
	double mean_ns, mean_low,
		mean_high;		  /* per interval, with its 95 % confidence interval; NaN when not estimated */
	double tail_ns, rest_ns;	  /* mean among the slowest intervals, and among the others */
	double gap_ns, gap_low, gap_high; /* tail_ns - rest_ns */
};

/* a counter of vprof_work(), and the line that fits the latencies best */
struct vprof_work {
	const char *name;
	double mean, sd;	       /* amount per interval */
	double ns_per_unit, low, high; /* slope, with its 95 % confidence interval */
	double r;		       /* correlation with the latency */
	double share;		       /* of the variance; the shares of all counters sum to work_share */
};

/* latencies in [from_ns, to_ns) */
struct vprof_bucket {
	double from_ns, to_ns;
	uint64_t n;
	uint32_t type; /* index + 1 into types, of the six most frequent; 0: all */
};

/* intervals that began in a part of the run; times since the start of the run */
struct vprof_period {
	double from_ns, to_ns;
	uint64_t n;
	double mean_ns, p50_ns, p99_ns, max_ns;
};

/* how it is known what recording took */
enum vprof_effect_by {
	VPROF_EFFECT_BY_RECORDS,  /* from the number of records alone */
	VPROF_EFFECT_BY_BASELINE, /* compared with the annotated-only run */
	VPROF_EFFECT_BY_WINDOWS,  /* compared with the intervals outside the recording windows of the same run */
	VPROF_EFFECT_BY_COUNT
};

enum vprof_example_why {
	VPROF_EXAMPLE_SLOWEST,
	VPROF_EXAMPLE_P99,
	VPROF_EXAMPLE_P90,
	VPROF_EXAMPLE_MEDIAN,
	VPROF_EXAMPLE_FASTEST,
	VPROF_EXAMPLE_WHY_COUNT
};

struct vprof_example { /* a single interval */
	enum vprof_example_why why;
	uint64_t rank;			/* among those of this reason */
	double latency_ns, at_ns;	/* at: when it began, since the start of the trace */
	const char *type;		/* "": it has none */
	uint32_t first_piece, n_pieces; /* in pieces */
	uint64_t n_left_out;		/* shorter pieces and calls */
};

enum vprof_shown_kind {
	VPROF_SHOWN_RUN,
	VPROF_SHOWN_WAIT,   /* blocked */
	VPROF_SHOWN_KERNEL, /* in an I/O call, running in the kernel */
	VPROF_SHOWN_IO,	    /* in an I/O call, blocked or running: it is not known which */
	VPROF_SHOWN_PREEMPTED,
	VPROF_SHOWN_QUEUED,
	VPROF_SHOWN_CALL,
	VPROF_SHOWN_KIND_COUNT
};

/* A part of an example's critical path, or a call while it lasted. Those that are neither blame nor calls tile the
 * example, but for what is left out. */
struct vprof_shown_piece {
	double from_ns, to_ns; /* since the start of the example */
	enum vprof_shown_kind kind;
	uint32_t thread;    /* index into threads */
	uint32_t depth;	    /* of a call: measured calls around it; else number of waits that it explains */
	int is_blame;	    /* run by others while the interval waited */
	const char *name;   /* of the call, or of the primitive that waited */
	const char *object; /* of a wait that another thread ended, else "" */
};

struct vprof_shown_thread {
	const char *name;
};

/* what differs between turns of a plan and baselines: 0.05 is 5 % more; NaN: unknown */
struct vprof_live_change {
	double change, low, high;
};

/* of a live session's trace (docs/live.md); not part of results.json */
struct vprof_live_effect {
	uint64_t n_turns, n_baselines; /* with intervals; 0: no live session's */
	uint64_t n_straddling;	       /* complete intervals during which probes were opened or closed */
	struct vprof_live_change mean, variance, p99;
};

struct vprof_results {
	const char *interval; /* name */
	const char *run;      /* run folder's name, "0007" */
	uint64_t n_runs;      /* analysed together, with the same plan: traces that have complete intervals */
	uint64_t n_complete, n_cut, n_ambiguous, n_restarted;
	uint64_t n_records, n_dropped, n_bytes_ignored;
	/* complete, but began outside the windows in which calls were recorded: not in n_complete */
	uint64_t n_outside;
	uint64_t n_lossy;	  /* complete, but records that they may need were lost: not in n_complete */
	uint64_t n_not_drawn;	  /* complete, but others were drawn for this analysis: not in n_complete */
	double outside_mean_ns;	  /* mean latency of these, NaN when there are none */
	uint64_t n_calls_sampled; /* records of hot functions' calls, each of which stands for several */
	uint64_t n_waits, n_waits_matched, n_waits_unmatched;
	/* of those matched: by time and order alone, the lock's number of releases did not decide */
	uint64_t n_waits_by_time;
	uint64_t n_waits_undecided; /* for data that any of several senders may have ended; not in n_waits */
	double mean_ns, sd_ns, var_ns2, min_ns, max_ns, p50_ns, p90_ns, p99_ns, p999_ns;
	double duration_ns;	    /* length of the run's trace */
	double covered_share;	    /* of it, in which intervals were under way, each counted; NaN: unknown */
	double busy_share;	    /* of it, CPU time of the recorded threads; may be above 1; NaN: unknown */
	double mean_low, mean_high; /* 95 % confidence interval of the mean */
	double slowest_share;	    /* of the variance: what is due to the slowest interval alone */
	double between_types;	    /* share of variance between types; 0 when one type */
	double between_low, between_high;
	uint64_t n_blocks;    /* of intervals, drawn by the bootstrap; 0: no confidence intervals */
	double order_kept;    /* fraction of its replicates in which the selected factors have the same order */
	uint64_t n_to_settle; /* intervals that would settle that order; 0: it is settled, or nothing would */
	double tail_from_ns;  /* the slowest intervals took this long or longer; NaN: there are none */
	int tail_is_asked;    /* tail_from_ns was given; else they are the slowest 1 % */
	uint64_t n_tail;
	double tail_ns, rest_ns; /* mean latency of the slowest, and of the others */
	/* of the variance: explained by the amount of work; NaN without counters */
	double work_share, work_low, work_high;
	uint64_t n_worked; /* intervals with an amount of work */
	/* what recording a call takes here, and the part within the call's own time */
	double record_ns, record_inside_ns;
	/* What recording adds to the mean latency. Where the trace tells what a record takes, this is taken out of all
	 * times of nodes and factors; mean_ns and the other latencies are as measured. */
	double probe_ns, probe_low_ns, probe_high_ns;
	double cost_scale; /* probe_ns by the nominal cost of its records; NaN: nothing is taken out */
	/* How much slower recording made the intervals, by their mean without it: 0.05 is 5 %. */
	double effect, effect_low, effect_high;
	enum vprof_effect_by effect_by;
	double queued_share, blocked_share, running_share; /* of the mean latency */
	/* ran in the kernel in I/O calls, not in running_share; NaN: unknown, see io_share */
	double kernel_share;
	double io_share;	/* in I/O calls, blocked or in the kernel: it is not known which */
	double preempted_share; /* of the mean latency; NaN: unknown, and part of running_share and io_share */
	/* of the preempted time: the CPU went next to a thread of the session; NaN: unknown */
	double preempted_by_own;
	const char *no_switches; /* why preempted times are unknown, and what to do; "" when they are known */
	uint64_t n_switches, n_switches_lost;
	double baseline_mean_ns;	    /* annotated-only run of this session, NaN when none */
	double baseline_low, baseline_high; /* 95 % confidence interval of that mean */
	uint32_t graph_height;
	double threshold; /* d */
	int k;
	struct vprof_node *nodes;
	size_t n_nodes;
	struct vprof_covariance *covariances;
	size_t n_covariances;
	struct vprof_factor *factors; /* by descending score, those above the threshold first */
	size_t n_factors;
	size_t n_selected;	    /* the first n_selected are the top k above d */
	struct vprof_cause *causes; /* by descending if_constant */
	size_t n_causes;
	struct vprof_knot *knots; /* the heaviest first */
	size_t n_knots;
	struct vprof_tier *tiers; /* by falling share; none where one alone works for the intervals */
	size_t n_tiers;
	struct vprof_layer *layers; /* the heaviest factor's first */
	size_t n_layers;
	struct vprof_party *parties;
	size_t n_parties;
	struct vprof_crosstalk *crosstalk; /* by falling time */
	size_t n_crosstalk;
	struct vprof_context *contexts; /* by falling time */
	size_t n_contexts;
	uint64_t n_contexts_left; /* lighter ones that are not told */
	struct vprof_type *types;
	size_t n_types;
	struct vprof_contribution *contributions; /* by descending mean_ns */
	size_t n_contributions;
	struct vprof_work *work; /* the counter recorded most often first */
	size_t n_work;
	struct vprof_closed *closed; /* that the drill-down closed in the plan of this run */
	size_t n_closed;
	struct vprof_common_frame *common_frames;
	size_t n_common_frames;
	struct vprof_bucket *histogram; /* by type, then latency; empty ones are left out */
	size_t n_histogram;
	struct vprof_period *periods;
	size_t n_periods;
	struct vprof_example *examples;
	size_t n_examples;
	struct vprof_shown_piece *pieces;
	size_t n_pieces;
	struct vprof_shown_thread *threads;
	size_t n_threads;
	uint64_t n_warnings_first; /* of the warnings: to be read before any ranking */
	char **warnings;
	size_t n_warnings;
	struct vprof_live_effect live;
	int inconclusive; /* too few intervals, no variance, ...: warnings say why and what to do */
	struct vprof_results_private *private;
};

/* Does what stands for an object's address stand for several? */
int vprof_object_is_several(const char *object);

struct vprof_results *vprof_results_new(void);
void vprof_results_free(struct vprof_results *r);
/* Interned copy owned by r; bytes that are not valid UTF-8 become U+FFFD, so that results.json is JSON. NULL: out of
 * memory. */
const char *vprof_results_string(struct vprof_results *r, const char *s);
/* The same of a text, which is released in any case. NULL also when the text has failed. */
const char *vprof_results_text(struct vprof_results *r, struct vprof_text *text);
/* A wait or queue delay caused by others' work: functions measured below it account for half of its variance or more.
 */
int vprof_factor_is_explained(const struct vprof_results *r, const struct vprof_factor *f);
/* Unexplained time, or its covariance with something: there is nothing in it to rank. */
int vprof_factor_is_unexplained(const struct vprof_results *r, const struct vprof_factor *f);
/* The node's body, if nothing but that and what the scheduler took is in it; else the node itself. */
uint32_t vprof_node_body_of(const struct vprof_results *r, uint32_t node);
/* Complete intervals, whether they were drawn or not. */
static inline uint64_t vprof_results_n_all(const struct vprof_results *r)
{
	return r->n_complete + r->n_not_drawn;
}

/* Index of the covariance of the siblings a < b, or of the first one after its place: n_covariances at the end.
 */
size_t vprof_results_covariance(const struct vprof_results *r, uint32_t a, uint32_t b);
/* The cause that a factor folds into: its index, n_causes when there is none. */
size_t vprof_results_cause_of(const struct vprof_results *r, size_t factor);
/* The tier in which a cause's time was spent, or NULL. */
const struct vprof_tier *vprof_results_tier_of(const struct vprof_results *r, size_t cause);
int vprof_results_write(const struct vprof_results *r, const char *path, struct vprof_error *err);
int vprof_results_read(struct vprof_results **out, const char *path, struct vprof_error *err);

/* 95 % confidence interval of what the probes cost: mean_ns - baseline_mean_ns. NaN when a bound is missing. */
void vprof_results_probe_cost_bounds(const struct vprof_results *r, double *low, double *high);

#endif
