/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The plan of a run: which functions and call sites carry a probe, and when its gate is open.
 *
 * A plan is made from facts and the session's decisions (instrumenter/plan_make.h), drives the splice, is
 * stored as runs/NNNN/plan.json, and tells the analysis what each code in the trace means, so that it needs
 * no facts. Codes are those of trace/format.h.
 *
 * Gates. Each thread has one gate word: the context bit of its innermost measured frame. Bit 0
 * (VPROF_CONTEXT_TOP) is open when no measured frame is active, bit 1 (VPROF_CONTEXT_LEAF) inside a measured
 * frame that is not broken down, bits 2..63 inside broken-down functions (assigned in the order in which
 * they were broken down, so that a new round does not change earlier edits; beyond 62 they are shared, which
 * only costs a few extra records). A probe records when (gate & mask) != 0. A root's mask has all bits set. In a live
 * session functions have bits of their own before they are broken down, too (cli/live/live_contexts.h).
 */
#ifndef VPROF_PLAN_H
#define VPROF_PLAN_H

#include <stddef.h>
#include <stdint.h>

#include "common/error.h"

#define VPROF_CONTEXT_TOP 0
#define VPROF_CONTEXT_LEAF 1
#define VPROF_CONTEXT_FIRST 2
#define VPROF_MASK_ANY UINT64_MAX
#define VPROF_HOSTS_MAX 8

enum vprof_probe_kind {
	VPROF_PROBE_FUNCTION, /* prologue and epilogue of a project function */
	VPROF_PROBE_SITE,     /* call site of a function without a body in the project */
	VPROF_PROBE_POINTER,  /* call site through a function pointer */
};

struct vprof_probe {
	uint32_t code; /* trace code (trace/format.h) */
	enum vprof_probe_kind kind;
	uint32_t fact_id; /* function.id or call.id */
	uint64_t mask;	  /* records when (gate & mask) */
	int context;	  /* bit that it sets: VPROF_CONTEXT_LEAF, or its own */
	int is_root;	  /* measured wherever it runs: emits an ENTER record too */
	int broken_down;
	int is_changed;	     /* of a live session: under an earlier plan it set another context bit */
	int every_call;	     /* all calls are recorded, however many there are: hot functions are not sampled */
	uint32_t height;     /* in the static call graph: how much its children could still tell */
	uint32_t n_children; /* children that could be measured if it were broken down */
	const char *name;    /* __func__, the external callee, or the pointer expression */
	const char *display; /* name as reports show it: qualified, or "(*c->cmd->proc)" */
	const char *file;    /* relative to the root when inside it */
	int line;	     /* of the definition or call */
	const char *caller;  /* sites: the function that contains the call, else "" */
	int caller_line;
	/* of a live session: codes of functions in whose code it lies, too, so that it is recorded only within calls of
	   them that began when it was open (cli/live/live_hosts.h); 0: no more */
	uint32_t hosts[VPROF_HOSTS_MAX];
};

/* A function measured at one of its calls instead of in its body (instrumenter/plan/plan_at_calls.c). */
struct vprof_plan_call {
	uint32_t call; /* call.id */
	uint32_t code; /* of the function's probe, whose own mask is 0 */
	uint64_t mask;
};

/* A function or call site that is not measured, although its caller is broken down: recording it cost much, and it
 * cannot matter (cli/drilldown/close.h). Its time counts in its callers. name, file, caller, display, line: as those of
 * its probe. */
struct vprof_closed {
	const char *name, *file, *caller, *display;
	int line;
	double bound;	 /* of the variance: no more is its share, or would go if it always took its mean; 0..1 */
	double saved_ns; /* that recording it, and what lies below it, took of the mean latency */
	double saved;	 /* the same, as a part of the mean latency without recording */
	const char *run; /* folder's name of the run that told so */
};

/* As plan.json and session.json have it. NULL without memory. */
struct cJSON *vprof_closed_json(const struct vprof_closed *c);
/* The strings are borrowed from `o`. OK or CORRUPT. */
int vprof_closed_from_json(struct vprof_closed *c, const struct cJSON *o);

struct vprof_plan {
	const char *root;	    /* project root, absolute */
	uint32_t number;	    /* in a live session's PLAN records, from 1; 0: of an ordinary build */
	int all;		    /* every instrumentable function (vprof build --all) */
	int live;		    /* of a resident build: masks are decided while the program runs */
	uint32_t graph_height;	    /* largest height over the roots: height(call_graph) of equation 3 */
	struct vprof_probe *probes; /* sorted by code */
	size_t n_probes;
	struct vprof_plan_call *at_calls; /* sorted by call, one for each */
	size_t n_at_calls;
	struct vprof_closed *closed; /* in the order in which they were */
	size_t n_closed;
	struct vprof_plan_private *private;
};

int vprof_plan_read(struct vprof_plan **out, const char *path, struct vprof_error *err);
int vprof_plan_write(const struct vprof_plan *plan, const char *path, struct vprof_error *err);
/* An empty plan, to which probes are added; _add copies strings. */
struct vprof_plan *vprof_plan_new(const char *root);
/* OK or NOMEM; the masks of probes with the same code are merged */
int vprof_plan_add(struct vprof_plan *plan, const struct vprof_probe *probe);
/* Masks of one call are merged. OK or NOMEM. */
int vprof_plan_add_call(struct vprof_plan *plan, const struct vprof_plan_call *call);
/* Copies the strings. OK or NOMEM. */
int vprof_plan_add_closed(struct vprof_plan *plan, const struct vprof_closed *closed);
void vprof_plan_free(struct vprof_plan *plan);
/* Measured at calls in plan->at_calls; its body is not edited. */
static inline int vprof_probe_is_at_calls(const struct vprof_probe *p)
{
	return p->kind == VPROF_PROBE_FUNCTION && !p->mask && !p->broken_down;
}

const struct vprof_probe *vprof_plan_probe(const struct vprof_plan *plan, uint32_t code); /* or NULL */
/* Codes of the probes of which every call is recorded, rising; at most `max`. Returns how many. */
size_t vprof_plan_every_call(const struct vprof_plan *plan, uint32_t *codes, size_t max);

#endif
