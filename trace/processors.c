/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A CPU's chunk is allocated at its first context switch: most CPUs of a large machine never run a thread of a small
 * target. The switches of a chunk that could not be stored are counted as lost, and the next chunk reports them.
 */
#include "trace/processors.h"

#include <stdlib.h>

#define START_NS 13000.0 /* what one event adds to a thread's start and end */
#define STARTS_SHARE 0.03
#define GRACE_S 0.5

#define UNITS_MAX ((uint32_t)((VP_CHUNK_BYTES - sizeof(struct vp_chunk_header)) / VP_UNIT_BYTES))

struct gathering {		       /* of one CPU */
	struct vp_chunk_header *chunk; /* VP_CHUNK_BYTES, or NULL */
	uint32_t n_units, chunk_seq;
	uint64_t n_missing; /* lost since its last unit, and not yet reported in the trace */
	uint64_t n_told;    /* switches in and out, including lost ones */
};

struct vprof_processors {
	struct vprof_processors_options o;
	struct vprof_switches *switches; /* NULL: stopped */
	uint64_t started_ns;
	struct gathering *of; /* [n] by CPU */
	uint32_t n;
	uint64_t n_switches, n_lost, n_starts;
};

static struct gathering *gathering_of(struct vprof_processors *p, uint32_t cpu)
{
	if (cpu >= p->n) {
		struct gathering *more = realloc(p->of, (cpu + 1) * sizeof *more);

		if (!more)
			return NULL;
		for (uint32_t i = p->n; i <= cpu; i++)
			more[i] = (struct gathering){ .chunk = NULL };
		p->of = more;
		p->n = cpu + 1;
	}
	if (!p->of[cpu].chunk)
		p->of[cpu].chunk = calloc(1, VP_CHUNK_BYTES);
	return p->of[cpu].chunk ? &p->of[cpu] : NULL;
}

static void store_one(struct vprof_processors *p, uint32_t cpu)
{
	struct gathering *g = &p->of[cpu];
	const struct vp_unit *units;
	uint64_t n_lost = 0;

	if (!g->chunk || !g->n_units)
		return;
	units = (const void *)(g->chunk + 1);
	*g->chunk = (struct vp_chunk_header){ .magic = VP_CHUNK_MAGIC,
					      .n_bytes = g->n_units * VP_UNIT_BYTES,
					      .tid = cpu,
					      .thread_seq = VP_THREAD_PROCESSOR,
					      .chunk_seq = g->chunk_seq++,
					      .process_seq = cpu + 1 };
	if (p->o.store(p->o.arg, g->chunk, units)) {
		for (uint32_t i = 0; i < g->n_units; i++)
			n_lost += VP_CODE(units[i].w) == VP_KIND_SWITCH ? 1 : VP_PAYLOAD(units[i].w);
		g->n_missing += n_lost;
		for (uint32_t i = 0; i < g->n_units; i++)
			p->n_lost += VP_CODE(units[i].w) == VP_KIND_SWITCH;
	}
	g->n_units = 0;
}

static void add_unit(struct vprof_processors *p, uint32_t cpu, uint64_t t, uint64_t w)
{
	struct gathering *g = &p->of[cpu];

	((struct vp_unit *)(g->chunk + 1))[g->n_units++] = (struct vp_unit){ t, w };
	if (g->n_units == UNITS_MAX)
		store_one(p, cpu);
}

static void add_event(void *arg, uint32_t cpu, const struct vprof_switch_event *e)
{
	struct vprof_processors *p = arg;
	struct gathering *g;

	if (e->is_start) {
		p->n_starts++;
		return;
	}
	g = gathering_of(p, cpu);
	p->n_lost += e->n_lost;
	p->n_switches += !e->n_lost;
	if (!g) {
		p->n_lost += !e->n_lost;
		return;
	}
	g->n_missing += e->n_lost;
	g->n_told += e->n_lost ? e->n_lost : 1;
	if (g->n_missing) {
		uint64_t n = g->n_missing < VP_PAYLOAD_MAX ? g->n_missing : VP_PAYLOAD_MAX;

		g->n_missing = 0;
		add_unit(p, cpu, e->t, VP_W(VP_KIND_SWITCHES_LOST, n));
	}
	if (!e->n_lost)
		add_unit(p, cpu, e->t, VP_W(VP_KIND_SWITCH, e->tid | (uint64_t)e->flags << 32));
}

int vprof_processors_open(struct vprof_processors **out, const struct vprof_processors_options *o,
			  struct vprof_error *err)
{
	struct vprof_processors *p = calloc(1, sizeof *p);
	int code;

	*out = NULL;
	if (!p)
		return vprof_error_set(err, VPROF_ERR_NOMEM, "out of memory for the kernel's switch records");
	p->o = *o;
	p->started_ns = vprof_clock_monotonic_ns();
	code = vprof_switches_open(&p->switches, o->pid, o->clock, err);
	if (code)
		free(p);
	else
		*out = p;
	return code;
}

void vprof_processors_close(struct vprof_processors *p)
{
	if (!p)
		return;
	vprof_switches_close(p->switches);
	for (uint32_t i = 0; i < p->n; i++)
		free(p->of[i].chunk);
	free(p->of);
	free(p);
}

static int is_too_much(const struct vprof_processors *p)
{
	double seconds = (double)(vprof_clock_monotonic_ns() - p->started_ns) / 1e9;
	double most = 2.0 * p->o.most * (seconds + GRACE_S); /* each thread switches in and out */
	double starts_s = (double)p->n_starts * vprof_switches_processors(p->switches) * START_NS / 1e9;

	for (uint32_t i = 0; p->o.most && i < p->n; i++)
		if ((double)p->of[i].n_told > most)
			return 1;
	return p->o.most && starts_s > STARTS_SHARE * seconds + GRACE_S;
}

void vprof_processors_drain(struct vprof_processors *p)
{
	if (!p || !p->switches)
		return;
	vprof_switches_drain(p->switches, add_event, p);
	if (is_too_much(p)) {
		vprof_switches_close(p->switches);
		p->switches = NULL;
	}
}

void vprof_processors_flush(struct vprof_processors *p)
{
	vprof_processors_drain(p);
	for (uint32_t i = 0; p && i < p->n; i++)
		store_one(p, i);
}

int vprof_processors_stopped(const struct vprof_processors *p)
{
	return p && !p->switches;
}

uint64_t vprof_processors_count(const struct vprof_processors *p)
{
	return p ? p->n_switches : 0;
}

uint64_t vprof_processors_lost(const struct vprof_processors *p)
{
	return p ? p->n_lost : 0;
}
