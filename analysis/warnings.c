/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Ordered by how much they take away: nothing found, too little found, found but incomplete, found but coarse. */
#include "analysis/warnings.h"
#include "analysis/stats/load_share.h"

#include "analysis/stats/bootstrap.h"

#include <math.h>

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

struct list {
	struct vprof_results *r;
	int ret;
};

__attribute__((format(printf, 2, 3))) static void warn(struct list *l, const char *format, ...)
{
	va_list ap;

	va_start(ap, format);
	if (vprof_warning_add_va(l->r, format, ap))
		l->ret = VPROF_ERR_NOMEM;
	va_end(ap);
}

#define LLU(x) ((unsigned long long)(x))

/* To two digits. */
static unsigned long long rounded(uint64_t n)
{
	uint64_t unit = 1;

	while (n / unit >= 100)
		unit *= 10;
	return LLU((n + unit - 1) / unit * unit);
}

static void warn_nothing(struct list *l, const struct vprof_findings *f)
{
	struct vprof_results *r = l->r;

	r->inconclusive = 1;
	if (!r->n_records && r->n_dropped)
		warn(l,
		     "the trace is empty, but %llu records were lost on their way to the disk: make room there, or give the "
		     "run more memory for records",
		     LLU(r->n_dropped));
	else if (!r->n_records)
		warn(l,
		     "the trace is empty: no instrumented program ran. Check that the run command starts the program "
		     "that was built with probes (not an installed copy), and, if it is statically linked, that "
		     "libvprof.a is linked in (docs/design/runtime.md)");
	else if (f->wanted && !f->counts)
		warn(l,
		     "no event of the interval \"%s\" is in the trace: the code at its begin and end never ran. Check "
		     "the interval's functions in vprof.json and that the run command puts load on them",
		     vprof_warned_name(f->wanted).s);
	else if (!f->counts)
		warn(l,
		     "no interval began or ended in this run. If vprof.json has intervals: the code at their begin and end never "
		     "ran; check their functions, and that the run command puts load on them. If it has none: vprof init "
		     "proposes some");
	else if (r->n_lossy)
		warn(l,
		     "all %llu complete intervals were left out: records that they may need were lost. Give the run larger "
		     "buffers (--memory), or measure fewer functions",
		     LLU(r->n_lossy));
	else if (f->n_warmup)
		warn(l,
		     "all %llu complete intervals lie in the warm-up that was left out: record a longer run or lower the "
		     "warm-up share",
		     LLU(f->n_warmup));
	else if (f->counts->n_ends_only && !f->counts->n_open)
		warn(l,
		     "intervals end but never begin (%llu ends): the begin annotation did not run, or it uses another id "
		     "than the end",
		     LLU(f->counts->n_ends_only));
	else
		warn(l,
		     "no interval is complete: %llu began, none of them ended within the trace. Check that the end "
		     "annotation runs and has the same id as the begin, or record a longer run",
		     LLU(f->counts->n_open + f->counts->n_restarted));
}

static void warn_few(struct list *l, const struct vprof_findings *f)
{
	struct vprof_results *r = l->r;

	if (r->n_complete < f->min_intervals) {
		r->inconclusive = 1;
		warn(l,
		     "only %llu complete intervals; at least %llu are needed, and %d for confidence intervals: "
		     "record a run %.0f times as long, or apply more load%s",
		     LLU(r->n_complete), LLU(f->min_intervals), VPROF_BOUNDS_MIN,
		     ceil(VPROF_BOUNDS_MIN / (double)r->n_complete),
		     r->n_lossy	  ? ", and give the run larger buffers so that no interval is left out (--memory)" :
		     r->n_outside ? ", or raise the recording budget (--budget; 0: no limit)" :
				    "");
	}
	if (r->n_complete >= 2 && !(r->var_ns2 > 0)) {
		r->inconclusive = 1;
		warn(l,
		     "all intervals took the same time: there is no variance to explain. Check that begin and end are "
		     "not the same place");
	}
}

static void warn_outside(struct list *l)
{
	const struct vprof_results *r = l->r;
	double more = r->mean_ns / r->outside_mean_ns - 1;

	if (!r->n_outside || !r->n_complete || fabs(r->outside_mean_ns - r->mean_ns) <= 0.1 * r->mean_ns)
		return;
	if (more > 0)
		warn(l,
		     "intervals took %.0f %% longer on average inside the recording windows than outside (%llu "
		     "intervals): probe overhead, or a changing load. Shares of frequently called functions may be "
		     "too large",
		     100 * more, LLU(r->n_outside));
	else
		warn(l,
		     "intervals took %.0f %% less time on average inside the recording windows than outside (%llu "
		     "intervals): the load changed, or slow intervals are too rare for the windows. A longer run sees "
		     "more of them",
		     -100 * more, LLU(r->n_outside));
}

static void warn_drawn(struct list *l)
{
	const struct vprof_results *r = l->r;

	if (r->n_not_drawn)
		warn(l,
		     "these are of a look at a round that went on: %llu of %llu intervals were drawn at random, and counts "
		     "and total times are of these. vprof analyze RUN analyses all",
		     LLU(r->n_complete), LLU(vprof_results_n_all(r)));
}

static void warn_incomplete(struct list *l, const struct vprof_findings *f)
{
	const struct vprof_results *r = l->r;
	uint64_t n_complete = vprof_results_n_all(r), n = n_complete + r->n_cut;

	warn_drawn(l);
	warn_outside(l);
	if (r->n_dropped)
		warn(l,
		     "%llu records were dropped because the trace's buffers were full: %llu complete intervals that "
		     "may need them were left out, and data sent through pipes and sockets after that cannot be "
		     "followed. Give the run larger buffers (--memory), or measure fewer functions",
		     LLU(r->n_dropped), LLU(r->n_lossy));
	if (r->n_bytes_ignored)
		warn(l, "%llu bytes of the trace are damaged or cut and were ignored", LLU(r->n_bytes_ignored));
	if (!*r->no_switches && r->n_switches_lost)
		warn(l, "%llu of %llu context switches were lost: some preempted time is counted as running",
		     LLU(r->n_switches_lost), LLU(r->n_switches + r->n_switches_lost));
	if (f->n_kernel_lost)
		warn(l,
		     "%llu of the kernel's events were lost: knots may lack waits. Nothing else is affected; vprof report waits "
		     "tells more",
		     LLU(f->n_kernel_lost));
	if (f->is_cut)
		warn(l, "the trace is truncated: recording did not finish. What was written is analysed");
	if (n && r->n_cut * 10 > n)
		warn(l,
		     "%llu of %llu intervals are cut off by the start or end of the trace and left out: record a "
		     "longer run, or check that every interval that begins also ends",
		     LLU(r->n_cut), LLU(n));
	if (r->n_restarted * 20 > n_complete)
		warn(l,
		     "%llu intervals began again before they ended and were left out: the id may not be unique among "
		     "concurrent requests, or an end is missing on some path",
		     LLU(r->n_restarted));
	if (r->n_ambiguous * 100 > n_complete)
		warn(l,
		     "%llu intervals had the same id as one open in another process: their ends may be mixed up. Use an "
		     "id that is unique across processes",
		     LLU(r->n_ambiguous));
	if (f->tree && f->wakes && f->tree->unmatched_ticks * 10 > f->tree->wait_ticks && f->wakes->n_unmatched > 10)
		warn(l,
		     "%.0f %% of the time that the intervals waited for other threads has no known waker (%llu of "
		     "%llu waits): it is shown as \"unexplained\". Annotate the release functions of the locks in use",
		     100.0 * (double)f->tree->unmatched_ticks / (double)f->tree->wait_ticks, LLU(f->wakes->n_unmatched),
		     LLU(f->wakes->n_waits));
	if (f->tree && f->tree->n_unknown_codes)
		warn(l,
		     "the trace contains probes that its plan does not list: plan.json and the trace are from different runs");
	if (f->tree && f->tree->n_folded)
		warn(l, "very deep recursion or very many call paths: %llu calls were attributed to their callers",
		     LLU(f->tree->n_folded));
}

/* Then their order says nothing: the same chain is broken down, or found, either way. */
static int are_of_one_cause(const struct vprof_results *r, size_t a, size_t b)
{
	size_t cause = vprof_results_cause_of(r, a);

	return cause < r->n_causes && cause == vprof_results_cause_of(r, b);
}

/* Found, but who knows in which order, or whether again. */
static void warn_unstable(struct list *l)
{
	const struct vprof_results *r = l->r;
	struct vprof_warned_factor name, next;

	if (r->slowest_share > 0.5 && r->n_complete > 2)
		warn(l,
		     "the slowest interval alone accounts for %.0f %% of the variance: the shares describe this one "
		     "outlier. Record a longer run to see whether such intervals recur, or look at the others: vprof "
		     "report --view mean",
		     100 * r->slowest_share);
	for (size_t i = 0; i < r->n_selected && i + 1 < r->n_factors; i++) {
		const struct vprof_factor *f = &r->factors[i];

		if (!f->n_to_settle || are_of_one_cause(r, i, i + 1))
			continue;
		name = vprof_warned_factor(r, f);
		next = vprof_warned_factor(r, f + 1);
		if (f->n_to_settle > 1000 * r->n_complete)
			warn(l,
			     "factors %zu and %zu (%s; %s) are a statistical tie that more intervals won't break: "
			     "treat both as equal",
			     i + 1, i + 2, name.s, next.s);
		else
			warn(l,
			     "factors %zu and %zu (%s; %s) are a statistical tie: the first keeps its rank in %.0f %% of "
			     "resampled runs. About %llu intervals would break it (%s %llu)",
			     i + 1, i + 2, name.s, next.s, 100 * f->place_kept, rounded(f->n_to_settle),
			     r->n_not_drawn ? "drawn were" : "this run has", LLU(r->n_complete));
	}
}

static void warn_changed(struct list *l, const struct vprof_changed_modules *c)
{
	char others[48] = "";

	if (!c || !c->n)
		return;
	if (c->n > 1)
		snprintf(others, sizeof others, " and %zu other%s", c->n - 1, c->n > 2 ? "s" : "");
	warn(l, "rebuilt since this run: %s%s. %s. Measured functions and their times are not affected", c->first,
	     others,
	     c->is_kept ? "Functions in the sampled call stacks are taken from the run's earlier analysis" :
			  "Addresses in the sampled call stacks belong to other functions now, so none is named");
}

static void warn_damaged(struct list *l, const struct vprof_changed_modules *c)
{
	if (c && *c->damage)
		warn(l, "%s. Some of its functions may be missing from the common frames", c->damage);
}

static void warn_work(struct list *l, const struct vprof_findings *f)
{
	const struct vprof_results *r = l->r;

	if (!f->attributes || !f->attributes->n_counters)
		return;
	if (!r->n_worked)
		warn(l,
		     "work was counted %llu times, but never on a thread that worked for this interval: count it "
		     "between begin and end, on the interval's own threads",
		     LLU(f->attributes->n_stray));
	if (f->attributes->n_left_out)
		warn(l, "%zu work counters are left out: only the %d recorded most often are used",
		     f->attributes->n_left_out, VPROF_COUNTERS_MAX);
}

static int has_outliers(const struct vprof_results *r, const struct vprof_node *n)
{
	return n->rare_ns > 0.2 * n->mean_ns && n->rare_ns > 0.05 * r->mean_ns;
}

/* Of a function's calls in all places of the tree that have them: how much their outliers would add, of their mean. 0:
 * an earlier node speaks for them. */
static double outliers_of(const struct vprof_results *r, size_t first)
{
	double rare_ns = 0, mean_ns = 0;

	for (size_t i = 0; i < r->n_nodes; i++) {
		const struct vprof_node *n = &r->nodes[i];

		if (!has_outliers(r, n) || strcmp(n->name, r->nodes[first].name) != 0)
			continue;
		if (i < first)
			return 0;
		rare_ns += n->rare_ns;
		mean_ns += n->mean_ns;
	}
	return rare_ns / mean_ns;
}

/* Hot functions whose sampled times say little. */
static void warn_noisy(struct list *l)
{
	const struct vprof_results *r = l->r;

	for (size_t i = 0; i < r->n_nodes; i++) {
		const struct vprof_node *n = &r->nodes[i];
		double added = has_outliers(r, n) ? outliers_of(r, i) : 0;

		if (added > 0)
			warn(l,
			     "%s: some of its timed calls, at most 1 in 100, are outliers, and each is counted once: "
			     "scaled up like the others they would add %.3g times its mean. They are interruptions "
			     "or rare slow calls; what others like them took is found as undivided time. Record every "
			     "call (--every-call) to see them",
			     vprof_warned_name(n->name).s, added);
	}

	for (size_t i = 0; i < r->n_factors; i++) {
		const struct vprof_factor *f = &r->factors[i];

		if (f->kind == VPROF_FACTOR_VARIANCE && f->n_timed && f->noise_share > 0.05 &&
		    f->noise_share > f->share)
			warn(l,
			     "%s: 1 in %.3g of its calls was timed, and the sampling error is larger than its "
			     "remaining variance. Record every call (--every-call), or more intervals",
			     vprof_warned_factor(r, f).s, (double)f->n_calls / (double)f->n_timed);
	}
}

static void warn_coarse(struct list *l)
{
	const struct vprof_results *r = l->r;
	const struct vprof_node *root = r->nodes, *body;
	size_t n_measured = 0;

	if (!r->n_nodes || !(root->mean_ns > 0))
		return;
	for (uint32_t i = root->first_child; i < root->first_child + root->n_children; i++)
		n_measured += r->nodes[i].kind != VPROF_NODE_BODY && r->nodes[i].kind != VPROF_NODE_PREEMPTED;
	if (!n_measured) {
		warn(l,
		     "no measured function ran within the interval: the roots of this plan are not on its path. Measure a "
		     "function that runs between begin and end (the sampled call stacks name some)");
		return;
	}
	body = &r->nodes[root->first_child + root->n_children - 1];
	if (body->share > 0.3)
		warn(l,
		     "%.0f %% of the variance lies between begin and end but outside all measured functions: add a "
		     "root closer to the interval's begin and end",
		     100 * body->share);
	if (r->n_types * 2 > r->n_complete && r->n_types > 10 && !r->n_not_drawn)
		warn(l,
		     "there are nearly as many types as intervals: the share between types is meaningless. Use a coarser type");
}

/* Of what is the ranking, if the intervals are not what the program does? Comes first, whatever was said before. */
static void warn_sliver(struct list *l)
{
	struct vprof_results *r = l->r;
	char busy[64] = "", *added;
	size_t n = r->n_warnings;

	if (r->inconclusive || !vprof_load_share_is_sliver(r))
		return;
	if (isfinite(r->busy_share))
		snprintf(busy, sizeof busy, ", while the program computed for %.2g s",
			 r->busy_share * r->duration_ns * 1e-9);
	warn(l,
	     "the intervals cover %.2g %% of the run's time (%llu in %.2g s)%s. If the load kept it busy, these are not its "
	     "requests, and the ranking is not about them: check where they begin and end (docs/annotations.md)",
	     100 * r->covered_share, LLU(vprof_results_n_all(r) + r->n_outside), r->duration_ns * 1e-9, busy);
	if (r->n_warnings == n)
		return;
	added = r->warnings[n];
	memmove(r->warnings + 1, r->warnings, n * sizeof *r->warnings);
	r->warnings[0] = added;
	r->n_warnings_first = 1;
}

int vprof_warnings_add(struct vprof_results *r, const struct vprof_findings *f, struct vprof_error *err)
{
	struct list l = { .r = r };

	if (!r->n_complete)
		warn_nothing(&l, f);
	else
		warn_few(&l, f);
	if (r->n_records)
		warn_incomplete(&l, f);
	if (r->n_complete) {
		warn_coarse(&l);
		warn_noisy(&l);
		warn_unstable(&l);
		warn_work(&l, f);
	}
	warn_changed(&l, f->changed);
	warn_damaged(&l, f->changed);
	if (r->n_complete)
		warn_sliver(&l);
	if (l.ret)
		vprof_error_set(err, l.ret, "not enough memory for the warnings");
	return l.ret;
}
