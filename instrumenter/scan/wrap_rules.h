// May a call be enclosed by `(__extension__({ struct vp_scope s = ...; CALL; }))`? The reason words are those of
// docs/facts.md.
#ifndef VPROF_SCAN_WRAP_RULES_H
#define VPROF_SCAN_WRAP_RULES_H

#include "clang/AST/Expr.h"

#include <string>

namespace vprof {

// What surrounds the call where it stands.
struct CallPlace {
  bool Constant = false;     // constant expression, array bound, initialiser of a static variable
  bool Assembly = false;     // operand of an asm statement
  bool CallerRefuses = false; // the function cannot be instrumented either
  bool Template = false;     // in a template's pattern or an instantiation
  const clang::Stmt *Parent = nullptr; // directly above, parentheses skipped
};

// Empty when the call may be wrapped, else the reason's word. `Callee` is null for calls through a pointer.
std::string wrapReason(const clang::CallExpr *Call, const clang::FunctionDecl *Callee, const CallPlace &Place,
                       const clang::ASTContext &Context);

// __builtin_*, __sync_* and the like: operations of the compiler, no calls.
bool isCompilerBuiltin(const clang::FunctionDecl *Callee);

} // namespace vprof

#endif
