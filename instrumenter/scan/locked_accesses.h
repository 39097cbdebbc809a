/* SPDX-License-Identifier: GPL-3.0-or-later */
// What a function hands over under a lock as far as its own body tells: which members and variables it stores its
// parameters into, and what it reads of them that leaves the lock again. Walked over the control-flow graph, so that an
// unlock in one branch ends the lock there only. A function that takes no lock itself may run under its caller's:
// then its rows say "entry", and whoever reads them knows from the rows "call" who calls it under a lock.
//
// A lock is known by its name, or by the name of the class whose object holds it.
#ifndef VPROF_SCAN_LOCKED_ACCESSES_H
#define VPROF_SCAN_LOCKED_ACCESSES_H

#include "instrumenter/scan/fact_rows.h"

#include "clang/AST/ASTContext.h"
#include "clang/AST/Decl.h"

namespace vprof {

// Of a body that is no template. Adds to Row.Guarded.
void lockedAccesses(const clang::FunctionDecl *D, clang::ASTContext &Context, FunctionRow &Row);

} // namespace vprof

#endif
