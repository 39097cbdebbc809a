/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Decisions of a person while a round is recorded are those of its end (ask.h), with the same effect: the session
 * changes, and the plan is made from it. */
#include "cli/drilldown/live_requests.h"

#include <dirent.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cli/drilldown/ask.h"
#include "cli/drilldown/close.h"
#include "cli/drilldown/steps.h"
#include "common/files.h"
#include "report/format_value.h"

#define NAME_COLUMNS 48

struct request {
	const struct vprof_live_requested *to;
	struct vprof_results *results; /* of the round's last look; NULL: none yet */
	struct vprof_text *answer;
};

static int refuse(const struct request *q, const char *why)
{
	vprof_text_add(q->answer, why);
	return VPROF_LIVE_REQUEST_REFUSED;
}

/* The factors that a key stands for: a cause's, or one. Returns how many. */
static size_t factors_of(const struct vprof_results *r, const char *key, const uint32_t **list, uint32_t *one)
{
	for (size_t i = 0; r && i < r->n_causes; i++)
		if (!strcmp(r->causes[i].key, key)) {
			*list = r->causes[i].factors;
			return r->causes[i].n_factors;
		}
	for (size_t i = 0; r && i < r->n_factors; i++)
		if (!strcmp(r->factors[i].key, key)) {
			*one = (uint32_t)i;
			*list = one;
			return 1;
		}
	return 0;
}

/* The cause may be gone since the look that the person saw; the function that it was of is there. */
static const char *function_of(const char *key)
{
	return strncmp(key, "v:", 2) ? "" : key + 2;
}

static int is_open(const struct request *q, const char *name)
{
	for (size_t i = 0; i < q->to->plan->n_probes; i++)
		if (q->to->plan->probes[i].mask && !strcmp(q->to->plan->probes[i].display, name))
			return 1;
	return 0;
}

static int refuse_unknown(const struct request *q)
{
	return refuse(q, q->results ? "it is not among the causes any more" :
				      "nothing was looked at yet under this plan; ask again in a few seconds");
}

/* What the open plan was asked to be; MISSING: there is none. */
static int read_asked(const struct request *q, struct vprof_plan **asked, struct vprof_error *err)
{
	char *path = vprof_step_plan_asked(&q->to->workspace->project, q->to->run);
	int rc = path ? vprof_plan_read(asked, path, err) : vprof_error_no_memory(err);

	free(path);
	return rc;
}

/* Something was changed in the session; is its plan another one than that which is open? The answer counts. */
static int finish(const struct request *q, const char *what, const char *name)
{
	const struct vprof_live_requested *to = q->to;
	struct vprof_decisions decisions = vprof_session_decisions(to->session);
	struct vprof_error err = { "" };
	struct vprof_plan *next = NULL, *asked = NULL;
	int rc = vprof_step_plan(to->workspace, &decisions, &next, &err), n_opened = 0, n_closed = 0, n_changed = 0;

	if (!rc)
		rc = read_asked(q, &asked, &err);
	if (!rc)
		rc = vprof_session_save(to->session, to->workspace->project.session, &err);
	for (size_t i = 0; !rc && i < next->n_probes; i++) {
		const struct vprof_probe *was = vprof_plan_probe(asked, next->probes[i].code);
		uint64_t before = was ? was->mask : 0, now = next->probes[i].mask;

		n_opened += now && !before;
		n_changed += now != before || (was && was->every_call != next->probes[i].every_call);
	}
	for (size_t i = 0; !rc && i < asked->n_probes; i++) {
		const struct vprof_probe *is = vprof_plan_probe(next, asked->probes[i].code);

		n_closed += asked->probes[i].mask && !(is && is->mask);
	}
	vprof_plan_free(next);
	vprof_plan_free(asked);
	if (rc == VPROF_ERR_NOMEM)
		return rc;
	if (rc)
		return refuse(q, err.message);
	vprof_format_cut(q->answer, name, NAME_COLUMNS, 1, 0);
	vprof_text_addf(q->answer, " %s", what);
	if (n_opened)
		vprof_text_addf(q->answer, ": %d more opened", n_opened);
	if (n_closed)
		vprof_text_addf(q->answer, "%s %d closed", n_opened ? "," : ":", n_closed);
	if (n_opened || n_closed || n_changed)
		return VPROF_LIVE_REQUEST_REPLAN;
	vprof_text_add(q->answer, ": nothing else is measured by that");
	return VPROF_LIVE_REQUEST_REFUSED;
}

static int break_down_function(const struct request *q, const char *name)
{
	const struct vprof_plan *plan = q->to->plan;
	int n = 0, n_known = 0;

	for (size_t i = 0; i < plan->n_probes; i++) {
		const struct vprof_probe *probe = &plan->probes[i];
		int added;

		if (!probe->mask || strcmp(probe->display, name))
			continue;
		n_known++;
		if (!probe->n_children)
			continue;
		added = vprof_name_list_add(&q->to->session->broken_down, probe->name, probe->file, probe->caller);
		if (added < 0)
			return added;
		n += added;
	}
	if (n)
		return finish(q, "is broken down", name);
	return refuse(q, n_known ? "it is broken down already, or nothing beneath it can be measured" :
				   "it is not open any more");
}

static int break_down_cause(const struct request *q, const char *key)
{
	const struct vprof_ask ask = { .workspace = q->to->workspace,
				       .session = q->to->session,
				       .results = q->results,
				       .plan = q->to->plan,
				       .automatic = 1,
				       .is_brief = 1 };
	const uint32_t *list = NULL;
	uint32_t one;
	size_t n = factors_of(q->results, key, &list, &one);

	if (!n && is_open(q, function_of(key)))
		return break_down_function(q, function_of(key));
	if (!n)
		return refuse_unknown(q);
	for (size_t i = 0; i < n; i++) {
		int added = vprof_ask_break_down(&ask, &q->results->factors[list[i]]);

		if (added < 0)
			return added;
		if (added)
			return finish(q, "is broken down", q->results->factors[list[i]].name);
	}
	return refuse(q, "it is broken down already, or nothing beneath it can be measured");
}

static void forget_keep_open(struct vprof_session *s, const struct vprof_probe *probe)
{
	for (size_t i = s->keep_open.n; i-- > 0;) {
		const struct vprof_name *at = &s->keep_open.items[i];

		if (!strcmp(at->name, probe->name) || !strcmp(at->name, probe->display))
			vprof_name_list_remove(&s->keep_open, i);
	}
}

/* 1: closed; 0: it is where the drill-down begins. */
static int close_probe(const struct request *q, const struct vprof_probe *probe)
{
	struct vprof_session *s = q->to->session;

	if (vprof_name_list_has(&s->roots, probe->name, probe->file, probe->caller) &&
	    vprof_name_list_has(&s->broken_down, probe->name, probe->file, probe->caller))
		return 0;
	forget_keep_open(s, probe);
	return vprof_close_one(q->results, q->to->plan, s, probe) ? VPROF_ERR_NOMEM : 1;
}

static const char *const is_where_it_begins = "the drill-down begins there: it stays open";

static int close_function(const struct request *q, const char *name)
{
	const struct vprof_plan *plan = q->to->plan;
	int n_closed = 0, n_known = 0;

	for (size_t i = 0; i < plan->n_probes; i++) {
		int closed;

		if (!plan->probes[i].mask || strcmp(plan->probes[i].display, name))
			continue;
		n_known++;
		closed = close_probe(q, &plan->probes[i]);
		if (closed < 0)
			return closed;
		n_closed += closed;
	}
	if (n_closed)
		return finish(q, "is not measured from now on", name);
	return refuse(q, n_known ? is_where_it_begins : "it is not open any more");
}

static int close_cause(const struct request *q, const char *key)
{
	const struct vprof_results *r = q->results;
	const struct vprof_probe *last = NULL;
	const uint32_t *list = NULL;
	uint32_t one;
	size_t n = factors_of(r, key, &list, &one);
	int n_closed = 0, n_roots = 0;

	if (!n && is_open(q, function_of(key)))
		return close_function(q, function_of(key));
	if (!n)
		return refuse_unknown(q);
	for (size_t i = 0; i < n; i++) {
		const struct vprof_factor *f = &r->factors[list[i]];

		for (size_t k = 0; f->kind == VPROF_FACTOR_VARIANCE && k < f->n_nodes; k++) {
			const struct vprof_node *node = &r->nodes[f->nodes[k]];
			const struct vprof_probe *probe =
				vprof_node_kind_is_code(node->kind) ? vprof_plan_probe(q->to->plan, node->code) : NULL;
			int closed = probe && probe != last && probe->mask ? close_probe(q, probe) : 0;

			if (closed < 0)
				return closed;
			n_roots += probe && probe != last && !closed;
			n_closed += closed;
			last = probe ? probe : last;
		}
	}
	if (n_closed)
		return finish(q, "is not measured from now on", r->factors[list[0]].name);
	return refuse(q, n_roots ? is_where_it_begins :
				   "only functions and calls can be closed: choose one of the open functions (Tab)");
}

static int open_function(const struct request *q, const char *name)
{
	int n = vprof_close_keep_open(q->to->session, name);

	if (n < 0)
		return n;
	return n ? finish(q, "is measured again", name) : refuse(q, "it is not closed any more");
}

static const struct {
	const char *word;
	int (*apply)(const struct request *q, const char *name);
} changes[] = {
	{ "break-down cause ", break_down_cause }, { "break-down function ", break_down_function },
	{ "close cause ", close_cause },	   { "close function ", close_function },
	{ "open function ", open_function },
};

static int change(struct request *q, const char *text)
{
	const struct vprof_live_requested *to = q->to;

	for (size_t i = 0; i < sizeof changes / sizeof *changes; i++) {
		size_t n = strlen(changes[i].word);
		char *path;
		int rc;

		if (strncmp(text, changes[i].word, n))
			continue;
		if (to->session->n_rounds < 2)
			return refuse(q, "the first round measures annotations only: ask again in the next");
		path = vprof_project_run_path(&to->workspace->project, to->run, "results.json");
		if (!path)
			return VPROF_ERR_NOMEM;
		if (access(path, R_OK) || vprof_results_read(&q->results, path, NULL))
			q->results = NULL;
		free(path);
		rc = changes[i].apply(q, text + n);
		vprof_results_free(q->results);
		return rc;
	}
	return refuse(q, "this vprof does not know that request; use the vprof top of its version");
}

int vprof_live_request_apply(const struct vprof_live_requested *to, const char *text, struct vprof_text *answer)
{
	struct request q = { .to = to, .answer = answer };

	if (!strcmp(text, "hold"))
		return VPROF_LIVE_REQUEST_HOLD;
	if (!strcmp(text, "release"))
		return VPROF_LIVE_REQUEST_RELEASE;
	if (!strcmp(text, "save"))
		return VPROF_LIVE_REQUEST_SAVE;
	return change(&q, text);
}

/* The trace grows meanwhile: what is there is copied, up to a record that may be cut, as a look reads it. */
static int copy_trace(const char *from, const char *to, struct vprof_error *err)
{
	DIR *folder = opendir(from);
	struct dirent *e;
	int rc = vprof_dir_make(to, err);

	if (!folder)
		return vprof_error_set(err, VPROF_ERR_MISSING, "nothing is recorded yet");
	while (!rc && (e = readdir(folder))) {
		char *a = vprof_path_join(from, e->d_name), *b = vprof_path_join(to, e->d_name);

		if (!a || !b)
			rc = vprof_error_no_memory(err);
		else if (e->d_name[0] != '.')
			rc = vprof_file_copy(a, b, err);
		free(a);
		free(b);
	}
	closedir(folder);
	return rc;
}

static int copy_run(const struct vprof_project *p, const char *from, const char *to, struct vprof_error *err)
{
	static const char *const files[] = { "plan.json", "plan-asked.json" };
	char *a = vprof_project_run_path(p, from, "trace"), *b = vprof_project_run_path(p, to, "trace");
	int rc = a && b ? copy_trace(a, b, err) : vprof_error_no_memory(err);

	free(a);
	free(b);
	for (size_t i = 0; !rc && i < sizeof files / sizeof *files; i++) {
		a = vprof_project_run_path(p, from, files[i]);
		b = vprof_project_run_path(p, to, files[i]);
		rc = a && b ? vprof_file_copy(a, b, err) : vprof_error_no_memory(err);
		free(a);
		free(b);
	}
	return rc;
}

int vprof_live_request_save(const struct vprof_live_requested *to, struct vprof_run_name *saved,
			    struct vprof_error *err)
{
	const struct vprof_project *p = &to->workspace->project;
	struct vprof_results *results = NULL;
	char *folder = NULL;
	int rc = vprof_project_new_run(p, saved, err);

	if (rc)
		return rc;
	rc = copy_run(p, to->run, saved->s, err);
	if (!rc)
		rc = vprof_step_analyse(p, saved->s, to->session, NULL, &results, NULL, err);
	vprof_results_free(results);
	if (rc) { /* a part of it is of no use */
		folder = vprof_project_run_path(p, saved->s, "");
		if (folder)
			vprof_dir_remove(folder, NULL);
		free(folder);
	}
	return rc;
}
