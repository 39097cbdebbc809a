/* SPDX-License-Identifier: GPL-3.0-or-later */
// What may enclose a call (docs/design/call-sites.md)? The words are those of docs/facts.md.
#ifndef VPROF_SCAN_WRAP_RULES_H
#define VPROF_SCAN_WRAP_RULES_H

#include "instrumenter/scan/result_use.h"

#include <string>

namespace vprof {

// What surrounds the call where it stands.
struct CallPlace {
  bool Constant = false;               // constant expression, array bound, initialiser of a static variable
  bool MaybeConstant = false;          // constant only if the callee lets it be
  bool Assembly = false;               // operand of an asm statement
  bool CallerRefuses = false;          // the function cannot be instrumented either
  bool Initialiser = false;            // of a member or base: runs before the constructor's probe
  bool Pattern = false;                // in a template: its instantiations decide
  bool Template = false;               // in a template's pattern or an instantiation
  bool RangeInit = false;              // what a range-for walks over
  const clang::Stmt *Parent = nullptr; // directly above, parentheses skipped
  ResultUse Use = ResultUse::Object;
};

struct CallForm {
  std::string Form;   // statement, value, reference, void or scope; empty when the call may not be wrapped,
  std::string Reason; // and then why
};

// `Callee` is null for calls through a pointer.
CallForm wrapForm(const clang::CallExpr *Call, const clang::FunctionDecl *Callee, const CallPlace &Place,
                  const clang::ASTContext &Context);

// __builtin_*, __sync_* and the like: operations of the compiler, no calls.
bool isCompilerBuiltin(const clang::FunctionDecl *Callee);

} // namespace vprof

#endif
