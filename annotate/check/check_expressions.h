/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Type-checks annotation expressions in the scope of their functions, with libclang. Private to
 * annotate/check/check.c. */
#ifndef VPROF_CHECK_EXPRESSIONS_H
#define VPROF_CHECK_EXPRESSIONS_H

#include "annotate/check/findings.h"
#include "common/facts/facts.h"

enum vprof_expr_role {
	VPROF_EXPR_IDENTITY, /* pointer or integer */
	VPROF_EXPR_LABEL,    /* string or integer */
	VPROF_EXPR_AMOUNT,   /* integer */
	VPROF_EXPR_TRUTH,    /* whatever `if` takes */
};

struct vprof_expr_task {
	const struct vprof_expr *expr;
	enum vprof_expr_role role;
	const struct vprof_facts_function *function;
	size_t hook; /* index into the annotations' hooks */
	/* results */
	enum vprof_severity severity;
	const char *message;
	/* used while checking */
	const struct vprof_facts_tu *tu;
	size_t begin, end; /* bytes inserted, in the file as the compiler sees it */
	int done;
};

/* Fills severity and message of every task; messages live in `arena`. */
int vprof_check_expressions(const struct vprof_facts *facts, struct vprof_expr_task *tasks, size_t n_tasks,
			    struct vprof_arena *arena, struct vprof_error *err);

/* "src/networking.c:1837": relative to the project's root where possible. */
const char *vprof_check_location(struct vprof_arena *arena, const struct vprof_facts *facts,
				 const struct vprof_facts_function *function);

#endif
