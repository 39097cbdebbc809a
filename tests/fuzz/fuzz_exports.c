/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Results and traces in all formats of report/export/. What begins with '{' is a results.json, else it is a trace
 * (fuzz_made_trace.h), whose last byte chooses the format and the part. Whatever the input, what is written must be
 * right in its format: text is UTF-8, JSON parses, rows of CSV are of one length, a protocol buffer's fields fill it,
 * and no time is negative.
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <zlib.h>

#include <cjson/cJSON.h>

#include "analysis/analyze.h"
#include "common/utf8.h"
#include "report/export/export.h"
#include "tests/fuzz/fuzz_file.h"
#include "tests/fuzz/fuzz_made_trace.h"

#define TIME_MAX 4e18 /* ns; more is a difference that wrapped */

static void check(int is_right, const struct vprof_export_format *format, const char *what)
{
	if (is_right)
		return;
	fprintf(stderr, "%s: %s\n", format->name, what);
	abort();
}

static void check_utf8(const struct vprof_export_format *format, const char *s, size_t n)
{
	size_t length;

	for (const char *at = s; at < s + n; at += length) {
		length = vprof_utf8_length(at);
		check(length && *at, format, "no UTF-8");
	}
}

static void check_trace_events(const struct vprof_export_format *format, const cJSON *o)
{
	const cJSON *event;

	check(cJSON_IsArray(cJSON_GetObjectItemCaseSensitive(o, "traceEvents")), format, "no events");
	cJSON_ArrayForEach(event, cJSON_GetObjectItemCaseSensitive(o, "traceEvents"))
	{
		const cJSON *at = cJSON_GetObjectItemCaseSensitive(event, "ts"),
			    *length = cJSON_GetObjectItemCaseSensitive(event, "dur");

		check(!at || at->valuedouble * 1e3 <= TIME_MAX, format, "a time that wrapped");
		check(!length || length->valuedouble * 1e3 <= TIME_MAX, format, "a length that wrapped");
	}
}

static void check_spans(const struct vprof_export_format *format, const cJSON *o)
{
	const cJSON *spans = cJSON_GetObjectItemCaseSensitive(
			    cJSON_GetArrayItem(
				    cJSON_GetObjectItemCaseSensitive(
					    cJSON_GetArrayItem(cJSON_GetObjectItemCaseSensitive(o, "resourceSpans"), 0),
					    "scopeSpans"),
				    0),
			    "spans"),
		    *span;

	check(cJSON_IsArray(spans), format, "no spans");
	cJSON_ArrayForEach(span, spans)
	{
		const char *from = cJSON_GetStringValue(cJSON_GetObjectItemCaseSensitive(span, "startTimeUnixNano"));
		const char *to = cJSON_GetStringValue(cJSON_GetObjectItemCaseSensitive(span, "endTimeUnixNano"));

		check(from && to && strtoull(from, NULL, 10) <= strtoull(to, NULL, 10), format,
		      "it ends before it begins");
	}
}

/* Weights of a profile add up to its end. */
static void check_profiles(const struct vprof_export_format *format, const cJSON *o)
{
	const cJSON *profile, *weight;

	cJSON_ArrayForEach(profile, cJSON_GetObjectItemCaseSensitive(o, "profiles"))
	{
		double end = cJSON_GetNumberValue(cJSON_GetObjectItemCaseSensitive(profile, "endValue")), sum = 0;

		cJSON_ArrayForEach(weight, cJSON_GetObjectItemCaseSensitive(profile, "weights"))
			sum += weight->valuedouble;
		check(fabs(sum - end) <= 1e-9 * sum, format, "the weights are not the whole");
	}
}

static void check_json(const struct vprof_export_format *format, const char *s, size_t n)
{
	cJSON *o = cJSON_ParseWithLength(s, n);

	check(cJSON_IsObject(o), format, "no JSON");
	if (!strcmp(format->name, "chrome"))
		check_trace_events(format, o);
	else if (!strcmp(format->name, "otlp"))
		check_spans(format, o);
	else if (!strcmp(format->name, "speedscope"))
		check_profiles(format, o);
	cJSON_Delete(o);
}

/* All rows have the fields of the first; a latency is no difference that wrapped. */
static void check_csv(const struct vprof_export_format *format, const char *s, size_t n)
{
	size_t n_fields = 1, n_first = 0, begin = 0;
	int is_quoted = 0;

	for (size_t i = 0; i < n; i++) {
		if (s[i] == '"')
			is_quoted = !is_quoted;
		if (is_quoted || (s[i] != ',' && s[i] != '\n'))
			continue;
		if (n_first && n_fields == 6 && format->part == VPROF_PART_INTERVALS)
			check(strtod(s + begin, NULL) <= TIME_MAX, format, "a latency that wrapped");
		begin = i + 1;
		if (s[i] == ',') {
			n_fields++;
			continue;
		}
		check(i && s[i - 1] == '\r', format, "no CRLF");
		n_first = n_first ? n_first : n_fields;
		check(n_fields == n_first, format, "rows of different lengths");
		n_fields = 1;
	}
	check(n_first && !is_quoted && begin == n, format, "an open row");
}

static void check_folded(const struct vprof_export_format *format, const char *s)
{
	for (const char *end; *s; s = end + 1) {
		const char *weight;

		end = strchr(s, '\n');
		check(end != NULL, format, "an open line");
		for (weight = end; weight > s && weight[-1] != ' '; weight--)
			;
		check(weight - 1 > s && strspn(weight, "0123456789") == (size_t)(end - weight) && end > weight, format,
		      "no weight");
	}
}

/* A varint's length, 0 when it is cut. */
static size_t take_varint(const unsigned char *s, size_t n, uint64_t *x)
{
	*x = 0;
	for (size_t i = 0; i < n && i < 10; i++) {
		*x |= (uint64_t)(s[i] & 0x7f) << 7 * i;
		if (s[i] < 0x80)
			return i + 1;
	}
	return 0;
}

/* Every field ends within its message; packets are the only fields of the outermost one. */
static void check_protobuf(const struct vprof_export_format *format, const unsigned char *s, size_t n, int depth)
{
	while (n) {
		uint64_t tag, x = 8;
		size_t used = take_varint(s, n, &tag);

		check(used && tag >> 3, format, "a cut tag");
		check(depth || tag == (1 << 3 | 2), format, "no packet");
		s += used;
		n -= used;
		used = 0;
		if ((tag & 7) != 1) {
			used = take_varint(s, n, &x);
			check(used != 0, format, "a cut number");
		}
		check((tag & 7) <= 2, format, "no wire type");
		if (!(tag & 7))
			x = 0;
		check(x <= n - used, format, "a cut field");
		if (!depth)
			check_protobuf(format, s + used, x, 1);
		s += used + x;
		n -= used + x;
	}
}

/* A gzip'd message: whole, and nothing after it. */
static void check_pprof(const struct vprof_export_format *format, unsigned char *s, size_t n)
{
	z_stream z = { .next_in = s, .avail_in = (uInt)n };
	size_t size = 0, cap = 1 << 16;
	unsigned char *out = NULL;
	int ret;

	check(inflateInit2(&z, 15 + 16) == Z_OK, format, "no memory");
	do {
		out = realloc(out, cap *= 2);
		check(out != NULL, format, "no memory");
		z.next_out = out + size;
		z.avail_out = (uInt)(cap - size);
		ret = inflate(&z, Z_NO_FLUSH);
		size = cap - z.avail_out;
	} while (ret == Z_OK);
	check(ret == Z_STREAM_END && !z.avail_in, format, "no gzip");
	check_protobuf(format, out, size, 1);
	inflateEnd(&z);
	free(out);
}

static void export(const struct vprof_export_format *format, const struct vprof_results *r,
		   const struct vprof_trace_part *part)
{
	struct vprof_export e = { .results = r, .part = part, .root = "/", .version = "0" };
	struct vprof_error err = { "" };
	char *s = NULL;
	size_t n = 0;
	int rc;

	e.to = open_memstream(&s, &n);
	if (!e.to)
		abort();
	rc = format->write(&e, &err);
	if (fclose(e.to))
		abort();
	check(!rc, format, err.message);
	if (!strcmp(format->name, "pprof")) {
		check_pprof(format, (unsigned char *)s, n);
	} else if (format->is_binary) {
		check_protobuf(format, (unsigned char *)s, n, 0);
	} else {
		check_utf8(format, s, n);
		if (!strncmp(format->name, "csv", 3))
			check_csv(format, s, n);
		else if (!strncmp(format->name, "folded", 6))
			check_folded(format, s);
		else
			check_json(format, s, n);
	}
	free(s);
}

static void export_results(const struct vprof_results *r)
{
	struct vprof_error err = { "" };

	if (vprof_export_check(r, &err))
		return;
	for (size_t i = 0; i < vprof_n_export_formats; i++)
		if (vprof_export_formats[i].part == VPROF_PART_NONE)
			export(&vprof_export_formats[i], r, NULL);
}

static void export_trace(const char *plan_path, uint8_t choice)
{
	static const struct vprof_part_options parts[] = {
		{ .which = NULL }, { .which = "slowest" }, { .which = "median" }, { .from_ns = 1e3, .to_ns = 1e6 },
		{ .limit = 3 },	   { .from_ns = 1e5 },	   { .which = "1" },	  { .limit = 100, .to_ns = 1e8 },
	};
	static const char *const formats[] = { "perfetto", "chrome", "otlp", "csv-intervals" };
	const struct vprof_export_format *format = vprof_export_find(formats[choice / 8 % 4]);
	struct vprof_part_options o = parts[choice % 8];
	struct vprof_trace_part *part = NULL;
	struct vprof_error err = { "" };

	o.trace_dir = fuzz_dir();
	o.plan_path = plan_path;
	if (vprof_part_open(&part, format->part, &o, &err))
		return;
	export(format, NULL, part);
	vprof_part_free(part);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n)
{
	static struct vprof_plan *plan;
	static char plan_path[256];
	struct vprof_analyze_options o = { .trace_dir = fuzz_dir(), .k = 3, .min_intervals = 2, .n_threads = 1 };
	struct vprof_results *r = NULL;
	struct vprof_error err = { "" };

	if (!n)
		return 0;
	if (!plan) {
		plan = fuzz_make_plan();
		snprintf(plan_path, sizeof plan_path, "%s", fuzz_file("plan.json", "", 0));
		if (!plan || vprof_plan_write(plan, plan_path, &err))
			abort();
	}
	o.plan = plan;
	if (data[0] == '{') {
		if (!vprof_results_read(&r, fuzz_file("results.json", data, n), &err))
			export_results(r);
		vprof_results_free(r);
		return 0;
	}
	fuzz_make_trace(data, n);
	if (data[n - 1] < 224)
		export_trace(plan_path, data[n - 1]);
	else if (!vprof_analyze(&r, &o, &err))
		export_results(r);
	vprof_results_free(r);
	return 0;
}
