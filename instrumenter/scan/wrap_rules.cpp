/* SPDX-License-Identifier: GPL-3.0-or-later */
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

// A call that the source does not write as one: an implicit conversion, the second half of `p->x`.
bool isImplicit(const CallExpr *Call, const FunctionDecl *Callee) {
  if (!isa_and_nonnull<CXXConversionDecl>(Callee))
    return false;
  const auto *Member = dyn_cast<MemberExpr>(Call->getCallee()->IgnoreParens());
  return Member && Member->getMemberLoc().isInvalid();
}

const char *operatorReason(const CallExpr *Call, const CallPlace &Place) {
  if (isa_and_nonnull<CXXRewrittenBinaryOperator>(Place.Parent))
    return "rewritten_operator";
  const auto *Operator = dyn_cast<CXXOperatorCallExpr>(Call);
  if (!Operator)
    return nullptr;
  if (Operator->getOperator() == OO_Arrow)
    return "operator_arrow";
  return Operator->getOperator() == OO_Comma ? "operator_comma" : nullptr;
}

// May the compiler copy it as it likes (Itanium ABI: passed in registers)? Then nobody can tell one copy more.
bool isCopiedFreely(QualType Type) {
  const auto *Class = Type->getAsCXXRecordDecl();
  if (!Class)
    return true;
  Class = Class->getDefinition();
  if (!Class || !Class->canPassInRegisters())
    return false;
  for (const CXXConstructorDecl *Constructor : Class->ctors())
    if (Constructor->isCopyOrMoveConstructor() && (Constructor->isDeleted() || Constructor->getAccess() != AS_public))
      return false;
  return true;
}

bool isScalar(QualType Type) {
  return Type->isArithmeticType() || Type->isEnumeralType() || Type->isAnyPointerType() || Type->isNullPtrType() ||
         Type->isMemberPointerType() || Type->isBlockPointerType() || Type->isAnyComplexType();
}

// The form that C units choose too, so that a header of both gets one text.
bool isPlainC(const CallExpr *Call, const FunctionDecl *Callee, const CallPlace &Place) {
  if (Place.Template || Call->isGLValue() || (Callee && !Callee->isExternC() && !Callee->isInExternCContext()))
    return false;
  if (!Callee && (isa<CXXMemberCallExpr>(Call) || isa<CXXOperatorCallExpr>(Call)))
    return false;
  return true;
}

bool hasFragileArgument(const CallExpr *Call) {
  for (const Stmt *Child : Call->children())
    if (fragileArgument(Child, true))
      return true;
  return false;
}

// A class by value. Its form depends on what becomes of it.
CallForm classForm(const CallExpr *Call, const CallPlace &Place, const LangOptions &Language) {
  const bool References = Language.CPlusPlus11;
  switch (Place.Use) {
  case ResultUse::Discarded:
  case ResultUse::Temporary:
    if (References)
      return {"reference", ""};
    return Place.Use == ResultUse::Discarded ? CallForm{"scope", ""} : CallForm{"", "c++98"};
  case ResultUse::Last:
    if (Place.RangeInit && Language.CPlusPlus23)
      return {"", "range_init"};
    return {"scope", ""};
  case ResultUse::Object:
    if (References && isCopiedFreely(Call->getType()))
      return {"reference", ""};
    if (!Place.Template && !hasFragileArgument(Call))
      return {"statement", ""};
    return {"", "elided_result"};
  case ResultUse::Lasting:
    return {"", "lasting_reference"};
  }
  return {"", "c++"};
}

CallForm cppForm(const CallExpr *Call, const FunctionDecl *Callee, const CallPlace &Place, const ASTContext &Context) {
  const LangOptions &Language = Context.getLangOpts();
  if (Place.Pattern || Call->isInstantiationDependent())
    return {"", "template"};
  if (Place.Initialiser)
    return {"", "initializer"};
  if (isImplicit(Call, Callee))
    return {"", "implicit"};
  if (const char *Reason = operatorReason(Call, Place))
    return {"", Reason};
  if (Callee && (Callee->isConsteval() || (Place.MaybeConstant && Callee->isConstexpr())))
    return {"", "constant"};
  QualType Type = Call->getType();
  const bool Plain = isPlainC(Call, Callee, Place) && (Type->isVoidType() || isScalar(Type));
  if (Plain && !hasFragileArgument(Call))
    return {"statement", ""};
  if (Type->isVoidType())
    return {"void", ""};
  if (!Language.CPlusPlus11 && Type.getCanonicalType()->getLinkage() == Linkage::None)
    return {"", "c++98"}; // no argument of a template
  if (Call->isGLValue())
    return {"reference", ""};
  return isScalar(Type) ? CallForm{"value", ""} : classForm(Call, Place, Language);
}

} // namespace

CallForm wrapForm(const CallExpr *Call, const FunctionDecl *Callee, const CallPlace &Place, const ASTContext &Context) {
  if (Place.CallerRefuses)
    return {"", "caller"};
  if (Place.Constant)
    return {"", "constant"};
  if (Place.Assembly)
    return {"", "asm"};
  if (const char *Reason = calleeReason(Call, Callee))
    return {"", Reason};
  if (Call->getType()->isVariablyModifiedType())
    return {"", "variably_modified"};
  if (Context.getLangOpts().CPlusPlus)
    return cppForm(Call, Callee, Place, Context);
  if (const auto *Member = dyn_cast_or_null<MemberExpr>(Place.Parent))
    if (Call->getType()->isRecordType() && Member->getType()->isArrayType())
      return {"", "array_result"};
  for (const Stmt *Child : Call->children())
    if (const char *Reason = fragileArgument(Child, false))
      return {"", Reason};
  return {"statement", ""};
}

} // namespace vprof
