#include "instrumenter/scan/wrap_rules.h"

#include "clang/AST/ASTContext.h"
#include "clang/AST/Attr.h"
#include "clang/AST/DeclCXX.h"
#include "clang/AST/ExprCXX.h"
#include "clang/Basic/Builtins.h"

namespace vprof {

using namespace clang;

bool isCompilerBuiltin(const FunctionDecl *Callee) {
  if (!Callee || !Callee->getIdentifier())
    return false;
  StringRef Name = Callee->getName();
  return Name.starts_with("__builtin_") || Name.starts_with("__sync_") || Name.starts_with("__atomic_") ||
         Name.starts_with("__c11_atomic_") ||
         (Callee->getBuiltinID() && Name.starts_with("__") &&
          !Callee->getASTContext().BuiltinInfo.isPredefinedLibFunction(Callee->getBuiltinID()));
}

namespace {

bool returnsTwice(const FunctionDecl *Callee) {
  if (Callee->hasAttr<ReturnsTwiceAttr>())
    return true;
  if (!Callee->getIdentifier())
    return false;
  StringRef Name = Callee->getName();
  for (StringRef Known : {"setjmp", "_setjmp", "sigsetjmp", "__sigsetjmp", "savectx", "vfork", "getcontext"})
    if (Name == Known)
      return true;
  return false;
}

bool neverReturns(const CallExpr *Call, const FunctionDecl *Callee) {
  if (Callee && (Callee->isNoReturn() || Callee->hasAttr<AnalyzerNoReturnAttr>()))
    return true;
  QualType Type = Call->getCallee()->getType();
  if (!Type->isFunctionType() && !Type->getPointeeType().isNull())
    Type = Type->getPointeeType();
  const auto *Function = Type->getAs<FunctionType>();
  return Function && Function->getNoReturnAttr();
}

// Something in the arguments whose lifetime or place does not survive another pair of braces.
const char *fragileArgument(const Stmt *Node, bool CPlusPlus, unsigned Depth = 0) {
  if (!Node)
    return nullptr;
  if (Depth > 400)
    return "deep";
  if (const auto *Literal = dyn_cast<CompoundLiteralExpr>(Node))
    if (Literal->getLParenLoc().isValid()) // else Clang's own, around an argument for a transparent union
      return "compound_literal";
  if (isa<LabelStmt>(Node) || isa<SwitchCase>(Node))
    return "label";
  if (CPlusPlus && (isa<MaterializeTemporaryExpr>(Node) || isa<CXXBindTemporaryExpr>(Node) ||
                    isa<ExprWithCleanups>(Node) || isa<LambdaExpr>(Node) || isa<CXXConstructExpr>(Node) ||
                    isa<CXXDefaultArgExpr>(Node) || isa<CoroutineSuspendExpr>(Node) || isa<CXXThrowExpr>(Node)))
    return "c++";
  if (const auto *Size = dyn_cast<UnaryExprOrTypeTraitExpr>(Node))
    if (!Size->isArgumentType() || !Size->getArgumentType()->isVariablyModifiedType())
      return nullptr;
  for (const Stmt *Child : Node->children())
    if (const char *Reason = fragileArgument(Child, CPlusPlus, Depth + 1))
      return Reason;
  return nullptr;
}

const char *calleeReason(const CallExpr *Call, const FunctionDecl *Callee) {
  if (neverReturns(Call, Callee))
    return "noreturn";
  if (!Callee)
    return nullptr;
  if (returnsTwice(Callee))
    return "returns_twice";
  if (Callee->getIdentifier() && (Callee->getName() == "alloca" || Callee->getName().starts_with("va_")))
    return "alloca";
  if (Callee->hasAttr<ErrorAttr>())
    return "error_attribute";
  return nullptr;
}

const char *cppReason(const CallExpr *Call, const FunctionDecl *Callee, const CallPlace &Place) {
  if (Place.Template)
    return "template";
  if (Callee && !Callee->isExternC() && !Callee->isInExternCContext())
    return "c++";
  if (!Callee && (isa<CXXMemberCallExpr>(Call) || isa<CXXOperatorCallExpr>(Call)))
    return "c++";
  if (Call->isGLValue() || Call->isInstantiationDependent())
    return "c++";
  QualType Type = Call->getType();
  if (!Type->isVoidType() && !Type->isArithmeticType() && !Type->isEnumeralType() && !Type->isPointerType() &&
      !Type->isNullPtrType())
    return "c++";
  return nullptr;
}

} // namespace

std::string wrapReason(const CallExpr *Call, const FunctionDecl *Callee, const CallPlace &Place,
                       const ASTContext &Context) {
  const bool CPlusPlus = Context.getLangOpts().CPlusPlus;
  if (Place.CallerRefuses)
    return "caller";
  if (Place.Constant)
    return "constant";
  if (Place.Assembly)
    return "asm";
  if (const char *Reason = calleeReason(Call, Callee))
    return Reason;
  if (Call->getType()->isVariablyModifiedType())
    return "variably_modified";
  if (CPlusPlus)
    if (const char *Reason = cppReason(Call, Callee, Place))
      return Reason;
  if (const auto *Member = dyn_cast_or_null<MemberExpr>(Place.Parent))
    if (Call->getType()->isRecordType() && Member->getType()->isArrayType())
      return "array_result";
  for (const Stmt *Child : Call->children())
    if (const char *Reason = fragileArgument(Child, CPlusPlus))
      return Reason;
  return "";
}

} // namespace vprof
