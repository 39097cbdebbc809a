/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "trace/join/join.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "common/files.h"
#include "trace/join/join_messages.h"
#include "trace/join/join_units.h"
#include "trace/reader.h"
#include "trace/walk.h"

#define BETWEEN_NAMES ", "
#define START_TICKS (UINT64_C(1) << 40)
#define LATEST (UINT64_C(1) << 62) /* ticks and ns of a machine */
#define ROUNDING_NS 1000	   /* of times as numbers */
#define LONGEST 1e18		   /* ticks between two starts */

struct join {
	struct vprof_joined *out;
	const char *const *dirs;
	size_t n;
	struct vprof_trace *traces[VPROF_JOIN_MOST];
	struct vprof_join_host hosts[VPROF_JOIN_MOST];
	struct vp_file_header header;
	FILE *file;
	struct vprof_trace_buffer buffer;
};

static const char *host_name(const struct join *j, size_t i)
{
	return j->traces[i]->header.host[0] ? j->traces[i]->header.host : "a host";
}

/* ---- what cannot be joined ---- */

static int has_pauses(const struct vprof_trace *trace)
{
	struct vprof_trace_cursor cursor;
	const struct vp_unit *u;
	uint32_t n;
	int is_closed = 0;

	if (!trace->windows)
		return 0;
	vprof_trace_cursor_init(&cursor, trace->windows);
	while ((u = vprof_trace_next(&cursor, &n)))
		is_closed |= VP_CODE(u->w) == VP_KIND_WINDOW && !VP_PAYLOAD(u->w);
	return is_closed;
}

static int is_same_trace(const struct vp_file_header *a, const struct vp_file_header *b)
{
	return a->start_ticks == b->start_ticks && a->start_realtime_ns == b->start_realtime_ns &&
	       !strcmp(a->host, b->host);
}

static int check_trace(const struct join *j, size_t i, struct vprof_error *err)
{
	const struct vprof_trace *trace = j->traces[i];

	if (strstr(trace->header.host, BETWEEN_NAMES))
		return vprof_error_set(err, VPROF_ERR_INPUT, "%s is a joined run: name the runs of all hosts at once",
				       j->dirs[i]);
	if (trace->header.start_ticks > LATEST || trace->header.start_ns > LATEST || trace->header.end_ticks > LATEST)
		return vprof_error_set(err, VPROF_ERR_CORRUPT, "%s: the times in the header are damaged: record again",
				       j->dirs[i]);
	if (trace->plans)
		return vprof_error_set(
			err, VPROF_ERR_INPUT,
			"%s is of a live session, which opened and closed probes by itself: join runs of vprof run",
			j->dirs[i]);
	if (has_pauses(trace))
		return vprof_error_set(
			err, VPROF_ERR_INPUT,
			"%s has its calls in windows of time only, which are not those of the other hosts: "
			"record all of it with vprof run --between-hosts --budget 0",
			j->dirs[i]);
	return VPROF_OK;
}

static int open_traces(struct join *j, struct vprof_error *err)
{
	for (size_t i = 0; i < j->n; i++) {
		int rc = vprof_trace_open(&j->traces[i], j->dirs[i], err);

		if (rc)
			return rc;
		for (size_t k = 0; k < i; k++)
			if (is_same_trace(&j->traces[i]->header, &j->traces[k]->header))
				return vprof_error_set(err, VPROF_ERR_INPUT,
						       "%s and %s are the same trace: name each once", j->dirs[k],
						       j->dirs[i]);
		rc = check_trace(j, i, err);
		if (rc)
			return rc;
		vprof_trace_check(j->traces[i]);
		j->out->is_cut |= j->traces[i]->is_cut || j->traces[i]->n_bytes_ignored;
	}
	return VPROF_OK;
}

/* ---- numbers and clocks ---- */

static int give_numbers(struct join *j, struct vprof_error *err)
{
	uint64_t threads = 0, processes = 0, processors = 0;

	for (size_t i = 0; i < j->n; i++) {
		const struct vprof_trace *trace = j->traces[i];
		uint64_t thread = 0, process = 0, processor = 0;

		for (size_t k = 0; k < trace->n_threads; k++) {
			const struct vprof_trace_thread *t = &trace->threads[k];

			thread = t->thread_seq > thread ? t->thread_seq : thread;
			process = t->process_seq > process ? t->process_seq : process;
			process = t->parent_seq > process ? t->parent_seq : process;
		}
		for (size_t k = 0; k < trace->n_processors; k++)
			processor = trace->processors[k].process_seq > processor ? trace->processors[k].process_seq :
										   processor;
		j->hosts[i].threads = (uint32_t)threads;
		j->hosts[i].processes = (uint32_t)processes;
		j->hosts[i].processors = (uint32_t)processors;
		j->hosts[i].pids = (uint32_t)i * VPROF_JOIN_PIDS;
		j->hosts[i].number = i;
		threads += thread;
		processes += process;
		processors += processor;
		j->out->n_threads += trace->n_threads;
	}
	j->out->n_processes = processes;
	if (threads >= VP_THREAD_RESERVED || processes >= VP_THREAD_RESERVED || processors >= VP_THREAD_RESERVED)
		return vprof_error_set(err, VPROF_ERR_INPUT,
				       "the traces have too many threads together, or are damaged: join fewer");
	return VPROF_OK;
}

static int jumped(const struct join *j, size_t i, double early_ns, struct vprof_error *err)
{
	return vprof_error_set(
		err, VPROF_ERR_INPUT,
		"%s: messages between %s and another host arrived up to %.0f us before they were sent: a clock "
		"was set meanwhile, or the trace lacks messages. Record again",
		j->dirs[i], host_name(j, i), early_ns / 1000);
}

/* Nothing leads from this host to the others and back. */
static int why_unknown(const struct join *j, size_t i, const struct vprof_join_messages *m, struct vprof_error *err)
{
	const char *why = "no other host has the other end of one: record all at the same time, all with vprof run "
			  "--between-hosts; where addresses are translated in between, two ends do not know each other";

	if (m->n_older)
		why = "connections were made before both hosts were recorded: start recording before the programs connect";
	else if (m->n_unequal)
		why = "what was received is not what was sent: records were lost, or a program moves data without libc";
	else if (m->n_several)
		why = "several hosts have connections between the same addresses: their networks overlap";
	else if (m->between.n)
		why = "they led in one direction only, or several threads used each at once";
	return vprof_error_set(err, VPROF_ERR_INPUT, "%s: no connection tells how the clock of %s is: %s", j->dirs[i],
			       host_name(j, i), why);
}

static int check_clocks(const struct join *j, const struct vprof_join_messages *m, struct vprof_error *err)
{
	const struct vprof_host_clocks *clocks = &j->out->clocks;

	for (size_t i = 0; i < j->n; i++) {
		if (clocks->v.v[i].is_known && !(clocks->v.v[i].error_ns < 0))
			continue;
		if (clocks->v.v[i].is_known)
			return jumped(j, i, -clocks->v.v[i].error_ns, err);
		return why_unknown(j, i, m, err);
	}
	return VPROF_OK;
}

/* The bounds of pairs of hosts by which no clock was settled hold, too. */
static int check_messages(const struct join *j, const struct vprof_join_messages *m, struct vprof_error *err)
{
	const struct vprof_host_clocks *clocks = &j->out->clocks;

	for (size_t i = 0; i < m->v.n; i++) {
		const struct vprof_host_message *message = &m->v.v[i];
		double early = vprof_host_clock_common(clocks, message->from, message->sent) -
			       vprof_host_clock_common(clocks, message->to, message->received);

		if (early > j->out->errors_ns[message->from] + j->out->errors_ns[message->to] + ROUNDING_NS)
			return jumped(j, message->to, early, err);
	}
	return VPROF_OK;
}

static void set_header(struct join *j, const struct vp_file_header *root, double start_ns)
{
	struct vp_file_header *h = &j->header;
	size_t used = 0;

	*h = (struct vp_file_header){ .magic = VP_FILE_MAGIC,
				      .version = VP_FORMAT_VERSION,
				      .clock = root->clock,
				      .ns_per_tick = root->ns_per_tick,
				      .start_ticks = START_TICKS,
				      .start_ns = start_ns > 0 && start_ns < (double)LATEST ? (uint64_t)start_ns : 0,
				      .record_ns = root->record_ns,
				      .record_inside_ns = root->record_inside_ns,
				      .has_switches = 1 };
	h->start_realtime_ns = root->start_realtime_ns + h->start_ns - root->start_ns;
	for (size_t i = 0; i < j->n; i++) {
		const struct vp_file_header *of = &j->traces[i]->header;
		uint64_t end = vprof_join_time(&j->hosts[i], of->end_ticks);
		int n = snprintf(h->host + used, sizeof h->host - used, "%s%s", i ? BETWEEN_NAMES : "",
				 host_name(j, i));

		used = n > 0 && used + (size_t)n < sizeof h->host ? used + (size_t)n : sizeof h->host - 1;
		h->end_ticks = !of->end_ticks || (i && !h->end_ticks) ? 0 : end > h->end_ticks ? end : h->end_ticks;
		h->n_dropped += of->n_dropped;
		h->n_switches_lost += of->n_switches_lost;
		j->out->has_kernel |= of->kernel_scope != VP_KERNEL_NOT;
		if (!of->has_switches && h->has_switches) {
			h->has_switches = 0;
			snprintf(h->no_switches, sizeof h->no_switches, "%.60s: %.170s", host_name(j, i),
				 of->no_switches);
		}
	}
	if (j->out->is_cut)
		h->end_ticks = 0; /* as of a trace that was not finished */
	if (h->end_ticks)
		h->end_ns = h->start_ns +
			    (uint64_t)fmin((double)(h->end_ticks - START_TICKS) * h->ns_per_tick, (double)LATEST);
	j->out->has_switches = h->has_switches != 0;
}

static double recorded_ns(const struct vprof_trace *trace)
{
	const struct vp_file_header *h = &trace->header;

	return h->end_ticks > h->start_ticks ? fmin(vprof_trace_ns(trace, h->end_ticks), (double)LATEST) : 0;
}

static void note_cost(struct vprof_joined *joined, double ns)
{
	joined->record_least_ns =
		joined->record_least_ns > 0 && joined->record_least_ns < ns ? joined->record_least_ns : ns;
	joined->record_most_ns = ns > joined->record_most_ns ? ns : joined->record_most_ns;
}

/* All times become ticks of the host's clock to which the others are brought, from the first one's start on. */
static int set_times(struct join *j, struct vprof_error *err)
{
	const struct vprof_host_clocks *clocks = &j->out->clocks;
	const struct vp_file_header *root = NULL;
	double start_ns = 0;

	for (uint32_t i = 0; i < j->n; i++) {
		double ns = vprof_host_clock_common(clocks, i, j->traces[i]->header.start_ns);

		start_ns = !i || ns < start_ns ? ns : start_ns;
		if (!root && clocks->v.v[i].via == VPROF_NONE)
			root = &j->traces[i]->header;
	}
	for (uint32_t i = 0; i < j->n; i++) {
		const struct vp_file_header *h = &j->traces[i]->header;
		double to = (vprof_host_clock_common(clocks, i, h->start_ns) - start_ns) / root->ns_per_tick;

		if (!(to < LONGEST))
			return vprof_error_set(err, VPROF_ERR_CORRUPT, "%s: the times are damaged: record again",
					       j->dirs[i]);
		j->out->errors_ns[i] = vprof_host_clock_error(
			&clocks->v.v[i], h->start_ns, h->start_ns + (uint64_t)fmax(0, recorded_ns(j->traces[i])));
		note_cost(j->out, h->record_ns);
		j->hosts[i].from = h->start_ticks;
		j->hosts[i].to = START_TICKS + (uint64_t)to;
		j->hosts[i].rate = h->ns_per_tick / (1 + clocks->v.v[i].drift) / root->ns_per_tick;
	}
	set_header(j, root, start_ns);
	return VPROF_OK;
}

/* ---- writing ---- */

static int write_failed(const char *path, struct vprof_error *err)
{
	return vprof_error_because(err, VPROF_ERR_FAILED, vprof_error_reason_of(errno),
				   "cannot write %s: %s; free space or choose another folder", path, strerror(errno));
}

/* Records behind the first damaged one of a chunk are left out, as by every reader. 1: it could not be written. */
static int write_chunk(struct join *j, const struct vprof_join_host *host, const struct vp_chunk_header *chunk)
{
	struct vp_unit units[VP_UNITS_MAX_BYTES / VP_UNIT_BYTES];
	struct vp_chunk_header h = *chunk;
	size_t n;
	const struct vp_unit *from = vprof_chunk_units(chunk, &j->buffer, &n), *at = units, *u;
	uint32_t n_units;

	if (!from)
		return 0; /* damaged, as was told */
	memcpy(units, from, n * sizeof *units);
	while ((u = vp_walk_next(&at, units + n, &n_units)))
		vprof_join_record(host, &units[u - units]);
	h.magic = VP_CHUNK_MAGIC;
	h.n_stored = 0;
	h.n_bytes = (uint32_t)((size_t)(at - units) * sizeof *units);
	vprof_join_header(host, &h);
	j->header.n_chunks++;
	return fwrite(&h, sizeof h, 1, j->file) != 1 || (h.n_bytes && fwrite(units, h.n_bytes, 1, j->file) != 1);
}

static int write_threads(struct join *j, const struct vprof_join_host *host, const struct vprof_trace_thread *threads,
			 size_t n)
{
	int failed = 0;

	for (size_t i = 0; i < n && !failed; i++)
		for (size_t k = 0; k < threads[i].n_chunks && !failed; k++)
			failed = write_chunk(j, host, threads[i].chunks[k]);
	return failed;
}

static int write_file(struct join *j, const char *path, struct vprof_error *err)
{
	int failed;

	j->file = fopen(path, "we");
	if (!j->file)
		return write_failed(path, err);
	failed = fwrite(&j->header, sizeof j->header, 1, j->file) != 1;
	for (size_t i = 0; i < j->n && !failed; i++) {
		failed = write_threads(j, &j->hosts[i], j->traces[i]->threads, j->traces[i]->n_threads);
		if (!failed && j->header.has_switches)
			failed = write_threads(j, &j->hosts[i], j->traces[i]->processors, j->traces[i]->n_processors);
	}
	failed = failed || fseek(j->file, 0, SEEK_SET) || fwrite(&j->header, sizeof j->header, 1, j->file) != 1;
	if (fclose(j->file))
		failed = 1;
	if (failed) {
		int rc = write_failed(path, err);

		unlink(path);
		return rc;
	}
	return VPROF_OK;
}

static int write_trace(struct join *j, const char *out_dir, struct vprof_error *err)
{
	char *path = vprof_path_join(out_dir, "records.vpt");
	int rc = path ? vprof_dir_make(out_dir, err) : vprof_error_no_memory(err);

	if (!rc)
		rc = write_file(j, path, err);
	free(path);
	return rc;
}

int vprof_trace_join(struct vprof_joined *joined, const char *out_dir, const char *const *dirs, size_t n,
		     struct vprof_error *err)
{
	struct join j = { .out = joined, .dirs = dirs, .n = n };
	struct vprof_join_messages messages = { 0 };
	int rc;

	*joined = (struct vprof_joined){ 0 };
	if (n < 2 || n > VPROF_JOIN_MOST)
		return vprof_error_set(err, VPROF_ERR_INPUT, "%zu traces cannot be joined: name 2 to %u", n,
				       VPROF_JOIN_MOST);
	rc = open_traces(&j, err);
	if (!rc)
		rc = give_numbers(&j, err);
	if (!rc && (vprof_join_messages_find(&messages, j.traces, n) ||
		    vprof_host_clocks_settle(&joined->clocks, n, messages.v.v, messages.v.n)))
		rc = vprof_error_no_memory(err);
	if (!rc)
		rc = check_clocks(&j, &messages, err);
	if (!rc)
		rc = set_times(&j, err);
	if (!rc)
		rc = check_messages(&j, &messages, err);
	joined->n_connections = messages.between.n;
	joined->n_several = messages.n_several;
	for (size_t i = 0; i < n; i++) {
		j.hosts[i].between = messages.between.v;
		j.hosts[i].n_between = messages.between.n;
	}
	if (!rc)
		rc = write_trace(&j, out_dir, err);
	vprof_join_messages_release(&messages);
	for (size_t i = 0; i < n; i++)
		vprof_trace_free(j.traces[i]);
	vprof_trace_buffer_release(&j.buffer);
	return rc;
}

void vprof_joined_release(struct vprof_joined *joined)
{
	vprof_host_clocks_release(&joined->clocks);
}
