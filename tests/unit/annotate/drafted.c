/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "drafted.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "annotate/check/annotations.h"
#include "common/files.h"

char drafted_dir[] = "/tmp/vprof-discover-XXXXXX";
const struct vprof_watched *drafted_watched;
const struct vprof_found_queues *drafted_found;
static struct vprof_facts *facts; /* the draft's strings refer to them */

int add(struct made *m, const char *name, const char *returns, const char *params, const char *signature)
{
	return made_function(m, &(struct made_function){ name, returns, strcmp(returns, "void") ? "scalar" : "void",
							 params, signature });
}

void finish(struct vprof_draft *draft)
{
	vprof_draft_free(draft);
	vprof_facts_free(facts);
	facts = NULL;
}

struct vprof_draft *discover(void (*make)(struct made *))
{
	struct vprof_callgraph *graph;
	struct vprof_draft *draft;
	struct vprof_error err = { "" };
	struct made m;
	char path[128];

	made_open(&m, drafted_dir);
	make(&m);
	made_close(&m);
	snprintf(path, sizeof path, "%s/facts.db", drafted_dir);
	if (vprof_facts_open(&facts, path, &err) || vprof_callgraph_build(&graph, facts, &err) ||
	    vprof_discover(facts, graph, drafted_watched, drafted_found, &draft, &err))
		fail_msg("%s", err.message);
	vprof_callgraph_free(graph);
	return draft;
}

void expect_readable(void (*make)(struct made *), const char *run, size_t n_hooks)
{
	static const char build[] = "make \"CC=gcc -g\"\\n all";
	struct vprof_draft *draft = discover(make);
	struct vprof_annotations *a;
	struct vprof_error err = { "" };
	char path[128];

	snprintf(path, sizeof path, "%s/vprof.json", drafted_dir);
	assert_int_equal(vprof_draft_write(draft, path, build, run, &err), 0);
	if (vprof_annotations_read(&a, path, &err))
		fail_msg("%s", err.message);
	assert_int_equal(a->n_hooks, n_hooks);
	assert_string_equal(a->build, build);
	assert_int_equal(a->run != NULL, run != NULL);
	vprof_annotations_free(a);
	finish(draft);
}

int drafted_set_up(void **state)
{
	(void)state;
	return mkdtemp(drafted_dir) ? 0 : -1;
}

int drafted_tear_down(void **state)
{
	(void)state;
	return vprof_dir_remove(drafted_dir, NULL);
}
