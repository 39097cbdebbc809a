/* SPDX-License-Identifier: GPL-3.0-or-later */
/* SARIF 2.1.0 (OASIS): each cause is a result at the line of the function where it ends, with the way there as related
 * locations; so is each factor above the threshold that folds into no cause, at the line of its heaviest place. What
 * was judged inherent or to be ignored is a suppressed result, with the note as the reason.
 */
#include <math.h>
#include <string.h>

#include "analysis/results/results_json.h"
#include "common/text.h"
#include "report/export/export.h"
#include "report/export/put_text.h"
#include "report/report.h"

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
	"{\"id\":\"VPROF003\",\"name\":\"LatencyCause\",\"shortDescription\":{\"text\":\"A chain of waits and work that makes the latency vary\"},"
	"\"fullDescription\":{\"text\":\"Intervals take a different time because of this code, or because they wait for a thread that "
	"runs it. If it always took its mean, the variance of the interval's latency would fall by the figure given.\"},"
	"\"defaultConfiguration\":{\"level\":\"warning\"},\"properties\":{\"tags\":[\"performance\",\"latency\"]}}",
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

/* With braces doubled: single ones are placeholders. */
static void put_doubled(FILE *to, const struct vprof_text *t)
{
	struct vprof_text doubled = VPROF_TEXT_INIT;

	for (size_t i = 0; i < t->len; i++) {
		vprof_text_append(&doubled, t->s + i, 1);
		if (t->s[i] == '{' || t->s[i] == '}')
			vprof_text_append(&doubled, t->s + i, 1);
	}
	vprof_put_json(to, doubled.s ? doubled.s : "");
	vprof_text_release(&doubled);
}

static void add_constant(struct vprof_text *t, const char *before, double x, double low, double high)
{
	if (isfinite(x))
		vprof_text_addf(t, "%sif constant: %+.1f %%", before, -100 * x);
	if (isfinite(x) && isfinite(low) && isfinite(high))
		vprof_text_addf(t, " (%.1f to %.1f %%)", -100 * high, -100 * low);
}

static void put_message(FILE *to, const struct vprof_results *r, const struct vprof_factor *f)
{
	struct vprof_text t = VPROF_TEXT_INIT;

	if (f->kind == VPROF_FACTOR_COVARIANCE)
		vprof_text_addf(&t, "%s and %s move together", f->name_a, f->name_b);
	else
		vprof_text_add(&t, f->name);
	vprof_text_addf(&t, ": %.1f %% of the variance of \"%s\"", 100 * f->share, r->interval ? r->interval : "");
	if (isfinite(f->share_low) && isfinite(f->share_high))
		vprof_text_addf(&t, " (95 %% confidence interval %.1f to %.1f %%)", 100 * f->share_low,
				100 * f->share_high);
	add_constant(&t, "; ", f->if_constant, f->if_constant_low, f->if_constant_high);
	if (f->counterpart && isfinite(f->together)) {
		vprof_text_addf(&t, "; own and beneath waits %.1f %%", 100 * f->together);
		if (isfinite(f->together_low) && isfinite(f->together_high))
			vprof_text_addf(&t, " (%.1f to %.1f %%)", 100 * f->together_low, 100 * f->together_high);
		add_constant(&t, ", ", f->together_constant, f->together_constant_low, f->together_constant_high);
	}
	vprof_text_addf(&t, "; mean %.6g us, standard deviation %.6g us in an interval", f->mean_ns / 1e3,
			f->sd_ns / 1e3);
	if (f->blocked_share >= 0.005)
		vprof_text_addf(&t, ", blocked %.0f %% of its time", 100 * f->blocked_share);
	if (f->kernel_share >= 0.005)
		vprof_text_addf(&t, ", in the kernel %.0f %%", 100 * f->kernel_share);
	if (f->io_share >= 0.005)
		vprof_text_addf(&t, ", in I/O (blocked or in the kernel) %.0f %%", 100 * f->io_share);
	vprof_text_add(&t, ".");
	put_doubled(to, &t);
	vprof_text_release(&t);
}

static void put_suppression(FILE *to, enum vprof_verdict verdict, const char *note)
{
	if (verdict != VPROF_VERDICT_INHERENT && verdict != VPROF_VERDICT_IGNORE)
		return;
	fputs(",\"suppressions\":[{\"kind\":\"external\",\"status\":\"accepted\",\"justification\":", to);
	vprof_put_json(to, note && *note ? note : vprof_verdict_names[verdict]);
	fputs("}]", to);
}

struct figure {
	const char *name;
	double x;
};

static void put_figures(FILE *to, const struct figure *figures, size_t n, enum vprof_verdict verdict)
{
	for (size_t i = 0; i < n; i++)
		if (isfinite(figures[i].x)) {
			fprintf(to, ",\"%s\":", figures[i].name);
			vprof_put_json_number(to, figures[i].x);
		}
	fputs(",\"verdict\":", to);
	vprof_put_json(to, vprof_verdict_names[verdict]);
	putc('}', to);
}

static void put_begin(FILE *to, int rule, int is_warning, double share)
{
	fprintf(to, "{\"ruleId\":\"VPROF00%d\",\"ruleIndex\":%d,\"kind\":\"fail\",\"level\":\"%s\",\"rank\":", rule + 1,
		rule, is_warning ? "warning" : "note");
	vprof_put_json_number(to, share < 0 || !isfinite(share) ? 0 : share > 1 ? 100 : 100 * share);
	fputs(",\"message\":{\"text\":", to);
}

/* The first place is the result's own, the others are related. */
static void put_places(FILE *to, const struct vprof_node *const *places, size_t n)
{
	fputs("},\"locations\":[", to);
	for (size_t i = 0; i < n; i++) {
		if (i < 2)
			fputs(i ? "],\"relatedLocations\":[{\"id\":1," : "{", to);
		else
			fprintf(to, ",{\"id\":%zu,", i);
		put_place(to, places[i]);
		putc('}', to);
	}
	putc(']', to);
}

static void put_key(FILE *to, const char *kind, const char *key)
{
	fprintf(to, ",\"partialFingerprints\":{\"%s/v1\":", kind);
	vprof_put_json(to, key);
	putc('}', to);
}

static void put_factor(FILE *to, const struct vprof_results *r, size_t index)
{
	const struct vprof_factor *f = &r->factors[index];
	const struct vprof_node *places[N_RELATED];
	const struct figure figures[] = { { "share", f->share },
					  { "shareLow", f->share_low },
					  { "shareHigh", f->share_high },
					  { "ifConstant", f->if_constant },
					  { "ifConstantLow", f->if_constant_low },
					  { "ifConstantHigh", f->if_constant_high },
					  { "together", f->together },
					  { "togetherLow", f->together_low },
					  { "togetherHigh", f->together_high },
					  { "togetherConstant", f->together_constant },
					  { "togetherConstantLow", f->together_constant_low },
					  { "togetherConstantHigh", f->together_constant_high },
					  { "meanNs", f->mean_ns },
					  { "sdNs", f->sd_ns },
					  { "score", f->score },
					  { "blockedShare", f->blocked_share },
					  { "kernelShare", f->kernel_share },
					  { "ioShare", f->io_share } };

	put_begin(to, f->kind == VPROF_FACTOR_COVARIANCE, index < r->n_selected, f->share);
	put_message(to, r, f);
	put_places(to, places, places_of(r, f, places));
	put_key(to, "vprofFactor", f->key);
	put_suppression(to, f->verdict, f->note);
	fprintf(to, ",\"properties\":{\"rankOfFactor\":%zu", index + 1);
	put_figures(to, figures, sizeof figures / sizeof *figures, f->verdict);
	putc('}', to);
}

static void put_cause_message(FILE *to, const struct vprof_results *r, const struct vprof_cause *c)
{
	struct vprof_text t = VPROF_TEXT_INIT;

	vprof_report_cause_sentence(r, c, &t);
	vprof_text_addf(&t, ": %.1f %% of the variance of \"%s\"", 100 * c->share, r->interval ? r->interval : "");
	if (isfinite(c->share_low) && isfinite(c->share_high))
		vprof_text_addf(&t, " (95 %% confidence interval %.1f to %.1f %%)", 100 * c->share_low,
				100 * c->share_high);
	add_constant(&t, "; ", c->if_constant, c->if_constant_low, c->if_constant_high);
	vprof_text_addf(&t, "; %s.", vprof_cause_status_names[c->status]);
	put_doubled(to, &t);
	vprof_text_release(&t);
}

/* The end of a cause first, then the steps on the way, innermost first. */
static size_t places_of_cause(const struct vprof_results *r, const struct vprof_cause *c,
			      const struct vprof_node **places)
{
	size_t n = 0;

	for (size_t i = c->n_steps; i-- > 0 && n < N_RELATED;) {
		const struct vprof_node *place = around(r, &r->nodes[c->steps[i].node]);

		if (place && (!n || places[n - 1] != place))
			places[n++] = place;
	}
	return n;
}

static void put_cause(FILE *to, const struct vprof_results *r, size_t index)
{
	const struct vprof_cause *c = &r->causes[index];
	const struct vprof_node *places[N_RELATED];
	const struct figure figures[] = { { "share", c->share },
					  { "shareLow", c->share_low },
					  { "shareHigh", c->share_high },
					  { "ifConstant", c->if_constant },
					  { "ifConstantLow", c->if_constant_low },
					  { "ifConstantHigh", c->if_constant_high },
					  { "meanNs", c->mean_ns },
					  { "sdNs", c->sd_ns } };

	put_begin(to, 2, c->status == VPROF_CAUSE_SETTLED, c->share);
	put_cause_message(to, r, c);
	put_places(to, places, places_of_cause(r, c, places));
	put_key(to, "vprofCause", c->key);
	put_suppression(to, c->verdict, c->note);
	fprintf(to, ",\"properties\":{\"rankOfCause\":%zu,\"status\":\"%s\"", index + 1,
		vprof_cause_status_names[c->status]);
	put_figures(to, figures, sizeof figures / sizeof *figures, c->verdict);
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
	fprintf(to, ",\"rules\":[\n%s,\n%s,\n%s]}},\n\"columnKind\":\"unicodeCodePoints\"", rules[0], rules[1],
		rules[2]);
	if (e->root && *e->root == '/') {
		fputs(",\"originalUriBaseIds\":{\"SRCROOT\":{\"uri\":\"file://", to);
		vprof_put_uri_path(to, e->root);
		fputs(e->root[strlen(e->root) - 1] == '/' ? "\"}}" : "/\"}}", to);
	}
	fputs(",\n\"results\":[", to);
	for (size_t i = 0; i < r->n_causes; i++) {
		fputs(n++ ? ",\n" : "\n", to);
		put_cause(to, r, i);
	}
	for (size_t i = 0; i < r->n_factors; i++) {
		if ((i >= r->n_selected && !(r->factors[i].share >= r->threshold)) ||
		    vprof_results_cause_of(r, i) < r->n_causes)
			continue;
		fputs(n++ ? ",\n" : "\n", to);
		put_factor(to, r, i);
	}
	fputs("]}]}\n", to);
	return 0;
}
