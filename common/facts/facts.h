/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What the scan knows of the sources, read from facts.db (tables: common/facts/facts_schema.h).
 *
 * vprof_facts_open loads functions, calls, addresses and overrides into memory once (PostgreSQL's
 * 17,839 functions and 138,138 calls take about 40 MB) and everything below is a plain array lookup.
 * Strings live as long as the facts. Functions and calls are sorted by id. Thread-safe for reading.
 */
#ifndef VPROF_FACTS_H
#define VPROF_FACTS_H

#include <stddef.h>
#include <stdint.h>

#include "common/error.h"

struct vprof_facts_file {
	uint32_t id;
	const char *path; /* absolute */
	const char *hash; /* 16 hex digits */
	int in_project;
};

/* The words of facts.db (facts_schema.h) become these where it is read. What this vprof does not know is OTHER. */
enum vprof_lang { VPROF_LANG_OTHER, VPROF_LANG_C, VPROF_LANG_CXX };

enum vprof_tu_status {
	VPROF_TU_ERRORS, /* parsed with errors: its facts are partial */
	VPROF_TU_OK,
	VPROF_TU_FAILED, /* no facts */
};

enum vprof_return_kind {
	VPROF_RETURNS_OTHER,
	VPROF_RETURNS_VOID,
	VPROF_RETURNS_SCALAR,
	VPROF_RETURNS_RECORD,
	VPROF_RETURNS_REFERENCE,
};

struct vprof_facts_tu {
	uint32_t id;
	const char *path, *directory, *output, *arguments /* JSON array */, *diagnostics;
	enum vprof_lang lang;
	enum vprof_tu_status status;
	const uint32_t *files; /* ids of the project files it read */
	size_t n_files;
};

struct vprof_facts_function {
	uint32_t id, file;
	const char *name, *display, *usr, *returns, *params /* JSON */, *signature, *reason;
	const char *twin; /* why it cannot have an instrumented twin; "": it can */
	enum vprof_lang lang;
	enum vprof_return_kind return_kind;
	int line, end_line, size;
	int64_t body_begin, body_end, head_begin, name_end;
	unsigned is_static : 1, is_tiny : 1, instrumentable : 1;
	uint32_t first_call, n_calls; /* range in vprof_facts.calls_by_caller */
};

/* What may enclose a call (docs/design/call-sites.md). */
enum vprof_call_form {
	VPROF_FORM_STATEMENT, /* a statement expression */
	VPROF_FORM_VALUE,     /* C++: a number or pointer, given back by value */
	VPROF_FORM_REFERENCE, /* C++: what a reference can be bound to, given back by reference */
	VPROF_FORM_VOID,      /* C++: nothing */
	VPROF_FORM_SCOPE,     /* C++: anything; closed where the full expression ends, and only where nothing follows */
};

enum vprof_call_kind {
	VPROF_CALL_DIRECT,
	VPROF_CALL_POINTER,
	VPROF_CALL_VIRTUAL,
	VPROF_CALL_CONSTRUCT,
	VPROF_CALL_DESTROY
};

struct vprof_facts_call {
	uint32_t id, caller, file;
	int64_t begin, end;
	int line, col;
	const char *callee, *callee_usr, *signature, *reason, *args /* JSON */;
	enum vprof_call_kind kind;
	enum vprof_call_form form;
	unsigned wrappable : 1, in_loop : 1;
	unsigned is_noreturn : 1; /* the callee is declared never to return */
	uint32_t callee_function; /* index+1 into functions when its body is in the project, else 0 */
};

/* Where the address of a function is taken. */
enum vprof_address_use {
	VPROF_ADDRESS_OTHER,
	VPROF_ADDRESS_ARGUMENT,
	VPROF_ADDRESS_INITIALIZER,
	VPROF_ADDRESS_ASSIGNED
};

struct vprof_facts_address {
	const char *function_usr, *name, *signature, *target;
	enum vprof_address_use use;
	int arg, line;
	uint32_t file, caller;
	uint32_t function; /* index+1 into functions, or 0 */
};

/* C++: what a return statement gives back. */
enum vprof_exit_value {
	VPROF_EXIT_EXPRESSION,
	VPROF_EXIT_BRACES,   /* {...} */
	VPROF_EXIT_VARIABLE, /* a variable of the result's type */
	VPROF_EXIT_MOVED,    /* a local of another type, which is moved into the result */
};

struct vprof_facts_exit {  /* a return statement; columns of exit_site in facts_schema.h */
	uint32_t function; /* function.id */
	int64_t begin, end, expr_begin, expr_end;
	int line, editable;
	enum vprof_exit_value value;
	const char *variable; /* its name */
};

enum vprof_guarded_kind { VPROF_GUARDED_STORE, VPROF_GUARDED_LOAD, VPROF_GUARDED_COPY, VPROF_GUARDED_CALL };

struct vprof_facts_guarded { /* memory that a lock may guard; columns of guarded in facts_schema.h */
	uint32_t function;   /* function.id */
	enum vprof_guarded_kind kind;
	const char *object, *usr, *type, *value; /* equal USRs are one pointer */
	int is_locked;				 /* else only if the caller holds a lock */
	int line;
};

struct vprof_facts {
	const char *root; /* absolute project root */
	struct vprof_facts_file *files;
	struct vprof_facts_tu *tus;
	struct vprof_facts_function *functions;
	struct vprof_facts_call *calls;
	struct vprof_facts_address *addresses;
	const uint32_t *calls_by_caller; /* indices into calls, grouped by caller */
	size_t n_files, n_tus, n_functions, n_calls, n_addresses;
	const struct vprof_facts_exit *exits; /* sorted by function, begin */
	size_t n_exits;
	const struct vprof_facts_guarded *guarded; /* sorted by function */
	size_t n_guarded;
	struct vprof_facts_private *private;
};

/* MISSING: there is no such file. CORRUPT: it is not a facts.db of this version. */
int vprof_facts_open(struct vprof_facts **out, const char *path, struct vprof_error *err);
void vprof_facts_free(struct vprof_facts *facts);

/* As facts.db spells it: "errors", "ok" or "failed". */
const char *vprof_tu_status_name(enum vprof_tu_status status);

const struct vprof_facts_file *vprof_facts_file(const struct vprof_facts *f, uint32_t id);
const struct vprof_facts_function *vprof_facts_function(const struct vprof_facts *f, uint32_t id);
const struct vprof_facts_call *vprof_facts_call(const struct vprof_facts *f, uint32_t id);

/* The i-th of the n_calls calls that the function makes. */
static inline const struct vprof_facts_call *vprof_facts_call_of(const struct vprof_facts *f,
								 const struct vprof_facts_function *caller, uint32_t i)
{
	return &f->calls[f->calls_by_caller[caller->first_call + i]];
}

/* The index of the function that makes the call; UINT32_MAX: unknown (never in facts that were read). */
uint32_t vprof_facts_caller(const struct vprof_facts *f, const struct vprof_facts_call *call);

/* All functions with that __func__ or display name; `file_suffix` (may be NULL) narrows to files whose
 * path ends with it. Writes up to `max` indices into f->functions, returns how many there are. */
size_t vprof_facts_find(const struct vprof_facts *f, const char *name, const char *file_suffix, uint32_t *indices,
			size_t max);

/* The known function name closest to `name` (edit distance), or NULL when none is close. */
const char *vprof_facts_nearest(const struct vprof_facts *f, const char *name);

/* Bodies in the project that override the virtual method `usr`, itself included. Indices as _find. */
size_t vprof_facts_overriders(const struct vprof_facts *f, const char *usr, uint32_t *indices, size_t max);

/* Functions whose address is taken and whose type fits an indirect call. Indices as _find, no duplicates. */
size_t vprof_facts_pointer_targets(const struct vprof_facts *f, const char *signature, uint32_t *indices, size_t max);

/* 1 when what the function returns can be kept in a variable of its type: C++ objects need C++11's lambdas for that,
 * and a type without a name cannot be written. */
int vprof_facts_return_can_be_examined(const struct vprof_facts *f, const struct vprof_facts_function *function);

/* Did the unit read the project file with this id? O(log files). */
int vprof_facts_tu_reads(const struct vprof_facts_tu *tu, uint32_t file);

/* 1 when more units read the file `header` than the file `user`: an edit there causes more units to be compiled.
 * O(units). */
int vprof_facts_is_shared(const struct vprof_facts *f, uint32_t user, uint32_t header);

/* Compares every project file's hash with the file on disk: STALE, naming the first that differs, else OK. */
int vprof_facts_check_fresh(const struct vprof_facts *f, struct vprof_error *err);

#endif
