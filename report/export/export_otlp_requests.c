/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Paths of requests in OTLP's JSON encoding, as export_otlp.c has it of intervals. Each request is a trace; each tier a
 * service. A call is a client span of the calling tier, and below it, where the called tier was recorded, the visit as
 * a server span of that one.
 */
#include <inttypes.h>
#include <math.h>
#include <string.h>

#include "common/hash/hash_index.h"
#include "report/export/chosen_requests.h"
#include "report/export/otlp_attributes.h"
#include "report/export/put_text.h"

enum { KIND_SERVER = 2, KIND_CLIENT = 3 };

struct spans {
	FILE *to;
	const struct vprof_requests_results *r;
	uint64_t seed;
	uint64_t n; /* of this service */
};

static uint64_t nonzero(uint64_t x)
{
	return x ? x : 1;
}

static uint64_t span_of(const struct spans *s, size_t visit, int kind)
{
	return nonzero(vprof_mix(s->seed + 4 * (uint64_t)visit + (uint64_t)kind));
}

static int is_served(const struct vprof_requests_visit *v)
{
	return isfinite(v->served_from_ns);
}

static void begin_span(struct spans *s, uint32_t request, uint64_t span, uint64_t parent, const char *name, int kind,
		       uint64_t from, uint64_t to)
{
	fprintf(s->to, "%s{\"traceId\":\"%016" PRIx64 "%016" PRIx64 "\",\"spanId\":\"%016" PRIx64 "\",",
		s->n++ ? "," : "", s->seed, nonzero(vprof_mix(s->seed ^ request)), span);
	if (parent)
		fprintf(s->to, "\"parentSpanId\":\"%016" PRIx64 "\",", parent);
	fputs("\"name\":", s->to);
	vprof_put_json(s->to, name);
	fprintf(s->to,
		",\"kind\":%d,\"startTimeUnixNano\":\"%" PRIu64 "\",\"endTimeUnixNano\":\"%" PRIu64
		"\",\"attributes\":[",
		kind, from, to);
}

/* What a span's caller is: the server's span of the visit that made the call. */
static uint64_t caller_of(const struct spans *s, const struct vprof_requests_one *q,
			  const struct vprof_requests_visit *v)
{
	size_t parent;

	if (v->parent == VPROF_NONE)
		return 0;
	parent = q->first_visit + v->parent;
	return span_of(s, parent, is_served(&s->r->visits.v[parent]) ? KIND_SERVER : KIND_CLIENT);
}

static void put_call(struct spans *s, uint32_t request, size_t visit)
{
	const struct vprof_requests_one *q = &s->r->requests[request];
	const struct vprof_requests_visit *v = &s->r->visits.v[visit];

	begin_span(s, request, span_of(s, visit, KIND_CLIENT), caller_of(s, q, v), v->tier, KIND_CLIENT,
		   vprof_call_begin(s->r, v), vprof_call_end(s->r, v));
	vprof_otlp_text(s->to, "peer.service", v->tier, 1);
	vprof_otlp_text(s->to, "client.address", v->client, 0);
	vprof_otlp_text(s->to, "vprof.link", v->how, 0);
	vprof_otlp_number(s->to, "vprof.link.confidence", v->confidence, 0);
	vprof_otlp_count(s->to, "vprof.request.bytes", v->request_bytes, 0);
	vprof_otlp_count(s->to, "vprof.reply.bytes", v->reply_bytes, 0);
	if (v->reply_queued_ns > 0)
		vprof_otlp_number(s->to, "vprof.reply.queued_ns", v->reply_queued_ns, 0);
	fputs("]}", s->to);
}

static void put_visit(struct spans *s, uint32_t request, size_t visit)
{
	const struct vprof_requests_one *q = &s->r->requests[request];
	const struct vprof_requests_visit *v = &s->r->visits.v[visit];
	uint64_t parent = v->parent == VPROF_NONE ? 0 : span_of(s, visit, KIND_CLIENT);

	begin_span(s, request, span_of(s, visit, KIND_SERVER), parent, v->tier, KIND_SERVER, vprof_visit_begin(s->r, v),
		   vprof_visit_end(s->r, v));
	vprof_otlp_count(s->to, "process.pid", v->pid, 1);
	vprof_otlp_count(s->to, "thread.id", v->tid, 0);
	vprof_otlp_text(s->to, "client.address", v->client, 0);
	if (v->request_queued_ns > 0)
		vprof_otlp_number(s->to, "vprof.request.queued_ns", v->request_queued_ns, 0);
	if (v->parent == VPROF_NONE) {
		vprof_otlp_text(s->to, "vprof.path", q->path, 0);
		vprof_otlp_text(s->to, "vprof.state", vprof_request_state_names[q->state], 0);
		vprof_otlp_number(s->to, "vprof.confidence", q->confidence, 0);
		vprof_otlp_number(s->to, "vprof.latency_ns", q->latency_ns, 0);
	}
	fputs("]}", s->to);
}

/* All spans of one service: calls that it makes, visits to it. Names are kept once, so that they are the same text. */
static void put_service(struct spans *s, const struct vprof_chosen_requests *chosen, const char *tier,
			const char *version)
{
	fputs("{\"resource\":{\"attributes\":[", s->to);
	vprof_otlp_text(s->to, "service.name", tier, 1);
	vprof_otlp_text(s->to, "telemetry.sdk.name", "vprof", 0);
	vprof_otlp_text(s->to, "telemetry.sdk.version", version, 0);
	fputs("]},\"scopeSpans\":[{\"scope\":{\"name\":\"vprof\",\"version\":", s->to);
	vprof_put_json(s->to, version);
	fputs("},\"spans\":[", s->to);
	s->n = 0;
	for (size_t i = 0; i < chosen->v.n; i++) {
		const struct vprof_requests_one *q = &s->r->requests[chosen->v.v[i]];

		for (size_t k = q->first_visit; k < q->first_visit + q->n_visits; k++) {
			const struct vprof_requests_visit *v = &s->r->visits.v[k];
			const char *caller = v->parent == VPROF_NONE ? "" :
								       s->r->visits.v[q->first_visit + v->parent].tier;

			if (!strcmp(caller, tier))
				put_call(s, chosen->v.v[i], k);
			if (is_served(v) && !strcmp(v->tier, tier))
				put_visit(s, chosen->v.v[i], k);
		}
	}
	fputs("]}]}", s->to);
}

int vprof_export_otlp_requests(struct vprof_export *e, struct vprof_error *err)
{
	struct vprof_chosen_requests chosen;
	struct spans s = { .to = e->to, .r = e->requests, .seed = nonzero(vprof_mix(e->requests->begin_unix_ns)) };
	int ret = vprof_chosen_requests_find(&chosen, e), n = 0;

	if (!ret) {
		fputs("{\"resourceSpans\":[", e->to);
		for (size_t i = 0; i < e->requests->n_tiers; i++) {
			if (e->requests->tiers[i].is_transit)
				continue;
			fputs(n++ ? "," : "", e->to);
			put_service(&s, &chosen, e->requests->tiers[i].name, e->version);
		}
		fputs("]}\n", e->to);
	}
	vprof_chosen_requests_release(&chosen);
	return ret ? vprof_error_no_memory(err) : VPROF_OK;
}
