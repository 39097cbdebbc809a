/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "cli/doctor/symptoms.h"

#include <math.h>
#include <netdb.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include "cli/command.h"

#define LLU(n) ((unsigned long long)(n))
#define FEW 30		 /* intervals that an analysis needs */
#define OVERHEAD 0.2	 /* of the annotated-only mean */
#define BLOCKED_MUCH 0.1 /* of the mean */
#define OFF_PATH 0.7	 /* of the time that functions took */
#define DISK_LEAST_MIB 64
#define TOLD_MAX 4

static int say(char *detail, size_t size, const char *fmt, ...) __attribute__((format(printf, 3, 4)));

/* 1, for `return say(...)`. */
static int say(char *detail, size_t size, const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(detail, size, fmt, ap);
	va_end(ap);
	return 1;
}

static int is_empty(const struct vprof_evidence *e)
{
	return e->results && !e->results->n_complete && !e->results->n_outside && !e->results->n_lossy;
}

static int seen_localhost(const struct vprof_evidence *e, char *detail, size_t size)
{
	const struct addrinfo hints = { .ai_family = AF_INET, .ai_socktype = SOCK_STREAM };
	struct addrinfo *found = NULL;
	int rc = getaddrinfo("localhost", NULL, &hints, &found);

	if (!rc)
		freeaddrinfo(found);
	if (rc)
		return say(detail, size, "the name localhost has no address here: %s", gai_strerror(rc));
	return e->reason == VPROF_REASON_NO_LOCALHOST && say(detail, size, "bear could not resolve the name localhost");
}

static int seen_disk_full(const struct vprof_evidence *e, char *detail, size_t size)
{
	const char *folder = access(e->project->vprof_dir, F_OK) ? e->project->directory : e->project->vprof_dir;
	unsigned long long mib;
	struct statvfs fs;

	if (e->reason == VPROF_REASON_TRACE_CUT)
		return say(detail, size, "the trace did not fit on the disk");
	if (e->reason == VPROF_REASON_DISK_FULL)
		return say(detail, size, "a file could not be written: no space left on device");
	if (statvfs(folder, &fs))
		return 0;
	mib = (unsigned long long)fs.f_bavail * fs.f_frsize >> 20;
	return mib < DISK_LEAST_MIB &&
	       say(detail, size, "%llu MiB are free where %s lies", mib, vprof_project_shown(folder));
}

static int seen_nothing_compiled(const struct vprof_evidence *e, char *detail, size_t size)
{
	return e->reason == VPROF_REASON_NOTHING_COMPILED &&
	       say(detail, size, "the observed build compiled no C or C++ file");
}

static int seen_not_analysed(const struct vprof_evidence *e, char *detail, size_t size)
{
	if (!e->run || e->is_analysed)
		return 0;
	if (e->unread && *e->unread)
		return say(detail, size, "the results of run %s cannot be read: %s", e->run, e->unread);
	return say(detail, size, "run %s has no results", e->run);
}

static int seen_preload_refused(const struct vprof_evidence *e, char *detail, size_t size)
{
	if (!is_empty(e) || e->results->n_records)
		return 0;
	for (size_t i = 0; i < e->programs.n; i++)
		if (e->programs.items[i].gains_rights)
			return say(detail, size, "nothing was recorded, and %s gains privileges when it starts",
				   vprof_project_shown(e->programs.items[i].path));
	return 0;
}

static int seen_nothing_recorded(const struct vprof_evidence *e, char *detail, size_t size)
{
	return is_empty(e) && !e->results->n_records && !e->results->n_dropped &&
	       say(detail, size, "the trace is empty: no program with probes ran under vprof");
}

static int seen_no_interval(const struct vprof_evidence *e, char *detail, size_t size)
{
	const struct vprof_results *r = e->results;

	return is_empty(e) && r->n_records && !r->n_cut && !r->n_restarted &&
	       say(detail, size, "the program recorded, but no interval began or ended");
}

static int seen_all_cut(const struct vprof_evidence *e, char *detail, size_t size)
{
	const struct vprof_results *r = e->results;

	return is_empty(e) && r->n_cut + r->n_restarted > 0 &&
	       say(detail, size, "no interval is complete: of %llu only the begin or only the end is in the trace",
		   LLU(r->n_cut + r->n_restarted));
}

static int seen_few_intervals(const struct vprof_evidence *e, char *detail, size_t size)
{
	const struct vprof_results *r = e->results;

	return r && r->n_complete && r->n_complete < FEW &&
	       say(detail, size, "%llu complete interval%s; at least %d are needed", LLU(r->n_complete),
		   r->n_complete == 1 ? "" : "s", FEW);
}

static int seen_begun_again(const struct vprof_evidence *e, char *detail, size_t size)
{
	const struct vprof_results *r = e->results;

	return r && r->n_complete && r->n_restarted * 20 > vprof_results_n_all(r) &&
	       say(detail, size, "%llu intervals began again before they ended, besides %llu complete ones",
		   LLU(r->n_restarted), LLU(vprof_results_n_all(r)));
}

static int seen_records_lost(const struct vprof_evidence *e, char *detail, size_t size)
{
	const struct vprof_results *r = e->results;

	return r && r->n_dropped &&
	       say(detail, size, "%llu records were dropped, and %llu intervals left out because of it",
		   LLU(r->n_dropped), LLU(r->n_lossy));
}

static int seen_overhead(const struct vprof_evidence *e, char *detail, size_t size)
{
	const struct vprof_results *r = e->results;

	return r && r->baseline_mean_ns > 0 && r->mean_ns > (1 + OVERHEAD) * r->baseline_mean_ns &&
	       !(r->mean_low < r->baseline_high) &&
	       say(detail, size, "intervals took %.0f %% longer than in the baseline; recording explains about %.0f %%",
		   100 * (r->mean_ns / r->baseline_mean_ns - 1), 100 * r->probe_ns / r->baseline_mean_ns);
}

static int seen_off_path(const struct vprof_evidence *e, char *detail, size_t size)
{
	const struct vprof_results *r = e->results;
	double own = 0, measured = 0;

	/* Round 0 measures no function: it has no baseline yet. */
	if (!r || !r->n_complete || !r->n_nodes || !(r->baseline_mean_ns > 0))
		return 0;
	for (uint32_t i = r->nodes->first_child; i < r->nodes->first_child + r->nodes->n_children; i++) {
		enum vprof_node_kind kind = r->nodes[i].kind;

		if (kind == VPROF_NODE_BODY)
			own += r->nodes[i].mean_ns;
		else if (kind != VPROF_NODE_PREEMPTED && kind != VPROF_NODE_QUEUED)
			measured += r->nodes[i].mean_ns;
	}
	return own > OFF_PATH * (own + measured) &&
	       say(detail, size, "measured functions ran for only %.0f %% of the interval's time",
		   100 * measured / (own + measured));
}

/* Is any of its time that of a call or a wait, not its own or the scheduler's? */
static int calls_something(const struct vprof_results *r, const struct vprof_node *f)
{
	for (uint32_t i = f->first_child; i < f->first_child + f->n_children; i++)
		if (r->nodes[i].kind != VPROF_NODE_BODY && r->nodes[i].kind != VPROF_NODE_PREEMPTED)
			return 1;
	return 0;
}

static int seen_no_wakes(const struct vprof_evidence *e, char *detail, size_t size)
{
	const struct vprof_results *r = e->results;
	uint64_t n = r ? r->n_waits : 0;
	double waited = 0;

	if (!r || !(r->mean_ns > 0))
		return 0;
	for (size_t i = 0; i < r->n_nodes; i++) {
		const struct vprof_node *f = &r->nodes[i];

		/* Blocked, and it calls nothing that could have blocked it. */
		if (f->kind == VPROF_NODE_FUNCTION && !f->is_blame && !calls_something(r, f) &&
		    f->blocked_ns > BLOCKED_MUCH * r->mean_ns && f->factor && f->factor <= r->n_factors &&
		    !r->factors[f->factor - 1].n_unmeasured)
			return say(detail, size,
				   "%s is blocked for %.0f %% of the interval, in no call or lock that vprof knows",
				   f->name, 100 * f->blocked_ns / r->mean_ns);
		if (f->kind == VPROF_NODE_WAIT && !f->is_blame && *f->object)
			waited += f->mean_ns;
	}
	if (n > 10 && 2 * r->n_waits_matched < n && waited > 0.05 * r->mean_ns)
		return say(detail, size, "of %llu waits for other threads %llu have a known waker", LLU(n),
			   LLU(r->n_waits_matched));
	return 0;
}

static int seen_stripped(const struct vprof_evidence *e, char *detail, size_t size)
{
	for (size_t i = 0; i < e->programs.n; i++)
		if (e->programs.items[i].is_stripped)
			return say(detail, size, "%s has no symbol table",
				   vprof_project_shown(e->programs.items[i].path));
	return 0;
}

static int seen_no_switches(const struct vprof_evidence *e, char *detail, size_t size)
{
	return e->results && *e->results->no_switches && say(detail, size, "%s", e->results->no_switches);
}

const struct vprof_symptom vprof_symptoms[] = {
	{ "localhost", "bear talks to itself through that name. Add the line \"127.0.0.1 localhost\" to /etc/hosts",
	  seen_localhost },
	{ "disk-full",
	  "Make room (vprof clean --traces keeps the reports), shorten the run, or record less: --compress on, "
	  "a smaller --k",
	  seen_disk_full },
	{ "nothing-compiled",
	  "vprof sees only what is compiled while it observes the build: make clean (ccache: CCACHE_DISABLE=1), then vprof "
	  "init -- YOUR BUILD COMMAND",
	  seen_nothing_compiled },
	{ "not-analysed",
	  "If the run command failed, its output is in run.log in that run's folder; if it succeeded: vprof analyze",
	  seen_not_analysed },
	{ "preload-refused",
	  "The loader then ignores LD_PRELOAD. For the measurement, remove the privileges (chmod ug-s FILE, setcap "
	  "-r FILE) after vprof build, and start the program as the user it needs",
	  seen_preload_refused },
	{ "nothing-recorded",
	  "Does the run command start the program that was built here, rather than an installed copy or one already "
	  "running? sudo, su and env -i drop LD_PRELOAD; a static program must be linked by the build command in "
	  "vprof.json",
	  seen_nothing_recorded },
	{ "no-interval",
	  "The code at begin and end never ran. Look in run.log whether the load reached the program; check the "
	  "functions with vprof annotations, and \"if\" conditions",
	  seen_no_interval },
	{ "all-cut",
	  "Begin and end must have the same id, and the end must run: compare both expressions, and look for returns "
	  "and exits that bypass the end's function. Killing a run cuts off the open intervals",
	  seen_all_cut },
	{ "few-intervals",
	  "Record a longer run or more load: hundreds of intervals give shares, thousands give narrow confidence intervals",
	  seen_few_intervals },
	{ "begun-again",
	  "The id is not unique among concurrent intervals, or an end is missing on some path: use an id that no two "
	  "concurrent requests share, such as the address of the connection or request",
	  seen_begun_again },
	{ "records-lost",
	  "Give the run more memory (--memory 1024), a faster disk for .vprof, or measure less: a smaller --k, no "
	  "--every-call, the default --budget",
	  seen_records_lost },
	{ "overhead",
	  "Treat the mean and the shares with care. Choose fewer factors per round (--k 1), \"exclude\" small "
	  "functions that are called often, drop --every-call, lower --budget; where recording explains little, the "
	  "load itself changed",
	  seen_overhead },
	{ "off-path",
	  "No root is on the interval's path. Name a function that runs between begin and end: \"roots\": "
	  "[\"function\"] in vprof.json, then vprof iterate --restart",
	  seen_off_path },
	{ "no-wakes",
	  "The program's own lock, or another library's: name its acquire and release functions under \"sync\" "
	  "in vprof.json, and queues under \"queues\" (docs/annotations.md)",
	  seen_no_wakes },
	{ "stripped",
	  "The drill-down cannot learn from sampled stacks where the interval runs. Link without -s and strip, or name "
	  "where to start: \"roots\": [\"function\"] in vprof.json",
	  seen_stripped },
	{ "no-switches",
	  "Preempted time is counted as running. Set sysctl kernel.perf_event_paranoid=1, or give --switches on if "
	  "only the switch rate prevented it; nothing else is affected",
	  seen_no_switches },
};

const size_t vprof_n_symptoms = sizeof vprof_symptoms / sizeof *vprof_symptoms;

/* In the table's order: causes before what follows from them. Returns how many were found, at most `max`. */
static size_t find_signs(const struct vprof_evidence *e, struct vprof_sign *signs, size_t max)
{
	size_t n = 0, first_empty = 0;

	for (size_t i = 0; i < vprof_n_symptoms && n < max; i++) {
		const struct vprof_symptom *s = &vprof_symptoms[i];

		*signs[n].detail = 0;
		/* A trace that holds nothing has one cause. */
		if (s->seen == seen_nothing_recorded && first_empty)
			continue;
		if (!s->seen(e, signs[n].detail, sizeof signs[n].detail))
			continue;
		signs[n].detail[strcspn(signs[n].detail, "\n")] = 0;
		first_empty |= s->seen == seen_preload_refused;
		signs[n++].symptom = s;
	}
	return n;
}

size_t vprof_symptoms_of_last_run(const struct vprof_project *p, struct vprof_sign *signs, size_t max)
{
	struct vprof_evidence e = { .project = p };
	struct vprof_results *results = NULL;
	struct vprof_error err = { "" };
	struct vprof_run_name run;
	size_t n;
	int rc;

	if (!vprof_project_find_run(p, NULL, "plan.json", "", &run, &err)) {
		char *path = vprof_project_run_path(p, run.s, "results.json");

		e.run = run.s;
		rc = path ? vprof_results_read(&results, path, &err) : VPROF_ERR_NOMEM;
		e.is_analysed = !rc;
		e.unread = rc == VPROF_ERR_MISSING ? "" : err.message;
		e.results = results;
		free(path);
	}
	vprof_programs_read(p, &e.programs);
	n = find_signs(&e, signs, max);
	vprof_programs_release(&e.programs);
	vprof_results_free(results);
	return n;
}

/* What says nothing about why a command failed. */
static int is_side_issue(const struct vprof_symptom *s)
{
	return s->seen == seen_stripped || s->seen == seen_no_switches || s->seen == seen_not_analysed;
}

size_t vprof_symptoms_tell(const struct vprof_project *p, const struct vprof_results *results,
			   enum vprof_error_reason reason)
{
	struct vprof_evidence e = { .project = p, .results = results, .reason = reason };
	struct vprof_sign signs[TOLD_MAX];
	size_t n, told = 0;

	if (!p->vprof_dir)
		return 0;
	vprof_programs_read(p, &e.programs);
	n = find_signs(&e, signs, TOLD_MAX);
	vprof_programs_release(&e.programs);
	for (size_t i = 0; i < n; i++) {
		if (is_side_issue(signs[i].symptom))
			continue;
		told++;
		vprof_tell("%s: %s. %s", signs[i].symptom->name, signs[i].detail, signs[i].symptom->advice);
	}
	return told;
}
