/* SPDX-License-Identifier: GPL-3.0-or-later */
/* speedscope's own format (https://www.speedscope.app/file-format-schema.json): two sampled profiles over one list of
 * frames. */
#define _GNU_SOURCE /* qsort_r */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "report/export/export.h"
#include "report/export/put_text.h"
#include "report/export/stacks.h"

/* nodes of the same name and place are one frame; bodies are none: what they weigh is their parent's */
struct frames {
	char **labels;	 /* [n_nodes] */
	uint32_t *order; /* [n_order] nodes by label, file, line */
	size_t n_order;
	uint32_t *frame; /* [n_nodes] */
	uint32_t n;
	const struct vprof_results *r;
};

static int frame_order(const void *a, const void *b, void *arg)
{
	const struct frames *f = arg;
	uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;
	const struct vprof_node *m = &f->r->nodes[x], *n = &f->r->nodes[y];
	int order = strcmp(f->labels[x], f->labels[y]);

	if (!order)
		order = strcmp(m->file ? m->file : "", n->file ? n->file : "");
	return order ? order : (m->line > n->line) - (m->line < n->line);
}

static void frames_release(struct frames *f)
{
	for (size_t i = 0; f->labels && i < f->r->n_nodes; i++)
		free(f->labels[i]);
	free(f->labels);
	free(f->order);
	free(f->frame);
}

static int frames_make(struct frames *f, const struct vprof_results *r)
{
	f->r = r;
	f->labels = calloc(r->n_nodes, sizeof *f->labels);
	f->order = calloc(r->n_nodes, sizeof *f->order);
	f->frame = calloc(r->n_nodes, sizeof *f->frame);
	if (!f->labels || !f->order || !f->frame)
		return VPROF_ERR_NOMEM;
	for (uint32_t i = 0; i < r->n_nodes; i++) {
		if (r->nodes[i].kind != VPROF_NODE_BODY)
			f->order[f->n_order++] = i;
		f->labels[i] = vprof_stacks_label(r, i);
		if (!f->labels[i])
			return VPROF_ERR_NOMEM;
	}
	qsort_r(f->order, f->n_order, sizeof *f->order, frame_order, f);
	for (size_t i = 0; i < f->n_order; i++) {
		if (!i || frame_order(&f->order[i - 1], &f->order[i], f))
			f->n++;
		f->frame[f->order[i]] = f->n - 1;
	}
	return 0;
}

static void put_frames(FILE *to, const struct frames *f)
{
	for (size_t i = 0; i < f->n_order; i++) {
		const struct vprof_node *n = &f->r->nodes[f->order[i]];

		if (i && f->frame[f->order[i]] == f->frame[f->order[i - 1]])
			continue;
		fputs("{\"name\":", to);
		vprof_put_json(to, f->labels[f->order[i]]);
		if (n->file && *n->file) {
			fputs(",\"file\":", to);
			vprof_put_json(to, n->file);
		}
		if (n->line > 0)
			fprintf(to, ",\"line\":%d", n->line);
		fputs("},\n", to);
	}
	fputs("{\"name\":\"" VPROF_TOGETHER "\"}", to);
}

static void put_profile(FILE *to, const char *name, const char *unit, const struct vprof_stacks *s,
			const struct frames *f, uint32_t *path)
{
	fprintf(to,
		"{\"type\":\"sampled\",\"name\":\"%s\",\"unit\":\"%s\",\"startValue\":0,\"endValue\":%" PRIu64
		",\n\"samples\":[",
		name, unit, s->total);
	for (size_t i = 0; i < s->v.n; i++) {
		const struct vprof_weighed *w = &s->v.v[i];
		size_t n = 0;

		for (uint32_t node = w->node; node; node = f->r->nodes[node].parent)
			path[n++] = f->frame[node];
		fprintf(to, "%s[%" PRIu32, i ? "," : "", f->frame[0]);
		while (n--)
			fprintf(to, ",%" PRIu32, path[n]);
		if (w->is_together)
			fprintf(to, ",%" PRIu32, f->n);
		putc(']', to);
	}
	fputs("],\n\"weights\":[", to);
	for (size_t i = 0; i < s->v.n; i++)
		fprintf(to, "%s%" PRIu64, i ? "," : "", s->v.v[i].weight);
	fputs("]}", to);
}

int vprof_export_speedscope(struct vprof_export *e, struct vprof_error *err)
{
	const struct vprof_results *r = e->results;
	uint32_t *path = calloc(r->n_nodes + 1, sizeof *path);
	struct vprof_stacks time = { 0 }, variance = { 0 };
	struct frames f = { 0 };
	int ret = path ? frames_make(&f, r) : VPROF_ERR_NOMEM;

	if (!ret)
		ret = vprof_stacks_of_time(&time, r);
	if (!ret)
		ret = vprof_stacks_of_variance(&variance, r);
	if (!ret) {
		fputs("{\"$schema\":\"https://www.speedscope.app/file-format-schema.json\",\n\"name\":", e->to);
		vprof_put_json(e->to, r->interval);
		fputs(",\n\"exporter\":\"vprof@", e->to);
		vprof_put_plain(e->to, e->version, "\"\\", '?');
		fputs("\",\n\"activeProfileIndex\":0,\n\"shared\":{\"frames\":[\n", e->to);
		put_frames(e->to, &f);
		fputs("]},\n\"profiles\":[\n", e->to);
		put_profile(e->to, "time", "nanoseconds", &time, &f, path);
		fputs(",\n", e->to);
		put_profile(e->to, "variance, in millionths", "none", &variance, &f, path);
		fputs("]}\n", e->to);
	}
	frames_release(&f);
	vprof_stacks_release(&time);
	vprof_stacks_release(&variance);
	free(path);
	return ret ? vprof_error_set(err, ret, "not enough memory for the stacks of %zu nodes", r->n_nodes) : 0;
}
