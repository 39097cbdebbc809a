/* SPDX-License-Identifier: GPL-3.0-or-later */
/* pprof's profile.proto, gzip'd: a sample for each node of each context's tree that has time of its own, with the
 * context and the stage as labels. https://github.com/google/pprof/blob/main/proto/profile.proto */
#include <stdlib.h>
#include <string.h>
#include <zlib.h>

#include "common/hash/string_set.h"
#include "common/utf8.h"
#include "report/export/context_stacks.h"
#include "report/export/export.h"
#include "report/export/protobuf.h"

enum profile_field {
	PROFILE_SAMPLE_TYPE = 1,
	PROFILE_SAMPLE = 2,
	PROFILE_LOCATION = 4,
	PROFILE_FUNCTION = 5,
	PROFILE_STRING_TABLE = 6,
	PROFILE_DURATION_NANOS = 10,
	PROFILE_COMMENT = 13,
	PROFILE_DEFAULT_SAMPLE_TYPE = 14,
};

/* A function at a line; its location has the same number, index + 1. */
struct place {
	uint32_t name, file;
	int line;
};

struct pprof {
	struct vprof_text out;
	struct vprof_strings strings;
	VPROF_ARRAY(struct place) places;
	struct vprof_hash_index by_place;
	uint32_t context, stage, running, waiting; /* strings */
};

static uint32_t string(struct pprof *p, const char *s)
{
	struct vprof_text clean = VPROF_TEXT_INIT;
	uint32_t number;

	vprof_text_add_utf8(&clean, s);
	number = vprof_strings_number(&p->strings, clean.s ? clean.s : "");
	p->out.failed |= clean.failed || number == VPROF_NONE;
	vprof_text_release(&clean);
	return number;
}

static const char *frame_name(const struct vprof_profile_node *n, struct vprof_text *t)
{
	if (n->kind == VPROF_NODE_INTERVAL)
		vprof_text_addf(t, "[%s]", n->name);
	else
		vprof_text_add(t, n->name);
	return t->s ? t->s : "";
}

static uint64_t location(struct pprof *p, const struct vprof_profile_node *n)
{
	struct vprof_text t = VPROF_TEXT_INIT;
	struct place wanted = { string(p, frame_name(n, &t)), string(p, n->file), n->line }, *place;
	uint64_t hash = vprof_mix(((uint64_t)wanted.name << 32 | wanted.file) ^ vprof_mix((uint64_t)wanted.line));
	size_t at;

	p->out.failed |= t.failed;
	vprof_text_release(&t);
	if (vprof_hash_index_room(&p->by_place, 1)) {
		p->out.failed = 1;
		return 0;
	}
	VPROF_HASH_EACH(&p->by_place, hash, at, i)
	if (p->places.v[i].name == wanted.name && p->places.v[i].file == wanted.file &&
	    p->places.v[i].line == wanted.line)
		return i + 1;
	place = VPROF_PUSH(&p->places);
	if (!place) {
		p->out.failed = 1;
		return 0;
	}
	*place = wanted;
	vprof_hash_index_put(&p->by_place, at, hash, (uint32_t)p->places.n - 1);
	return p->places.n;
}

static void add_label(struct pprof *p, struct vprof_text *sample, uint32_t key, const char *value)
{
	struct vprof_text label = VPROF_TEXT_INIT;

	vprof_protobuf_uint(&label, 1, key);
	vprof_protobuf_uint(&label, 2, string(p, value));
	vprof_protobuf_message(sample, 3, &label);
	vprof_text_release(&label);
}

static int add_sample(void *arg, const struct vprof_context_stack *s)
{
	struct pprof *p = arg;
	struct vprof_text sample = VPROF_TEXT_INIT;

	for (uint32_t i = s->n; i-- > 0;) /* the leaf first */
		vprof_protobuf_uint(&sample, 1, location(p, s->frames[i]));
	vprof_protobuf_uint(&sample, 2, s->own_ns);
	vprof_protobuf_uint(&sample, 2, s->is_running ? s->own_ns : 0);
	vprof_protobuf_uint(&sample, 2, s->is_running ? 0 : s->own_ns);
	add_label(p, &sample, p->context, s->context->name);
	add_label(p, &sample, p->stage, s->stage);
	vprof_protobuf_message(&p->out, PROFILE_SAMPLE, &sample);
	vprof_text_release(&sample);
	return p->out.failed ? VPROF_ERR_NOMEM : VPROF_OK;
}

static void add_type(struct pprof *p, const char *name)
{
	struct vprof_text type = VPROF_TEXT_INIT;

	vprof_protobuf_uint(&type, 1, string(p, name));
	vprof_protobuf_uint(&type, 2, string(p, "nanoseconds"));
	vprof_protobuf_message(&p->out, PROFILE_SAMPLE_TYPE, &type);
	vprof_text_release(&type);
}

static void add_places(struct pprof *p)
{
	for (size_t i = 0; i < p->places.n; i++) {
		struct vprof_text function = VPROF_TEXT_INIT, place = VPROF_TEXT_INIT, line = VPROF_TEXT_INIT;
		uint64_t at = p->places.v[i].line > 0 ? (uint64_t)p->places.v[i].line : 0;

		vprof_protobuf_uint(&function, 1, i + 1);
		vprof_protobuf_uint(&function, 2, p->places.v[i].name);
		vprof_protobuf_uint(&function, 3, p->places.v[i].name);
		vprof_protobuf_uint(&function, 4, p->places.v[i].file);
		vprof_protobuf_uint(&function, 5, at);
		vprof_protobuf_message(&p->out, PROFILE_FUNCTION, &function);
		vprof_protobuf_uint(&line, 1, i + 1);
		vprof_protobuf_uint(&line, 2, at);
		vprof_protobuf_uint(&place, 1, i + 1);
		vprof_protobuf_message(&place, 4, &line);
		vprof_protobuf_message(&p->out, PROFILE_LOCATION, &place);
		vprof_text_release(&function);
		vprof_text_release(&line);
		vprof_text_release(&place);
	}
}

static void add_comments(struct pprof *p, const struct vprof_export *e)
{
	struct vprof_text t = VPROF_TEXT_INIT;
	const struct vprof_results *r = e->results;

	vprof_text_addf(&t, "vprof %s, run %s: %llu intervals %s", e->version ? e->version : "", r->run ? r->run : "",
			(unsigned long long)r->n_complete, r->interval ? r->interval : "");
	vprof_protobuf_uint(&p->out, PROFILE_COMMENT, string(p, t.s ? t.s : ""));
	p->out.failed |= t.failed;
	vprof_text_release(&t);
}

/* Writes it as gzip does, without a time, so that the same profile is the same file. */
static int put_gzip(FILE *to, const struct vprof_text *t)
{
	z_stream z = { .next_in = (Bytef *)t->s, .avail_in = (uInt)t->len };
	unsigned char buffer[16384];
	int more;

	if (t->len > UINT32_MAX ||
	    deflateInit2(&z, Z_DEFAULT_COMPRESSION, Z_DEFLATED, 15 + 16, 8, Z_DEFAULT_STRATEGY) != Z_OK)
		return VPROF_ERR_NOMEM;
	do {
		z.next_out = buffer;
		z.avail_out = sizeof buffer;
		more = deflate(&z, Z_FINISH) == Z_OK;
		fwrite(buffer, 1, sizeof buffer - z.avail_out, to);
	} while (more);
	deflateEnd(&z);
	return VPROF_OK;
}

int vprof_export_pprof(struct vprof_export *e, struct vprof_error *err)
{
	struct pprof p = { .out = VPROF_TEXT_INIT };
	int ret;

	string(&p, ""); /* number 0 */
	p.context = string(&p, "context");
	p.stage = string(&p, "stage");
	add_type(&p, "time");
	add_type(&p, "running");
	add_type(&p, "waiting");
	ret = vprof_context_stacks(e->results, add_sample, &p);
	add_places(&p);
	if (e->results->duration_ns > 0 && e->results->duration_ns < 0x1p62)
		vprof_protobuf_uint(&p.out, PROFILE_DURATION_NANOS, (uint64_t)e->results->duration_ns);
	add_comments(&p, e);
	vprof_protobuf_uint(&p.out, PROFILE_DEFAULT_SAMPLE_TYPE, string(&p, "time"));
	for (size_t i = 0; i < p.strings.kept.n; i++)
		vprof_protobuf_string(&p.out, PROFILE_STRING_TABLE, p.strings.kept.v[i]);
	ret = ret || p.out.failed ? VPROF_ERR_NOMEM : put_gzip(e->to, &p.out);
	vprof_text_release(&p.out);
	vprof_strings_release(&p.strings);
	VPROF_ARRAY_RELEASE(&p.places);
	vprof_hash_index_release(&p.by_place);
	return ret ? vprof_error_set(err, ret, "not enough memory for the profile of %zu contexts",
				     e->results->n_contexts) :
		     VPROF_OK;
}
