/* SPDX-License-Identifier: GPL-3.0-or-later */
// What can be said of a function without looking into its body: where its probes go, and why they may not.
#ifndef VPROF_SCAN_FUNCTION_RULES_H
#define VPROF_SCAN_FUNCTION_RULES_H

#include "instrumenter/scan/source_ranges.h"

#include "clang/AST/Decl.h"
#include "clang/AST/Stmt.h"

#include <set>
#include <string>

namespace vprof {

struct UnitTraits {
  bool AttributesDefinedAway = false; // a macro __attribute__ exists
  std::set<std::string> IfuncResolvers;
};

// The outermost braces of the body: of a function-try-block those of the try part.
const clang::CompoundStmt *bracesOf(const clang::FunctionDecl *Function);

// Fills everything but Calls and Exits. False when the body's place lies outside the project.
bool describeFunction(const clang::FunctionDecl *Function, const UnitTraits &Traits, SourceRanges &Ranges,
                      FunctionRow &Row);

} // namespace vprof

#endif
