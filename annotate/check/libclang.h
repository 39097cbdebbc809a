/* SPDX-License-Identifier: GPL-3.0-or-later */
/* libclang, loaded when the first expression is checked: vprof itself starts without LLVM, in a millisecond, and says
 * what to install if it is missing. After vprof_libclang_load the functions of clang-c/Index.h are called as usual.
 */
#ifndef VPROF_LIBCLANG_H
#define VPROF_LIBCLANG_H

#include <clang-c/Index.h>

#include "common/error.h"

/* clang-format off */
#define VPROF_LIBCLANG_FUNCTIONS(X) \
	X(clang_createIndex) \
	X(clang_disposeDiagnostic) \
	X(clang_disposeIndex) \
	X(clang_disposeString) \
	X(clang_disposeTranslationUnit) \
	X(clang_getCString) \
	X(clang_getCanonicalType) \
	X(clang_getCursorKind) \
	X(clang_getCursorLocation) \
	X(clang_getCursorSpelling) \
	X(clang_getCursorType) \
	X(clang_getDiagnostic) \
	X(clang_getDiagnosticLocation) \
	X(clang_getDiagnosticSeverity) \
	X(clang_getDiagnosticSpelling) \
	X(clang_getExpansionLocation) \
	X(clang_getFileName) \
	X(clang_getNumDiagnostics) \
	X(clang_getPointeeType) \
	X(clang_getSpellingLocation) \
	X(clang_getTranslationUnitCursor) \
	X(clang_getTypeSpelling) \
	X(clang_parseTranslationUnit2) \
	X(clang_visitChildren)
/* clang-format on */

struct vprof_libclang {
#define VPROF_LIBCLANG_MEMBER(name) __typeof__(&name) name##_;
	VPROF_LIBCLANG_FUNCTIONS(VPROF_LIBCLANG_MEMBER)
#undef VPROF_LIBCLANG_MEMBER
};
extern struct vprof_libclang vprof_libclang;

/* MISSING with the package's name. Loads once; not thread-safe. */
int vprof_libclang_load(struct vprof_error *err);

#ifndef VPROF_LIBCLANG_LOADER
#define clang_createIndex vprof_libclang.clang_createIndex_
#define clang_disposeDiagnostic vprof_libclang.clang_disposeDiagnostic_
#define clang_disposeIndex vprof_libclang.clang_disposeIndex_
#define clang_disposeString vprof_libclang.clang_disposeString_
#define clang_disposeTranslationUnit vprof_libclang.clang_disposeTranslationUnit_
#define clang_getCString vprof_libclang.clang_getCString_
#define clang_getCanonicalType vprof_libclang.clang_getCanonicalType_
#define clang_getCursorKind vprof_libclang.clang_getCursorKind_
#define clang_getCursorLocation vprof_libclang.clang_getCursorLocation_
#define clang_getCursorSpelling vprof_libclang.clang_getCursorSpelling_
#define clang_getCursorType vprof_libclang.clang_getCursorType_
#define clang_getDiagnostic vprof_libclang.clang_getDiagnostic_
#define clang_getDiagnosticLocation vprof_libclang.clang_getDiagnosticLocation_
#define clang_getDiagnosticSeverity vprof_libclang.clang_getDiagnosticSeverity_
#define clang_getDiagnosticSpelling vprof_libclang.clang_getDiagnosticSpelling_
#define clang_getExpansionLocation vprof_libclang.clang_getExpansionLocation_
#define clang_getFileName vprof_libclang.clang_getFileName_
#define clang_getNumDiagnostics vprof_libclang.clang_getNumDiagnostics_
#define clang_getPointeeType vprof_libclang.clang_getPointeeType_
#define clang_getSpellingLocation vprof_libclang.clang_getSpellingLocation_
#define clang_getTranslationUnitCursor vprof_libclang.clang_getTranslationUnitCursor_
#define clang_getTypeSpelling vprof_libclang.clang_getTypeSpelling_
#define clang_parseTranslationUnit2 vprof_libclang.clang_parseTranslationUnit2_
#define clang_visitChildren vprof_libclang.clang_visitChildren_
#endif

#endif
