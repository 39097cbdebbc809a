/* SPDX-License-Identifier: GPL-3.0-or-later */
/* SARIF 2.1.0 (OASIS): each factor above the threshold is a result at the line of its heaviest place. Factors that were
 * judged inherent or to be ignored are suppressed results, with the note as the reason.
 */
#include <math.h>
#include <string.h>

#include "common/text.h"
#include "report/export/export.h"
#include "report/export/put_text.h"

#define N_RELATED 8 /* further places of a factor */

static const char *const rules[] = {
	"{\"id\":\"VPROF001\",\"name\":\"LatencyVariance\",\"shortDescription\":{\"text\":\"The time that this code takes makes the latency vary\"},"
	"\"fullDescription\":{\"text\":\"The function, call or wait takes a different time in each interval, and that accounts for "
	"this share of the variance of the interval's latency.\"},\"defaultConfiguration\":{\"level\":\"warning\"},"
	"\"properties\":{\"tags\":[\"performance\",\"latency\"]}}",
	"{\"id\":\"VPROF002\",\"name\":\"LatencyCovariance\",\"shortDescription\":{\"text\":\"The times of two pieces of code move together\"},"
	"\"fullDescription\":{\"text\":\"When one of the two takes long, the other does as well, and that accounts for this share of the variance "
	"of the interval's latency: look for what both depend on.\"},\"defaultConfiguration\":{\"level\":\"warning\"},"
	"\"properties\":{\"tags\":[\"performance\",\"latency\"]}}",
};

/* Relative to the project's folder, or absolute. */
static void put_artifact(FILE *to, const char *file)
{
	fputs("{\"uri\":\"", to);
	if (*file == '/')
		fputs("file://", to);
	vprof_put_uri_path(to, file);
	fputs(*file == '/' ? "\"}" : "\",\"uriBaseId\":\"SRCROOT\"}", to);
}

static int has_place(const struct vprof_node *n)
{
	return n->file && *n->file;
}

static void put_place(FILE *to, const struct vprof_node *n)
{
	fputs("\"physicalLocation\":{\"artifactLocation\":", to);
	put_artifact(to, n->file);
	if (n->line > 0)
		fprintf(to, ",\"region\":{\"startLine\":%d}", n->line);
	fputs("},\"logicalLocations\":[{\"name\":", to);
	vprof_put_json(to, n->display && *n->display ? n->display : n->name);
	fputs(",\"kind\":\"function\"}]", to);
}

/* The nearest place in the sources around a wait, a body or a queue delay. */
static const struct vprof_node *around(const struct vprof_results *r, const struct vprof_node *n)
{
	while (!has_place(n) && n != r->nodes)
		n = &r->nodes[n->parent];
	return has_place(n) ? n : NULL;
}

/* The places of a factor: that of its heaviest node or pair first, which is the result's own. */
static size_t places_of(const struct vprof_results *r, const struct vprof_factor *f, const struct vprof_node **places)
{
	int is_pair = f->kind == VPROF_FACTOR_COVARIANCE;
	size_t n = 0, heaviest = 0;

	for (size_t i = 1; i < f->n_nodes; i++)
		if (is_pair ? r->covariances[f->nodes[i]].share > r->covariances[f->nodes[heaviest]].share :
			      r->nodes[f->nodes[i]].share > r->nodes[f->nodes[heaviest]].share)
			heaviest = i;
	for (size_t i = 0; i < f->n_nodes; i++) {
		uint32_t index = f->nodes[i == 0 ? heaviest : i == heaviest ? 0 : i];
		uint32_t both[2] = { is_pair ? r->covariances[index].a : index, is_pair ? r->covariances[index].b : 0 };

		for (int k = 0; k <= is_pair && n < N_RELATED; k++) {
			const struct vprof_node *place = around(r, &r->nodes[both[k]]);

			if (place)
				places[n++] = place;
		}
	}
	return n;
}

static void put_message(FILE *to, const struct vprof_results *r, const struct vprof_factor *f)
{
	struct vprof_text t = VPROF_TEXT_INIT, doubled = VPROF_TEXT_INIT;

	if (f->kind == VPROF_FACTOR_COVARIANCE)
		vprof_text_addf(&t, "%s and %s move together", f->name_a, f->name_b);
	else
		vprof_text_add(&t, f->name);
	vprof_text_addf(&t, ": %.1f %% of the variance of \"%s\"", 100 * f->share, r->interval ? r->interval : "");
	if (isfinite(f->share_low) && isfinite(f->share_high))
		vprof_text_addf(&t, " (95 %% confidence interval %.1f to %.1f %%)", 100 * f->share_low,
				100 * f->share_high);
	vprof_text_addf(&t, "; mean %.6g us, standard deviation %.6g us in an interval", f->mean_ns / 1e3,
			f->sd_ns / 1e3);
	if (f->blocked_share >= 0.005)
		vprof_text_addf(&t, ", blocked %.0f %% of its time", 100 * f->blocked_share);
	if (f->kernel_share >= 0.005)
		vprof_text_addf(&t, ", in the kernel %.0f %%", 100 * f->kernel_share);
	if (f->io_share >= 0.005)
		vprof_text_addf(&t, ", in I/O (blocked or in the kernel) %.0f %%", 100 * f->io_share);
	vprof_text_add(&t, ".");
	/* Braces are doubled: single ones are placeholders. */
	for (size_t i = 0; i < t.len; i++) {
		vprof_text_append(&doubled, t.s + i, 1);
		if (t.s[i] == '{' || t.s[i] == '}')
			vprof_text_append(&doubled, t.s + i, 1);
	}
	vprof_put_json(to, doubled.s);
	vprof_text_release(&t);
	vprof_text_release(&doubled);
}

static void put_suppression(FILE *to, const struct vprof_factor *f)
{
	if (f->verdict != VPROF_VERDICT_INHERENT && f->verdict != VPROF_VERDICT_IGNORE)
		return;
	fputs(",\"suppressions\":[{\"kind\":\"external\",\"status\":\"accepted\",\"justification\":", to);
	vprof_put_json(to, f->note && *f->note ? f->note : vprof_verdict_names[f->verdict]);
	fputs("}]", to);
}

static void put_figures(FILE *to, const struct vprof_factor *f, size_t rank)
{
	const struct {
		const char *name;
		double x;
	} figures[] = { { "share", f->share },
			{ "shareLow", f->share_low },
			{ "shareHigh", f->share_high },
			{ "meanNs", f->mean_ns },
			{ "sdNs", f->sd_ns },
			{ "score", f->score },
			{ "blockedShare", f->blocked_share },
			{ "kernelShare", f->kernel_share },
			{ "ioShare", f->io_share } };

	fprintf(to, ",\"properties\":{\"rankOfFactor\":%zu", rank);
	for (size_t i = 0; i < sizeof figures / sizeof *figures; i++)
		if (isfinite(figures[i].x)) {
			fprintf(to, ",\"%s\":", figures[i].name);
			vprof_put_json_number(to, figures[i].x);
		}
	fputs(",\"verdict\":", to);
	vprof_put_json(to, vprof_verdict_names[f->verdict]);
	putc('}', to);
}

static void put_result(FILE *to, const struct vprof_results *r, size_t index)
{
	const struct vprof_factor *f = &r->factors[index];
	const struct vprof_node *places[N_RELATED];
	size_t n = places_of(r, f, places);
	double share = 100 * f->share;
	int rule = f->kind == VPROF_FACTOR_COVARIANCE;

	fprintf(to, "{\"ruleId\":\"VPROF00%d\",\"ruleIndex\":%d,\"kind\":\"fail\",\"level\":\"%s\",\"rank\":", rule + 1,
		rule, index < r->n_selected ? "warning" : "note");
	vprof_put_json_number(to, share < 0 || !isfinite(share) ? 0 : share > 100 ? 100 : share);
	fputs(",\"message\":{\"text\":", to);
	put_message(to, r, f);
	fputs("},\"locations\":[", to);
	if (n) {
		putc('{', to);
		put_place(to, places[0]);
		putc('}', to);
	}
	putc(']', to);
	for (size_t i = 1; i < n; i++) {
		fprintf(to, "%s{\"id\":%zu,", i == 1 ? ",\"relatedLocations\":[" : ",", i);
		put_place(to, places[i]);
		putc('}', to);
	}
	fputs(n > 1 ? "],\"partialFingerprints\":{\"vprofFactor/v1\":" :
		      ",\"partialFingerprints\":{\"vprofFactor/v1\":",
	      to);
	vprof_put_json(to, f->key);
	putc('}', to);
	put_suppression(to, f);
	put_figures(to, f, index + 1);
	putc('}', to);
}

int vprof_export_sarif(struct vprof_export *e, struct vprof_error *err)
{
	const struct vprof_results *r = e->results;
	FILE *to = e->to;
	int n = 0;

	(void)err;
	fputs("{\"$schema\":\"https://json.schemastore.org/sarif-2.1.0.json\",\"version\":\"2.1.0\",\n\"runs\":[{\"tool\":{\"driver\":"
	      "{\"name\":\"vprof\",\"semanticVersion\":",
	      to);
	vprof_put_json(to, e->version);
	fprintf(to, ",\"rules\":[\n%s,\n%s]}},\n\"columnKind\":\"unicodeCodePoints\"", rules[0], rules[1]);
	if (e->root && *e->root == '/') {
		fputs(",\"originalUriBaseIds\":{\"SRCROOT\":{\"uri\":\"file://", to);
		vprof_put_uri_path(to, e->root);
		fputs(e->root[strlen(e->root) - 1] == '/' ? "\"}}" : "/\"}}", to);
	}
	fputs(",\n\"results\":[", to);
	for (size_t i = 0; i < r->n_factors; i++) {
		if (i >= r->n_selected && !(r->factors[i].share >= r->threshold))
			continue;
		fputs(n++ ? ",\n" : "\n", to);
		put_result(to, r, i);
	}
	fputs("]}]}\n", to);
	return 0;
}
