/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The tables of facts.db: written by vprof-scan, read through common/facts/facts.h.
 *
 * All offsets are byte offsets into the file as it was when `file.hash` was taken; a file whose hash
 * differs now is stale and must be scanned again before anything is spliced into it. Rows of a file are
 * replaced together when its content changed; ids are never used twice (AUTOINCREMENT), because trace
 * records carry them (trace/format.h).
 */
#ifndef VPROF_FACTS_SCHEMA_H
#define VPROF_FACTS_SCHEMA_H

#define VPROF_FACTS_VERSION 6
#define VPROF_FACTS_TEXT_(number) #number
#define VPROF_FACTS_TEXT(number) VPROF_FACTS_TEXT_(number)
#define VPROF_FACTS_VERSION_TEXT VPROF_FACTS_TEXT(VPROF_FACTS_VERSION)

/* Tables and columns:
 *
 * - meta: keys: version, root (absolute project root), scanner.
 * - file: path: absolute, as reached by the compiler, normalised. hash: vprof_file_hash.
 * - tu: output: absolute. arguments: JSON array, the recorded command. lang: c or c++. status: ok, errors (parsed with
 *   errors, the facts are partial) or failed (no facts).
 * - tu_file: every project file that the translation unit read, including its main file.
 * - function: name: __func__. display: qualified (ns::Class::method). body_begin: just after the '{' (and after
 *   __label__ declarations). body_end: offset of the '}' (-1 when not spelled in `file`). is_tiny: inline, without
 *   calls and loops. returns: type as spelled for a declaration. return_kind: void, scalar, record, reference. params:
 *   JSON [{"name","type"}]. signature: canonical function type, which an indirect call must match. reason: why it
 *   cannot be instrumented, one of the words of docs/facts.md. head_begin, name_end: where the definition begins, and
 *   just after its name. size: expressions and statements of the body; -1 when it holds a loop or assembly. twin: why
 *   the function cannot have an instrumented twin, one of the words of docs/facts.md; empty: it can.
 * - call: caller: function.id. begin..end: the bytes of the call expression when it is wholly spelled in `file`, else
 *   -1. callee: name, or for pointers the text of the expression ("c->cmd->proc"). callee_usr: empty for pointers.
 *   kind: direct, pointer, virtual, construct, destroy. signature: canonical type called through a pointer. wrappable:
 *   may be enclosed. form: by what, one of enum vprof_call_form. args: JSON array of the source text of the arguments,
 *   each cut to 200 bytes.
 * - exit_site: one row for each return statement. begin..end covers `return ...;` with the semicolon. expr_begin =
 *   expr_end = -1 for `return;`. editable: spelled in the function's own file. In C++, value is list for `return
 *   {...};`, variable for `return NAME;` of a variable NAME of the type of the result, and moved when a local of
 *   another type is moved into the result.
 * - address: a function whose address is taken. how: argument (target = called function, arg = index), initializer
 *   (target = variable), assignment (target = text of the left-hand side), other. caller: function.id, or 0 at file
 *   scope.
 * - guarded: what a function does with memory that a lock may guard. kind: store (value: the parameter that is stored),
 *   load (value: how what was read leaves the lock: return, param:NAME, after:VARIABLE), copy (the same, of a member
 * that the pointer `object` leads to), call (object: the function called). state: locked, or entry: locked only if the
 *   caller holds a lock. object: a variable, or structure.member. type: number, text, pointer, function.
 */
#define VPROF_FACTS_SCHEMA                                                                                             \
	"CREATE TABLE IF NOT EXISTS meta(key TEXT PRIMARY KEY, value TEXT);"                                           \
	"CREATE TABLE IF NOT EXISTS file("                                                                             \
	" id INTEGER PRIMARY KEY AUTOINCREMENT, path TEXT UNIQUE NOT NULL,"                                            \
	" hash TEXT NOT NULL, size INTEGER NOT NULL, in_project INTEGER NOT NULL);"                                    \
	"CREATE TABLE IF NOT EXISTS tu("                                                                               \
	" id INTEGER PRIMARY KEY AUTOINCREMENT, path TEXT NOT NULL, directory TEXT NOT NULL,"                          \
	" output TEXT NOT NULL, arguments TEXT NOT NULL, lang TEXT NOT NULL,"                                          \
	" status TEXT NOT NULL, diagnostics TEXT NOT NULL, UNIQUE(output, path));"                                     \
	"CREATE TABLE IF NOT EXISTS tu_file(tu INTEGER NOT NULL, file INTEGER NOT NULL,"                               \
	" PRIMARY KEY(tu, file)) WITHOUT ROWID;"                                                                       \
	"CREATE TABLE IF NOT EXISTS function("                                                                         \
	" id INTEGER PRIMARY KEY AUTOINCREMENT, file INTEGER NOT NULL, name TEXT NOT NULL,"                            \
	" display TEXT NOT NULL, usr TEXT NOT NULL, line INTEGER NOT NULL, end_line INTEGER NOT NULL,"                 \
	" body_begin INTEGER NOT NULL, body_end INTEGER NOT NULL, lang TEXT NOT NULL,"                                 \
	" is_static INTEGER NOT NULL, is_tiny INTEGER NOT NULL, returns TEXT NOT NULL,"                                \
	" return_kind TEXT NOT NULL, params TEXT NOT NULL, signature TEXT NOT NULL,"                                   \
	" instrumentable INTEGER NOT NULL, reason TEXT NOT NULL,"                                                      \
	" head_begin INTEGER NOT NULL DEFAULT -1, name_end INTEGER NOT NULL DEFAULT -1,"                               \
	" size INTEGER NOT NULL DEFAULT -1, twin TEXT NOT NULL DEFAULT 'head', UNIQUE(file, body_begin, usr));"        \
	"CREATE TABLE IF NOT EXISTS call("                                                                             \
	" id INTEGER PRIMARY KEY AUTOINCREMENT, caller INTEGER NOT NULL, file INTEGER NOT NULL,"                       \
	" begin INTEGER NOT NULL, end INTEGER NOT NULL, line INTEGER NOT NULL, col INTEGER NOT NULL,"                  \
	" callee TEXT NOT NULL, callee_usr TEXT NOT NULL, kind TEXT NOT NULL, signature TEXT NOT NULL,"                \
	" wrappable INTEGER NOT NULL, form TEXT NOT NULL DEFAULT 'statement', reason TEXT NOT NULL,"                   \
	" in_loop INTEGER NOT NULL, args TEXT NOT NULL,"                                                               \
	" UNIQUE(caller, file, begin, end, callee_usr, signature, line, col));"                                        \
	"CREATE TABLE IF NOT EXISTS exit_site("                                                                        \
	" function INTEGER NOT NULL, begin INTEGER NOT NULL, end INTEGER NOT NULL,"                                    \
	" expr_begin INTEGER NOT NULL, expr_end INTEGER NOT NULL, line INTEGER NOT NULL,"                              \
	" editable INTEGER NOT NULL, value TEXT NOT NULL DEFAULT '', variable TEXT NOT NULL DEFAULT '');"              \
	"CREATE TABLE IF NOT EXISTS address("                                                                          \
	" function_usr TEXT NOT NULL, name TEXT NOT NULL, signature TEXT NOT NULL, how TEXT NOT NULL,"                 \
	" target TEXT NOT NULL, arg INTEGER NOT NULL, file INTEGER NOT NULL, line INTEGER NOT NULL,"                   \
	" caller INTEGER NOT NULL);"                                                                                   \
	"CREATE TABLE IF NOT EXISTS override(method_usr TEXT NOT NULL, base_usr TEXT NOT NULL,"                        \
	" PRIMARY KEY(method_usr, base_usr)) WITHOUT ROWID;"                                                           \
	"CREATE TABLE IF NOT EXISTS guarded("                                                                          \
	" function INTEGER NOT NULL, kind TEXT NOT NULL, object TEXT NOT NULL, usr TEXT NOT NULL,"                     \
	" type TEXT NOT NULL, state TEXT NOT NULL, value TEXT NOT NULL, line INTEGER NOT NULL,"                        \
	" PRIMARY KEY(function, kind, usr, state, value, object)) WITHOUT ROWID;"                                      \
	"CREATE INDEX IF NOT EXISTS function_usr ON function(usr);"                                                    \
	"CREATE INDEX IF NOT EXISTS function_name ON function(name);"                                                  \
	"CREATE INDEX IF NOT EXISTS call_caller ON call(caller);"                                                      \
	"CREATE INDEX IF NOT EXISTS call_callee ON call(callee);"                                                      \
	"CREATE INDEX IF NOT EXISTS exit_function ON exit_site(function);"                                             \
	"CREATE INDEX IF NOT EXISTS address_file ON address(file);"

#endif
