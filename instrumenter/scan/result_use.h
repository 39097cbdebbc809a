/* SPDX-License-Identifier: GPL-3.0-or-later */
// What becomes of a call's result, read from the way between the call and the end of its full expression.
//
// Only this decides whether the result of a class type may be looked at on its way: a result that a reference is bound
// to for the rest of the full expression may pass through one more reference; one that becomes an object directly
// (guaranteed elision) or lives on must not be touched.
#ifndef VPROF_SCAN_RESULT_USE_H
#define VPROF_SCAN_RESULT_USE_H

#include "clang/AST/Expr.h"

#include "llvm/ADT/ArrayRef.h"

namespace vprof {

struct Above { // one step of the way from the root: a statement, or a declaration with an initialiser
  const clang::Stmt *Statement;
  const clang::ValueDecl *Declared;
};

enum class ResultUse {
  Discarded, // a statement of its own, the left side of a comma
  Temporary, // a temporary of the full expression: an argument by reference, the object of a member call
  Last,      // nothing but destructors follows in the full expression: an initialiser, a returned or thrown value
  Object,    // becomes an object in the middle of the expression: an argument by value
  Lasting,   // bound to a reference that lives on, in the middle of the expression
};

// `Way` leads from the root to the call's parent.
ResultUse useOfResult(const clang::Expr *Call, llvm::ArrayRef<Above> Way);

} // namespace vprof

#endif
