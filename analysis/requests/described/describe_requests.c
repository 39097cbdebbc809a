/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "analysis/requests/described/describe_requests.h"

#include <math.h>

#include "analysis/requests/described/latency_figures.h"
#include "analysis/requests/described/list_requests.h"
#include "analysis/requests/described/unusual_connections.h"
#include "analysis/requests/path_patterns.h"
#include "analysis/requests/tier_times.h"
#include "common/hash/hash_index.h"
#include "common/search.h"

struct describing {
	struct vprof_requests_results *to;
	const struct vprof_requests *found;
	struct vprof_tiers tiers;
	struct vprof_tier_times times;
	struct vprof_path_patterns patterns;
	unsigned char *is_used; /* requests that are whole and not ambiguous */
	int lists_requests;
	/* numbers of what is listed as tiers and is none, behind them; and of all */
	uint32_t transit, queues, n_tiers;
	double n_tail; /* used requests that are of the slowest hundredth */
};

static uint64_t latency_of(const struct vprof_request *r)
{
	return r->to - r->from;
}

static void count_requests(struct describing *d)
{
	const struct vprof_request_trees *t = &d->found->trees;

	d->to->least_confidence = 1;
	for (size_t i = 0; i < t->requests.n; i++) {
		const struct vprof_request *r = &t->requests.v[i];

		d->to->n_certain += r->state == VPROF_REQUEST_CERTAIN;
		d->to->n_inferred += r->state == VPROF_REQUEST_INFERRED;
		d->to->n_ambiguous += r->state == VPROF_REQUEST_AMBIGUOUS;
		d->to->n_torn += r->state != VPROF_REQUEST_AMBIGUOUS && !r->is_whole;
		d->is_used[i] = r->state != VPROF_REQUEST_AMBIGUOUS && r->is_whole;
		if (r->state == VPROF_REQUEST_INFERRED && (double)r->confidence < d->to->least_confidence)
			d->to->least_confidence = (double)r->confidence;
	}
	d->to->n_requests = t->requests.n;
	d->to->n_cut = t->n_cut;
	d->to->n_detached = t->n_detached;
	d->to->n_outside = t->n_outside;
	d->to->n_circular = t->n_circular;
}

static int count_connections(struct describing *d)
{
	const struct vprof_connections *c = &d->found->connections;
	struct vprof_unusual_connections odd;

	if (vprof_unusual_connections_count(&odd, d->found))
		return VPROF_ERR_NOMEM;
	d->to->n_half_closed = odd.n_half_closed;
	d->to->n_encrypted = odd.n_encrypted;
	d->to->n_resent = odd.n_resent;
	d->to->n_resent_connections = odd.n_resent_connections;

	d->to->n_connections = c->v.n - c->n_inside;
	d->to->n_inside = c->n_inside;
	d->to->n_guessed = c->n_guessed;
	d->to->n_translated = c->n_translated;
	for (size_t i = 0; i < c->v.n; i++)
		d->to->n_one_end += c->v.v[i].client == VPROF_NONE || c->v.v[i].server == VPROF_NONE;
	d->to->n_exchanges = d->found->exchanges.v.n;
	d->to->n_greetings = d->found->exchanges.n_greetings;
	d->to->n_divided = d->found->exchanges.n_divided;
	d->to->n_bytes_missing = d->found->exchanges.n_bytes_missing;
	return VPROF_OK;
}

static int describe_links(struct describing *d)
{
	d->to->links = calloc(VPROF_LINK_HOWS, sizeof *d->to->links);
	for (int how = 0; d->to->links && how < VPROF_LINK_HOWS; how++)
		if (vprof_link_tell(how) && d->found->causality.n_by_how[how])
			d->to->links[d->to->n_links++] =
				(struct vprof_requests_link){ vprof_link_tell(how), d->found->causality.n_by_how[how] };
	return d->to->links ? VPROF_OK : VPROF_ERR_NOMEM;
}

/* Of all requests together. */
static int describe_latency(struct describing *d)
{
	const struct vprof_request_trees *t = &d->found->trees;
	vprof_grouped_latencies all = { NULL, 0, 0 };
	int ret = VPROF_OK;

	for (size_t i = 0; i < t->requests.n && !ret; i++)
		if (d->is_used[i])
			ret = vprof_grouped_latency_add(&all, 0, latency_of(&t->requests.v[i]));
	if (!ret)
		ret = vprof_grouped_latencies_tell(&all, &d->to->latency, 1);
	if (!ret && d->to->latency.n >= VPROF_REQUESTS_TAIL_MIN && d->to->latency.sd_ns > 0)
		d->to->tail_from_ns = d->to->latency.p99_ns;
	VPROF_ARRAY_RELEASE(&all);
	return ret ? VPROF_ERR_NOMEM : VPROF_OK;
}

static int describe_patterns(struct describing *d)
{
	const struct vprof_request_trees *t = &d->found->trees;
	size_t n = d->patterns.v.n;
	struct vprof_requests_latency *figures = calloc(n + 1, sizeof *figures);
	vprof_grouped_latencies all = { NULL, 0, 0 };
	int ret = figures ? VPROF_OK : VPROF_ERR_NOMEM;

	d->to->n_patterns_all = n;
	d->to->patterns = calloc(VPROF_REQUESTS_PATTERNS_TOLD, sizeof *d->to->patterns);
	ret = d->to->patterns ? ret : VPROF_ERR_NOMEM;
	for (size_t i = 0; i < t->requests.n && !ret; i++)
		if (d->is_used[i])
			ret = vprof_grouped_latency_add(&all, d->patterns.of_request.v[i],
							latency_of(&t->requests.v[i]));
	if (!ret)
		ret = vprof_grouped_latencies_tell(&all, figures, n);
	for (size_t i = 0; i < n && i < VPROF_REQUESTS_PATTERNS_TOLD && !ret; i++) {
		struct vprof_requests_pattern *p = &d->to->patterns[d->to->n_patterns++];
		uint32_t example = d->patterns.v.v[i].example;
		struct vprof_text text = VPROF_TEXT_INIT;

		vprof_path_tell(&text, example, VPROF_PATH_LINE, &d->found->exchanges, t, &d->tiers);
		p->latency = figures[i];
		p->n_visits = t->requests.v[example].n_nodes;
		p->path = text.failed ? NULL : vprof_strings_keep(&d->to->strings, text.s);
		ret = p->path ? VPROF_OK : VPROF_ERR_NOMEM;
		vprof_text_release(&text);
	}
	free(figures);
	VPROF_ARRAY_RELEASE(&all);
	return ret ? VPROF_ERR_NOMEM : VPROF_OK;
}

/* Response times of tiers, and how often they are visited. */
static int describe_visits(struct describing *d)
{
	const struct vprof_request_trees *t = &d->found->trees;
	struct vprof_requests_latency *figures = calloc(d->n_tiers, sizeof *figures);
	vprof_grouped_latencies all = { NULL, 0, 0 };
	int ret = figures ? 0 : -1;

	for (size_t i = 0; i < t->requests.n && !ret; i++)
		for (uint32_t k = 0; d->is_used[i] && k < t->requests.v[i].n_nodes && !ret; k++) {
			const struct vprof_exchange *e =
				&d->found->exchanges.v.v[t->nodes.v[t->requests.v[i].first_node + k]];
			int is_seen = e->server.request_thread != VPROF_NONE;

			if (!(e->flags & VPROF_EXCHANGE_NO_REPLY))
				ret = vprof_grouped_latency_add(&all, d->tiers.of_connection.v[e->connection],
								vprof_exchange_ns(is_seen ? &e->server : &e->client));
		}
	if (!ret)
		ret = vprof_grouped_latencies_tell(&all, figures, d->n_tiers);
	for (size_t i = 0; i < d->n_tiers && !ret; i++)
		d->to->tiers[i].response = figures[i];
	free(figures);
	VPROF_ARRAY_RELEASE(&all);
	return ret ? VPROF_ERR_NOMEM : VPROF_OK;
}

/* Adds what a request's part `ns` is of the variance, and of the tail's gap. Sums of (T - mean) are 0. */
static void add_shares(const struct describing *d, uint32_t request, double ns, double *share, double *tail_share)
{
	const struct vprof_requests_results *to = d->to;
	double n = (double)to->latency.n, variance = to->latency.sd_ns * to->latency.sd_ns * (n - 1);
	double latency = (double)latency_of(&d->found->trees.requests.v[request]);
	int is_tail = d->n_tail > 0 && latency >= to->tail_from_ns;

	*share += ns * (latency - to->latency.mean_ns) / variance;
	*tail_share += ns * (is_tail ? 1 / d->n_tail : -1 / (n - d->n_tail)) / (to->tail_ns - to->rest_ns);
}

/* Means, then covariances with the request's latency and what differs in the tail. */
static void divide(struct describing *d)
{
	const struct vprof_request_trees *t = &d->found->trees;
	struct vprof_requests_results *to = d->to;
	double n = (double)to->latency.n, n_tail = 0;

	for (size_t i = 0; i < t->requests.n; i++)
		n_tail += d->is_used[i] && (double)latency_of(&t->requests.v[i]) >= to->tail_from_ns;
	d->n_tail = n_tail;
	if (n_tail > 0 && n_tail < n)
		to->tail_ns = to->rest_ns = 0;
	for (size_t i = 0; i < t->requests.n && n_tail > 0 && n_tail < n; i++) {
		double ns = (double)latency_of(&t->requests.v[i]);

		if (d->is_used[i])
			*(ns >= to->tail_from_ns ? &to->tail_ns : &to->rest_ns) +=
				ns / (ns >= to->tail_from_ns ? n_tail : n - n_tail);
	}
	for (size_t i = 0; i < d->times.v.n; i++) {
		const struct vprof_tier_time *time = &d->times.v.v[i];
		struct vprof_requests_tier *tier = &to->tiers[time->tier];

		if (!d->is_used[time->request])
			continue;
		tier->n_requests += time->n_visits > 0;
		tier->visits_per_request += time->n_visits / n;
		tier->most_visits = time->n_visits > tier->most_visits ? time->n_visits : tier->most_visits;
		tier->own_ns += time->ns / n;
		add_shares(d, time->request, time->ns, &tier->share, &tier->tail_share);
	}
	for (size_t i = 0; i < d->n_tiers; i++) {
		to->tiers[i].share = to->latency.sd_ns > 0 ? to->tiers[i].share : NAN;
		to->tiers[i].tail_share = to->tail_ns > to->rest_ns ? to->tiers[i].tail_share : NAN;
	}
}

static int describe_tiers(struct describing *d)
{
	d->to->tiers = calloc(d->n_tiers, sizeof *d->to->tiers);
	if (!d->to->tiers)
		return VPROF_ERR_NOMEM;
	for (uint32_t i = 0; i < d->transit; i++) {
		d->to->tiers[i].name = vprof_strings_keep(&d->to->strings, d->tiers.names.kept.v[i]);
		d->to->tiers[i].is_recorded = d->tiers.is_recorded.v[i];
		if (!d->to->tiers[i].name)
			return VPROF_ERR_NOMEM;
	}
	d->to->tiers[d->transit].name = "in transit";
	d->to->tiers[d->transit].is_transit = 1;
	d->to->tiers[d->queues].name = "in receive queues";
	d->to->tiers[d->queues].is_transit = d->to->tiers[d->queues].is_queue = 1;
	if (describe_visits(d))
		return VPROF_ERR_NOMEM;
	divide(d);
	return VPROF_OK;
}

struct call_sum {
	uint32_t from, to;
	uint64_t n, n_both;
	double ns, transit_ns, there_ns, queued_ns, share, tail_share;
};

typedef VPROF_ARRAY(struct call_sum) call_sums;

static struct call_sum *sum_of(call_sums *sums, struct vprof_hash_index *index, uint32_t from, uint32_t to)
{
	uint64_t hash = vprof_mix((uint64_t)from << 32 | to);
	struct call_sum *added;
	size_t at;

	if (vprof_hash_index_room(index, 1))
		return NULL;
	VPROF_HASH_EACH(index, hash, at, i)
	{
		if (sums->v[i].from == from && sums->v[i].to == to)
			return &sums->v[i];
	}
	added = VPROF_PUSH(sums);
	if (added) {
		vprof_hash_index_put(index, at, hash, (uint32_t)(sums->n - 1));
		added->from = from;
		added->to = to;
	}
	return added;
}

/* From the request's first send to its first receive, by the common clock; NaN: unknown. */
static double time_there(const struct describing *d, const struct vprof_exchange *e)
{
	const struct vprof_host_clocks *clocks = &d->found->clocks;
	const struct vprof_connection *c = &d->found->connections.v.v[e->connection];
	uint32_t client = d->found->history->sockets.v[c->client].host;
	uint32_t server = d->found->history->sockets.v[c->server].host;

	if (client == server)
		return (double)e->server.request_from - (double)e->client.request_from;
	if (!clocks->v.v[client].is_known || !clocks->v.v[server].is_known)
		return NAN;
	return vprof_host_clock_common(clocks, server, e->server.request_from) -
	       vprof_host_clock_common(clocks, client, e->client.request_from);
}

static int add_call(struct describing *d, call_sums *sums, struct vprof_hash_index *index, uint32_t request,
		    uint32_t exchange)
{
	const struct vprof_exchange *e = &d->found->exchanges.v.v[exchange];
	uint32_t parent = d->found->causality.links.v[exchange].parent;
	uint32_t from = parent == VPROF_NONE ? VPROF_NONE :
					       d->tiers.of_connection.v[d->found->exchanges.v.v[parent].connection];
	struct call_sum *sum = sum_of(sums, index, from, d->tiers.of_connection.v[e->connection]);
	double called = (double)vprof_exchange_ns(&e->client), visited = (double)vprof_exchange_ns(&e->server);
	struct vprof_queued queued = vprof_queued_of(e);

	if (!sum)
		return VPROF_ERR_NOMEM;
	sum->n++;
	sum->ns += called > 0 ? called : visited;
	add_shares(d, request, called > 0 ? called : visited, &sum->share, &sum->tail_share);
	if (called > 0 && e->server.request_thread != VPROF_NONE) {
		sum->n_both++;
		sum->transit_ns += called > visited ? called - visited : 0;
		sum->there_ns += time_there(d, e);
		sum->queued_ns += (double)(queued.request + queued.reply);
	}
	return VPROF_OK;
}

static int order_calls(const void *a, const void *b)
{
	const struct call_sum *x = a, *y = b;

	if (x->n != y->n)
		return x->n > y->n ? -1 : 1;
	return x->from != y->from ? (x->from < y->from ? -1 : 1) : x->to < y->to ? -1 : x->to > y->to;
}

static int describe_calls(struct describing *d)
{
	const struct vprof_request_trees *t = &d->found->trees;
	struct vprof_hash_index index = { 0 };
	call_sums sums = { NULL, 0, 0 };
	int ret = VPROF_OK, is_queue_known = d->to->tiers[d->queues].own_ns > 0;

	for (uint32_t i = 0; i < t->requests.n && !ret; i++)
		for (uint32_t k = 0; d->is_used[i] && k < t->requests.v[i].n_nodes && !ret; k++)
			ret = add_call(d, &sums, &index, i, t->nodes.v[t->requests.v[i].first_node + k]);
	if (!ret && vprof_array_sort(sums.v, sums.n, sizeof *sums.v, order_calls))
		ret = VPROF_ERR_NOMEM;
	d->to->calls = calloc(sums.n + 1, sizeof *d->to->calls);
	ret = d->to->calls ? ret : VPROF_ERR_NOMEM;
	for (size_t i = 0; i < sums.n && !ret; i++) {
		const struct call_sum *s = &sums.v[i];

		d->to->calls[d->to->n_calls++] =
			(struct vprof_requests_call){ s->from,
						      s->to,
						      s->n,
						      s->ns / (double)s->n,
						      s->n_both ? s->transit_ns / (double)s->n_both : NAN,
						      s->n_both ? s->there_ns / (double)s->n_both : NAN,
						      s->n_both && is_queue_known ? s->queued_ns / (double)s->n_both :
										    NAN,
						      d->to->latency.sd_ns > 0 ? s->share : NAN,
						      d->to->tail_ns > d->to->rest_ns ? s->tail_share : NAN };
	}
	vprof_hash_index_release(&index);
	VPROF_ARRAY_RELEASE(&sums);
	return ret;
}

struct ranked_tier {
	double key;
	uint32_t tier;
};

static int order_tiers(const void *a, const void *b)
{
	const struct ranked_tier *x = a, *y = b;

	if (x->key != y->key)
		return x->key > y->key ? -1 : 1;
	return x->tier < y->tier ? -1 : x->tier > y->tier;
}

/* The tiers that explain most first; those that no used request visits are left out. Calls know them by number. */
static int sort_tiers(struct describing *d)
{
	struct vprof_requests_results *to = d->to;
	uint32_t n = d->n_tiers, *place = calloc(n, sizeof *place);
	struct ranked_tier *ranked = malloc(n * sizeof *ranked);
	struct vprof_requests_tier *sorted = calloc(n, sizeof *sorted);
	int ret = place && ranked && sorted ? VPROF_OK : VPROF_ERR_NOMEM;

	for (uint32_t i = 0; i < n && !ret; i++) {
		const struct vprof_requests_tier *tier = &to->tiers[i];

		if (tier->n_requests || tier->own_ns > 0)
			ranked[to->n_tiers++] =
				(struct ranked_tier){ isfinite(tier->share) ? tier->share : tier->own_ns, i };
	}
	if (!ret && vprof_array_sort(ranked, to->n_tiers, sizeof *ranked, order_tiers))
		ret = VPROF_ERR_NOMEM;
	for (uint32_t i = 0; i < to->n_tiers && !ret; i++) {
		sorted[i] = to->tiers[ranked[i].tier];
		place[ranked[i].tier] = i;
	}
	for (size_t i = 0; i < to->n_calls && !ret; i++) {
		struct vprof_requests_call *c = &to->calls[i];

		c->from = c->from == VPROF_NONE ? VPROF_NONE : place[c->from];
		c->to = place[c->to];
	}
	free(place);
	free(ranked);
	if (ret) {
		free(sorted);
		return ret;
	}
	free(to->tiers);
	to->tiers = sorted;
	return VPROF_OK;
}

static int describe_clocks(struct describing *d)
{
	const struct vprof_host_clocks *clocks = &d->found->clocks;

	if (clocks->v.n < 2)
		return VPROF_OK;
	d->to->clocks = calloc(clocks->v.n, sizeof *d->to->clocks);
	if (!d->to->clocks)
		return VPROF_ERR_NOMEM;
	for (size_t i = 0; i < clocks->v.n; i++) {
		const struct vprof_host_clock *c = &clocks->v.v[i];
		const char *host = vprof_strings_keep(&d->to->strings, d->found->history->hosts.v[i]);

		if (!host)
			return VPROF_ERR_NOMEM;
		d->to->clocks[d->to->n_clocks++] =
			(struct vprof_requests_clock){ host,	 c->is_known, c->n_messages, c->ahead_ns,
						       c->drift, c->error_ns, c->drift_error };
	}
	return VPROF_OK;
}

static int describe_all(struct describing *d)
{
	const struct vprof_requests *f = d->found;
	int ret = vprof_tiers_find(&d->tiers, f->history, &f->connections, &f->exchanges);

	d->transit = (uint32_t)d->tiers.names.kept.n;
	d->queues = d->transit + 1;
	d->n_tiers = d->transit + 2;
	if (!ret)
		ret = vprof_tier_times_find(&d->times, &f->exchanges, &f->trees, &d->tiers);
	if (!ret)
		ret = vprof_path_patterns_find(&d->patterns, &f->exchanges, &f->trees, &d->tiers, d->is_used);
	if (!ret)
		ret = describe_links(d);
	if (!ret)
		ret = describe_latency(d);
	if (!ret)
		ret = describe_patterns(d);
	if (!ret)
		ret = describe_tiers(d);
	if (!ret)
		ret = describe_calls(d);
	if (!ret)
		ret = describe_clocks(d);
	if (!ret)
		ret = sort_tiers(d);
	return ret || !d->lists_requests ? ret : vprof_requests_list(d->to, f, &d->tiers);
}

int vprof_requests_describe(struct vprof_requests_results *to, const struct vprof_requests *found, int lists_requests,
			    struct vprof_error *err)
{
	struct describing d = { .to = to,
				.found = found,
				.is_used = malloc(found->trees.requests.n + 1),
				.lists_requests = lists_requests };
	int ret = VPROF_ERR_NOMEM;

	if (d.is_used) {
		count_requests(&d);
		ret = count_connections(&d);
	}
	if (!ret) {
		ret = describe_all(&d);
	}
	vprof_tiers_release(&d.tiers);
	vprof_tier_times_release(&d.times);
	vprof_path_patterns_release(&d.patterns);
	free(d.is_used);
	return ret ? vprof_error_no_memory(err) : VPROF_OK;
}
