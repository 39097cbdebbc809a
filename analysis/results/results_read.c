/* SPDX-License-Identifier: GPL-3.0-or-later */
/* results.json, read: hostile like every file. Every key of results.h must be there with its type, every index in
 * range. */
#include <cjson/cJSON.h>
#include <limits.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/results/results_json.h"
#include "common/files.h"

struct reading {
	struct vprof_results *r;
	const char *path;
	const char *where; /* list that is being read */
	size_t index;
	struct vprof_error *err;
	int ret;
};

static void wrong(struct reading *g, const char *key, const char *what)
{
	if (g->ret)
		return;
	g->ret = vprof_error_set(g->err, VPROF_ERR_CORRUPT, "%s: %s[%zu].%s: %s; analyse the run again (vprof analyze)",
				 g->path, g->where, g->index, key, what);
}

static double number(struct reading *g, const cJSON *o, const char *key, double low, double high)
{
	const cJSON *v = cJSON_GetObjectItemCaseSensitive(o, key);

	if (cJSON_IsNull(v) && low == -INFINITY)
		return NAN;
	if (!cJSON_IsNumber(v)) {
		wrong(g, key, "a number is missing");
		return 0;
	}
	if (!(v->valuedouble >= low && v->valuedouble <= high)) {
		wrong(g, key, "out of range");
		return 0;
	}
	return v->valuedouble;
}

static const char *string(struct reading *g, const cJSON *o, const char *key)
{
	const cJSON *v = cJSON_GetObjectItemCaseSensitive(o, key);
	const char *s;

	if (!cJSON_IsString(v)) {
		wrong(g, key, "a text is missing");
		return "";
	}
	s = vprof_results_string(g->r, v->valuestring);
	if (!s) {
		g->ret = VPROF_ERR_NOMEM;
		return "";
	}
	return s;
}

static size_t word(struct reading *g, const cJSON *o, const char *key, const char *const *names, size_t n)
{
	const char *s = string(g, o, key);

	for (size_t i = 0; i < n; i++)
		if (!strcmp(names[i], s))
			return i;
	wrong(g, key, "unknown word");
	return 0;
}

#define WHOLE_MAX(field) (sizeof(field) == 4 ? 4294967295.0 : VPROF_WHOLE_MAX)
#define R_WHOLE(f) x->f = (__typeof__(x->f))number(g, o, #f, 0, WHOLE_MAX(x->f));
#define R_DOUBLE(f) x->f = number(g, o, #f, -INFINITY, INFINITY);
#define R_INT(f) x->f = (int)number(g, o, #f, INT_MIN, INT_MAX);
#define R_STRING(f) x->f = string(g, o, #f);
#define R_ENUM(f, names) x->f = (__typeof__(x->f))word(g, o, #f, names, sizeof names / sizeof *names);
#define R_FIELDS(LIST) LIST(R_WHOLE, R_DOUBLE, R_INT, R_STRING, R_ENUM)

static void read_node(struct reading *g, const cJSON *o, struct vprof_node *x)
{
	R_FIELDS(VPROF_NODE_FIELDS)
	x->is_unexplained = x->kind == VPROF_NODE_BODY &&
			    (!strcmp(x->name, "unexplained") || !strcmp(x->name, "[unexplained]"));
}

static void read_covariance(struct reading *g, const cJSON *o, struct vprof_covariance *x)
{
	R_FIELDS(VPROF_COVARIANCE_FIELDS)
}

static void read_closed(struct reading *g, const cJSON *o, struct vprof_closed *x)
{
	R_FIELDS(VPROF_CLOSED_FIELDS)
}

static void read_common_frames(struct reading *g, const cJSON *o, struct vprof_common_frame *x)
{
	R_FIELDS(VPROF_COMMON_FRAME_FIELDS)
}

static void read_type(struct reading *g, const cJSON *o, struct vprof_type *x)
{
	R_FIELDS(VPROF_TYPE_FIELDS)
}

static void read_contribution(struct reading *g, const cJSON *o, struct vprof_contribution *x)
{
	R_FIELDS(VPROF_CONTRIBUTION_FIELDS)
}

static void read_work(struct reading *g, const cJSON *o, struct vprof_work *x)
{
	R_FIELDS(VPROF_WORK_FIELDS)
}

static void read_bucket(struct reading *g, const cJSON *o, struct vprof_bucket *x)
{
	R_FIELDS(VPROF_BUCKET_FIELDS)
}

static void read_period(struct reading *g, const cJSON *o, struct vprof_period *x)
{
	R_FIELDS(VPROF_PERIOD_FIELDS)
}

static void read_example(struct reading *g, const cJSON *o, struct vprof_example *x)
{
	R_FIELDS(VPROF_EXAMPLE_FIELDS)
}

static void read_piece(struct reading *g, const cJSON *o, struct vprof_shown_piece *x)
{
	R_FIELDS(VPROF_PIECE_FIELDS)
}

static void read_thread(struct reading *g, const cJSON *o, struct vprof_shown_thread *x)
{
	R_FIELDS(VPROF_THREAD_FIELDS)
}

static const uint32_t *read_indices(struct reading *g, const cJSON *o, const char *key, size_t *n)
{
	const cJSON *list = cJSON_GetObjectItemCaseSensitive(o, key), *v;
	uint32_t *indices;

	if (!cJSON_IsArray(list)) {
		wrong(g, key, "a list is missing");
		return NULL;
	}
	indices = calloc((size_t)cJSON_GetArraySize(list) + 1, sizeof *indices);
	if (!indices) {
		g->ret = VPROF_ERR_NOMEM;
		return NULL;
	}
	cJSON_ArrayForEach(v, list)
	{
		if (!cJSON_IsNumber(v) || !(v->valuedouble >= 0 && v->valuedouble <= UINT32_MAX))
			wrong(g, key, "not an index");
		else
			indices[(*n)++] = (uint32_t)v->valuedouble;
	}
	return indices;
}

static void read_factor(struct reading *g, const cJSON *o, struct vprof_factor *x)
{
	R_FIELDS(VPROF_FACTOR_FIELDS)
	x->nodes = read_indices(g, o, "nodes", &x->n_nodes);
}

static void read_step(struct reading *g, const cJSON *o, struct vprof_step *x)
{
	R_FIELDS(VPROF_STEP_FIELDS)
}

static void read_split(struct reading *g, const cJSON *o, struct vprof_split *x)
{
	R_FIELDS(VPROF_SPLIT_FIELDS)
}

static void read_steps(struct reading *g, const cJSON *o, struct vprof_cause *x)
{
	const cJSON *list = cJSON_GetObjectItemCaseSensitive(o, "steps"), *v;
	struct vprof_step *steps;

	if (!cJSON_IsArray(list)) {
		wrong(g, "steps", "a list is missing");
		return;
	}
	x->steps = steps = calloc((size_t)cJSON_GetArraySize(list) + 1, sizeof *steps);
	if (!steps)
		g->ret = VPROF_ERR_NOMEM;
	else
		cJSON_ArrayForEach(v, list) read_step(g, v, &steps[x->n_steps++]);
}

static void read_splits(struct reading *g, const cJSON *o, struct vprof_cause *x)
{
	const cJSON *list = cJSON_GetObjectItemCaseSensitive(o, "splits"), *v;
	struct vprof_split *splits;

	if (!cJSON_IsArray(list)) {
		wrong(g, "splits", "a list is missing");
		return;
	}
	x->splits = splits = calloc((size_t)cJSON_GetArraySize(list) + 1, sizeof *splits);
	if (!splits)
		g->ret = VPROF_ERR_NOMEM;
	else
		cJSON_ArrayForEach(v, list) read_split(g, v, &splits[x->n_splits++]);
}

static void read_cause(struct reading *g, const cJSON *o, struct vprof_cause *x)
{
	R_FIELDS(VPROF_CAUSE_FIELDS)
	read_steps(g, o, x);
	read_splits(g, o, x);
	x->factors = read_indices(g, o, "factors", &x->n_factors);
	x->nodes = read_indices(g, o, "nodes", &x->n_nodes);
}

static void read_layer(struct reading *g, const cJSON *o, struct vprof_layer *x)
{
	R_FIELDS(VPROF_LAYER_FIELDS)
}

static void read_party(struct reading *g, const cJSON *o, struct vprof_party *x)
{
	R_FIELDS(VPROF_PARTY_FIELDS)
}

static void read_holder_call(struct reading *g, const cJSON *o, struct vprof_holder_call *x)
{
	R_FIELDS(VPROF_HOLDER_CALL_FIELDS)
}

/* An inner list of an object, and the number of its items so far. */
#define READ_INNER_AS(key, x, name, count, type, read)                                                                 \
	do {                                                                                                           \
		const cJSON *list_ = cJSON_GetObjectItemCaseSensitive(o, key), *v_;                                    \
		struct type *items_ = NULL;                                                                            \
                                                                                                                       \
		if (!cJSON_IsArray(list_))                                                                             \
			wrong(g, key, "a list is missing");                                                            \
		else if (!(items_ = calloc((size_t)cJSON_GetArraySize(list_) + 1, sizeof *items_)))                    \
			g->ret = VPROF_ERR_NOMEM;                                                                      \
		(x)->name = items_;                                                                                    \
		if (items_)                                                                                            \
			cJSON_ArrayForEach(v_, list_) read(g, v_, &items_[(x)->count++]);                              \
	} while (0)
#define READ_INNER(x, name, count, type, read) READ_INNER_AS(#name, x, name, count, type, read)

static void read_knot_lock(struct reading *g, const cJSON *o, struct vprof_knot_lock *x)
{
	R_FIELDS(VPROF_KNOT_LOCK_FIELDS)
}

static void read_knot(struct reading *g, const cJSON *o, struct vprof_knot *x)
{
	R_FIELDS(VPROF_KNOT_FIELDS)
	if (cJSON_GetObjectItemCaseSensitive(o, "locks")) /* results written before there were any have none */
		READ_INNER(x, locks, n_locks, vprof_knot_lock, read_knot_lock);
}

static void read_tier(struct reading *g, const cJSON *o, struct vprof_tier *x)
{
	R_FIELDS(VPROF_TIER_FIELDS)
	x->factors = read_indices(g, o, "factors", &x->n_factors);
	x->causes = read_indices(g, o, "causes", &x->n_causes);
}

static void read_lock(struct reading *g, const cJSON *o, struct vprof_crosstalk_lock *x)
{
	R_FIELDS(VPROF_CROSSTALK_LOCK_FIELDS)
	READ_INNER_AS("held", x, holder_calls, n_holder_calls, vprof_holder_call, read_holder_call);
}

static void read_crosstalk(struct reading *g, const cJSON *o, struct vprof_crosstalk *x)
{
	R_FIELDS(VPROF_CROSSTALK_FIELDS)
	READ_INNER(x, locks, n_locks, vprof_crosstalk_lock, read_lock);
}

static void read_stage(struct reading *g, const cJSON *o, struct vprof_context_stage *x)
{
	R_FIELDS(VPROF_STAGE_FIELDS)
}

static void read_profile(struct reading *g, const cJSON *o, struct vprof_profile_node *x)
{
	R_FIELDS(VPROF_PROFILE_FIELDS)
}

static void read_sampled(struct reading *g, const cJSON *o, struct vprof_sampled_function *x)
{
	R_FIELDS(VPROF_SAMPLED_FIELDS)
}

static void read_context(struct reading *g, const cJSON *o, struct vprof_context *x)
{
	R_FIELDS(VPROF_CONTEXT_FIELDS)
	READ_INNER(x, stages, n_stages, vprof_context_stage, read_stage);
	READ_INNER(x, profile, n_profile, vprof_profile_node, read_profile);
	READ_INNER(x, sampled, n_sampled, vprof_sampled_function, read_sampled);
	for (size_t i = 0; i < x->n_profile && !g->ret; i++)
		if (x->profile[i].depth > (i ? x->profile[i - 1].depth + 1 : 0))
			wrong(g, "profile.depth", "out of range");
	for (size_t i = 0; i < x->n_sampled && !g->ret; i++)
		if (x->sampled[i].depth > (i ? x->sampled[i - 1].depth + 1 : 0) ||
		    x->sampled[i].depth >= VPROF_SAMPLED_DEPTH_MAX)
			wrong(g, "sampled.depth", "out of range");
}

/* Array of `size` bytes for each item of o[name], or NULL with g->ret set. */
static void *list_of(struct reading *g, const cJSON *o, const char *name, size_t size, const cJSON **items)
{
	const cJSON *list = cJSON_GetObjectItemCaseSensitive(o, name);
	void *v;

	g->where = name;
	g->index = 0;
	*items = NULL;
	if (g->ret)
		return NULL;
	if (!cJSON_IsArray(list)) {
		wrong(g, "", "this list is missing");
		return NULL;
	}
	v = calloc((size_t)cJSON_GetArraySize(list) + 1, size);
	if (!v)
		g->ret = VPROF_ERR_NOMEM;
	*items = list;
	return v;
}

#define READ_LIST(name, count, read)                                                                                   \
	do {                                                                                                           \
		const cJSON *list_, *item_;                                                                            \
		g->r->name = list_of(g, o, #name, sizeof *g->r->name, &list_);                                         \
		if (!g->r->name)                                                                                       \
			return;                                                                                        \
		cJSON_ArrayForEach(item_, list_)                                                                       \
		{                                                                                                      \
			g->index = g->r->count;                                                                        \
			read(g, item_, &g->r->name[g->r->count++]);                                                    \
			if (g->ret)                                                                                    \
				return;                                                                                \
		}                                                                                                      \
	} while (0)

static void read_warnings(struct reading *g, const cJSON *o)
{
	const cJSON *list, *v;

	g->r->warnings = list_of(g, o, "warnings", sizeof *g->r->warnings, &list);
	if (!g->r->warnings)
		return;
	cJSON_ArrayForEach(v, list)
	{
		char *s = cJSON_IsString(v) ? strdup(v->valuestring) : NULL;

		if (!s) {
			wrong(g, "", "not a text");
			return;
		}
		g->r->warnings[g->r->n_warnings++] = s;
	}
}

static void read_results(struct reading *g, const cJSON *o)
{
	struct vprof_results *x = g->r;

	g->where = "results";
	R_FIELDS(VPROF_RESULTS_FIELDS)
	if (g->ret)
		return;
	read_warnings(g, o);
	READ_LIST(types, n_types, read_type);
	READ_LIST(parties, n_parties, read_party);
	READ_LIST(crosstalk, n_crosstalk, read_crosstalk);
	READ_LIST(contexts, n_contexts, read_context);
	READ_LIST(contributions, n_contributions, read_contribution);
	READ_LIST(work, n_work, read_work);
	READ_LIST(causes, n_causes, read_cause);
	READ_LIST(knots, n_knots, read_knot);
	if (cJSON_GetObjectItemCaseSensitive(o, "tiers"))
		READ_LIST(tiers, n_tiers, read_tier);
	if (cJSON_GetObjectItemCaseSensitive(o, "layers")) /* results written before there were any have none */
		READ_LIST(layers, n_layers, read_layer);
	READ_LIST(factors, n_factors, read_factor);
	READ_LIST(nodes, n_nodes, read_node);
	READ_LIST(covariances, n_covariances, read_covariance);
	READ_LIST(closed, n_closed, read_closed);
	READ_LIST(common_frames, n_common_frames, read_common_frames);
	READ_LIST(histogram, n_histogram, read_bucket);
	READ_LIST(periods, n_periods, read_period);
	READ_LIST(examples, n_examples, read_example);
	READ_LIST(pieces, n_pieces, read_piece);
	READ_LIST(threads, n_threads, read_thread);
}

static void check_shown(struct reading *g)
{
	const struct vprof_results *r = g->r;

	g->where = "histogram";
	for (g->index = 0; g->index < r->n_histogram; g->index++)
		if (r->histogram[g->index].type > r->n_types)
			wrong(g, "type", "out of range");
	g->where = "examples";
	for (g->index = 0; g->index < r->n_examples; g->index++)
		if (r->examples[g->index].first_piece > r->n_pieces ||
		    r->examples[g->index].n_pieces > r->n_pieces - r->examples[g->index].first_piece)
			wrong(g, "first_piece", "out of range");
	g->where = "pieces";
	for (g->index = 0; g->index < r->n_pieces; g->index++)
		if (r->pieces[g->index].thread && r->pieces[g->index].thread >= r->n_threads)
			wrong(g, "thread", "out of range");
}

static void check_tiers(struct reading *g)
{
	const struct vprof_results *r = g->r;

	g->where = "tiers";
	for (g->index = 0; g->index < r->n_tiers; g->index++) {
		const struct vprof_tier *t = &r->tiers[g->index];

		for (size_t k = 0; k < t->n_factors; k++)
			if (t->factors[k] >= r->n_factors)
				wrong(g, "factors", "out of range");
		for (size_t k = 0; k < t->n_causes; k++)
			if (t->causes[k] >= r->n_causes)
				wrong(g, "causes", "out of range");
	}
}

static void check_crosstalk(struct reading *g)
{
	const struct vprof_results *r = g->r;

	g->where = "crosstalk";
	for (g->index = 0; g->index < r->n_crosstalk; g->index++)
		if (r->crosstalk[g->index].waiter >= r->n_parties || r->crosstalk[g->index].holder >= r->n_parties)
			wrong(g, "waiter", "out of range");
}

/* Every walk up ends at what was measured, and walks down pass each once. */
static void check_layers(struct reading *g)
{
	const struct vprof_results *r = g->r;

	g->where = "layers";
	for (size_t i = 0; i < r->n_layers; i++) {
		const struct vprof_layer *l = &r->layers[i];

		g->index = i;
		if (l->kind == VPROF_LAYER_MEASURED ? l->parent != i : l->parent >= i)
			wrong(g, "parent", "a caller comes before its callees");
	}
}

static void check_causes(struct reading *g)
{
	const struct vprof_results *r = g->r;

	g->where = "causes";
	for (g->index = 0; g->index < r->n_causes; g->index++) {
		const struct vprof_cause *c = &r->causes[g->index];

		for (size_t k = 0; k < c->n_steps; k++)
			if (c->steps[k].node >= r->n_nodes)
				wrong(g, "steps.node", "out of range");
		for (size_t k = 0; k < c->n_factors; k++)
			if (c->factors[k] >= r->n_factors)
				wrong(g, "factors", "out of range");
		for (size_t k = 0; k < c->n_nodes; k++)
			if (c->nodes[k] >= r->n_nodes)
				wrong(g, "nodes", "out of range");
	}
}

static void check_indices(struct reading *g)
{
	const struct vprof_results *r = g->r;

	g->where = "nodes";
	for (size_t i = 0; i < r->n_nodes; i++) {
		const struct vprof_node *n = &r->nodes[i];

		g->index = i;
		if (!i && n->kind != VPROF_NODE_INTERVAL) /* where walks up end */
			wrong(g, "kind", "the first node is not the interval");
		if (i ? n->parent >= i : n->parent)
			wrong(g, "parent", "a parent comes before its children");
		if (n->n_children && (n->first_child <= i || n->first_child >= r->n_nodes ||
				      n->n_children > r->n_nodes - n->first_child))
			wrong(g, "first_child", "out of range");
		for (uint32_t c = 0; c < n->n_children && !g->ret; c++)
			/* so that every walk down ends, and passes a node once */
			if (r->nodes[n->first_child + c].parent != i)
				wrong(g, "first_child", "the children of another node");
		if (n->factor > r->n_factors)
			wrong(g, "factor", "out of range");
	}
	g->where = "covariances";
	for (size_t i = 0; i < r->n_covariances; i++) {
		const struct vprof_covariance *c = &r->covariances[i];

		g->index = i;
		if (c->a >= r->n_nodes || c->b >= r->n_nodes || c->factor > r->n_factors)
			wrong(g, "a", "out of range");
	}
	g->where = "factors";
	for (size_t i = 0; i < r->n_factors; i++) {
		const struct vprof_factor *f = &r->factors[i];
		size_t limit = f->kind == VPROF_FACTOR_VARIANCE ? r->n_nodes : r->n_covariances;

		g->index = i;
		for (size_t k = 0; k < f->n_nodes; k++)
			if (f->nodes[k] >= limit)
				wrong(g, "nodes", "out of range");
		if (f->counterpart > r->n_factors)
			wrong(g, "counterpart", "out of range");
	}
	check_causes(g);
	check_tiers(g);
	check_crosstalk(g);
	check_layers(g);
	g->where = "contributions";
	for (size_t i = 0; i < r->n_contributions; i++) {
		g->index = i;
		if (r->contributions[i].factor > r->n_factors)
			wrong(g, "factor", "out of range");
	}
	check_shown(g);
	g->where = "results";
	g->index = 0;
	if (r->n_selected > r->n_factors)
		wrong(g, "n_selected", "more than there are factors");
}

int vprof_results_read(struct vprof_results **out, const char *path, struct vprof_error *err)
{
	struct vprof_text text = VPROF_TEXT_INIT;
	struct reading g = { .path = path, .err = err };
	const cJSON *version;
	cJSON *o = NULL;

	*out = NULL;
	g.ret = vprof_file_read(path, &text, err);
	if (g.ret)
		goto out;
	o = cJSON_ParseWithLength(text.s, text.len);
	g.r = vprof_results_new();
	if (!g.r) {
		g.ret = vprof_error_set(err, VPROF_ERR_NOMEM, "not enough memory to read %s", path);
		goto out;
	}
	version = cJSON_GetObjectItemCaseSensitive(o, "version");
	if (!cJSON_IsObject(o) || !cJSON_IsNumber(version)) {
		g.ret = vprof_error_set(err, VPROF_ERR_CORRUPT,
					"%s: not a results file (cut or damaged JSON); analyse the "
					"run again (vprof analyze)",
					path);
		goto out;
	}
	if (version->valuedouble != VPROF_RESULTS_VERSION) {
		g.ret = vprof_error_set(err, VPROF_ERR_CORRUPT,
					"%s: version %g of the results, this vprof reads version %d; "
					"analyse the run again (vprof analyze)",
					path, version->valuedouble, VPROF_RESULTS_VERSION);
		goto out;
	}
	read_results(&g, o);
	if (!g.ret)
		check_indices(&g);
	else if (g.ret == VPROF_ERR_NOMEM)
		vprof_error_set(err, g.ret, "not enough memory to read %s", path);
	if (!g.ret) {
		*out = g.r;
		g.r = NULL;
	}
out:
	vprof_text_release(&text);
	cJSON_Delete(o);
	vprof_results_free(g.r);
	return g.ret;
}
