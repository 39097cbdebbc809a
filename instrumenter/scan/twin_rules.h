/* SPDX-License-Identifier: GPL-3.0-or-later */
// Which C functions can be written a second time, as an instrumented twin (docs/design/live.md), and where they begin.
#ifndef VPROF_SCAN_TWIN_RULES_H
#define VPROF_SCAN_TWIN_RULES_H

#include "instrumenter/scan/source_ranges.h"

#include "clang/AST/Decl.h"
#include "clang/AST/Stmt.h"

namespace vprof {

// Fills HeadBegin, NameEnd, Size and Twin; the body's place is already known.
void describeTwin(const clang::FunctionDecl *Function, const clang::CompoundStmt *Body, SourceRanges &Ranges,
                  FunctionRow &Row);

} // namespace vprof

#endif
