/* SPDX-License-Identifier: GPL-3.0-or-later */
/* CSV as RFC 4180 has it: a header row, CRLF. An empty field is what is not known. */
#include <inttypes.h>
#include <math.h>

#include "analysis/results/results_json.h"
#include "report/export/export.h"
#include "report/export/put_text.h"

static void row_end(FILE *to)
{
	fputs("\r\n", to);
}

static void text(FILE *to, const char *s)
{
	putc(',', to);
	vprof_put_csv(to, s);
}

static void number(FILE *to, double x)
{
	putc(',', to);
	vprof_put_csv_number(to, x);
}

static void count(FILE *to, uint64_t n)
{
	fprintf(to, ",%" PRIu64, n);
}

static const struct vprof_node *place_of(const struct vprof_results *r, const struct vprof_factor *f)
{
	if (!f->n_nodes)
		return NULL;
	return &r->nodes[f->kind == VPROF_FACTOR_VARIANCE ? f->nodes[0] : r->covariances[f->nodes[0]].a];
}

int vprof_export_csv_factors(struct vprof_export *e, struct vprof_error *err)
{
	const struct vprof_results *r = e->results;
	FILE *to = e->to;

	(void)err;
	fputs("rank,kind,key,name,share,share_low,share_high,mean_ns,sd_ns,r,score,specificity,height,selected,places,file,line,"
	      "blocked_share,kernel_share,io_share,preempted_share,between_share,work_share,probe_ns,calls,timed_calls,"
	      "can_break_down,verdict,note",
	      to);
	row_end(to);
	for (size_t i = 0; i < r->n_factors; i++) {
		const struct vprof_factor *f = &r->factors[i];
		const struct vprof_node *place = place_of(r, f);

		fprintf(to, "%zu,%s", i + 1, vprof_factor_kind_names[f->kind]);
		text(to, f->key);
		text(to, f->name);
		number(to, f->share);
		number(to, f->share_low);
		number(to, f->share_high);
		number(to, f->mean_ns);
		number(to, f->sd_ns);
		number(to, f->kind == VPROF_FACTOR_COVARIANCE ? f->r : NAN);
		number(to, f->score);
		number(to, f->specificity);
		count(to, f->height);
		count(to, i < r->n_selected);
		count(to, f->n_nodes);
		text(to, place ? place->file : "");
		number(to, place && place->line > 0 ? place->line : NAN);
		number(to, f->blocked_share);
		number(to, f->kernel_share);
		number(to, f->io_share);
		number(to, f->preempted_share);
		number(to, f->between_share);
		number(to, f->work_share);
		number(to, f->probe_ns);
		count(to, f->n_calls);
		count(to, f->n_timed);
		count(to, f->can_break_down != 0);
		text(to, vprof_verdict_names[f->verdict]);
		text(to, f->note);
		row_end(to);
	}
	return 0;
}

int vprof_export_csv_nodes(struct vprof_export *e, struct vprof_error *err)
{
	const struct vprof_results *r = e->results;
	FILE *to = e->to;

	(void)err;
	fputs("node,parent,depth,kind,name,display,file,line,blame,broken_down,intervals,calls,timed_calls,mean_ns,var_ns2,share,"
	      "blocked_ns,kernel_ns,io_ns,preempted_ns,tail_ns,rest_ns,probe_ns,object",
	      to);
	row_end(to);
	for (size_t i = 0; i < r->n_nodes; i++) {
		const struct vprof_node *n = &r->nodes[i];

		fprintf(to, "%zu", i);
		number(to, i ? n->parent : NAN);
		count(to, n->depth);
		text(to, vprof_node_kind_names[n->kind]);
		text(to, n->name);
		text(to, n->display);
		text(to, n->file);
		number(to, n->line > 0 ? n->line : NAN);
		count(to, n->is_blame != 0);
		count(to, n->broken_down != 0);
		count(to, n->n_intervals);
		count(to, n->n_calls);
		count(to, n->n_timed);
		number(to, n->mean_ns);
		number(to, n->var_ns2);
		number(to, n->share);
		number(to, n->blocked_ns);
		number(to, n->kernel_ns);
		number(to, n->io_ns);
		number(to, n->preempted_ns);
		number(to, n->tail_ns);
		number(to, n->rest_ns);
		number(to, n->probe_ns);
		text(to, n->object);
		row_end(to);
	}
	return 0;
}

int vprof_export_csv_intervals(struct vprof_export *e, struct vprof_error *err)
{
	static const char *const states[] = { "cut", "complete", "restarted" };
	const struct vprof_trace_part *part = e->part;
	const struct vprof_thread_timeline *lines = part->timeline->threads;
	FILE *to = e->to;

	(void)err;
	fputs("interval,id,type,begin_ns,begin_unix_ns,latency_ns,state,analysed,ambiguous,records_lost,pid,begin_tid,end_tid",
	      to);
	row_end(to);
	for (size_t i = 0; i < part->instances.n; i++) {
		const uint32_t at = part->instances.v[i];
		const struct vprof_instance *x = &part->intervals->instances.v[at];
		int is_over = x->state == VPROF_INSTANCE_COMPLETE;
		struct vprof_part_name name;

		vprof_put_csv(to, vprof_part_interval_name(part, x));
		count(to, x->id);
		text(to, vprof_part_type(part, x, &name));
		count(to, vprof_part_ns(part, x->begin));
		count(to, vprof_part_unix_ns(part, x->begin));
		if (is_over)
			count(to, vprof_part_ns(part, x->end) - vprof_part_ns(part, x->begin));
		else
			putc(',', to);
		text(to, states[x->state]);
		count(to, part->is_analysed[at]);
		count(to, x->ambiguous);
		count(to, x->is_lossy);
		count(to, lines[x->begin_thread].pid);
		count(to, lines[x->begin_thread].tid);
		if (is_over)
			count(to, lines[x->end_thread].tid);
		else
			putc(',', to);
		row_end(to);
	}
	return 0;
}
