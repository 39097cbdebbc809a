/* SPDX-License-Identifier: GPL-3.0-or-later */
// Functions whose address is taken: what an indirect call may reach, and the callbacks, dispatch tables and
// thread entry points that `vprof init` looks for.
#include "instrumenter/scan/decl_text.h"
#include "instrumenter/scan/fact_visitor.h"

#include "clang/AST/ASTContext.h"
#include "clang/AST/ExprCXX.h"

namespace vprof {

using namespace clang;

// Is the reference what a call calls? Only parentheses, * and & and the decay to a pointer lie between.
bool Collector::isCallee(const Stmt *E) const {
  for (size_t I = Way.size(); I-- > 0;) {
    const Stmt *Parent = Way[I].Statement;
    if (!Parent)
      return false;
    if (const auto *Call = dyn_cast<CallExpr>(Parent))
      return Call->getCallee() == E;
    if (const auto *Unary = dyn_cast<UnaryOperator>(Parent)) {
      if (Unary->getOpcode() != UO_Deref && Unary->getOpcode() != UO_AddrOf)
        return false;
    } else if (!isa<ParenExpr>(Parent) && !isa<ImplicitCastExpr>(Parent) && !isa<CastExpr>(Parent)) {
      return false;
    }
    E = Parent;
  }
  return false;
}

std::string Collector::targetOf(const CallExpr *E) {
  if (const FunctionDecl *Callee = E->getDirectCallee())
    return calleeName(Callee, Ranges.inProject(Callee->getLocation()));
  return expressionText(E->getCallee());
}

// Wrappers that only pass a callable on: std::function's and the closure's own copies.
static bool passesOn(const CXXConstructExpr *E) {
  const CXXRecordDecl *Class = E->getConstructor()->getParent();
  if (Class->isLambda() || !standardFunction(Class).isNull())
    return true;
  return Class->isInStdNamespace() && Class->getIdentifier() && Class->getName() == "reference_wrapper";
}

static bool passesOn(const CallExpr *E) {
  const FunctionDecl *Callee = E->getDirectCallee();
  if (!Callee || !Callee->isInStdNamespace() || !Callee->getIdentifier())
    return false;
  StringRef Name = Callee->getName();
  return Name == "move" || Name == "forward" || Name == "ref" || Name == "cref" || Name == "bind";
}

static int argumentIndex(ArrayRef<const Expr *> Arguments, const Stmt *E) {
  for (size_t I = 0; I < Arguments.size(); I++)
    if (Arguments[I] == E)
      return static_cast<int>(I);
  return -1;
}

// Climbs from the reference to the first thing that gives it a purpose.
void Collector::classify(const Stmt *E, AddressRow &Row) {
  Row.How = "other";
  for (size_t I = Way.size(); I-- > 0; E = Way[I].Statement) {
    if (const ValueDecl *Declared = Way[I].Declared) {
      Row.How = "initializer";
      Row.Target = Declared->getNameAsString();
      return;
    }
    const Stmt *Parent = Way[I].Statement;
    if (!Parent)
      return;
    if (const auto *Operator = dyn_cast<CXXOperatorCallExpr>(Parent)) {
      if (Operator->getOperator() == OO_Equal && Operator->getNumArgs() == 2) {
        Row.How = "assignment";
        Row.Target = expressionText(Operator->getArg(0));
        return;
      }
    }
    if (const auto *Call = dyn_cast<CallExpr>(Parent)) {
      if (passesOn(Call))
        continue;
      Row.Arg = argumentIndex(ArrayRef<const Expr *>(Call->getArgs(), Call->getNumArgs()), E);
      if (Row.Arg < 0)
        return;
      Row.How = "argument";
      Row.Target = targetOf(Call);
      return;
    }
    if (const auto *Construct = dyn_cast<CXXConstructExpr>(Parent)) {
      if (passesOn(Construct))
        continue;
      Row.Arg = argumentIndex(ArrayRef<const Expr *>(Construct->getArgs(), Construct->getNumArgs()), E);
      Row.How = "argument";
      Row.Target = Construct->getConstructor()->getParent()->getQualifiedNameAsString();
      return;
    }
    if (const auto *Assignment = dyn_cast<BinaryOperator>(Parent)) {
      if (Assignment->isAssignmentOp() && Assignment->getRHS() == E) {
        Row.How = "assignment";
        Row.Target = expressionText(Assignment->getLHS());
        return;
      }
      if (!Assignment->isCommaOp())
        return; // a comparison
      continue;
    }
    if (!isa<Expr>(Parent) && !isa<DeclStmt>(Parent)) {
      if (isa<ReturnStmt>(Parent))
        Row.Target = "return";
      return;
    }
  }
}

void Collector::addAddress(AddressRow Row, SourceLocation Where) {
  const SourceManager &Sources = Ranges.sources();
  Where = Sources.getExpansionLoc(Where);
  std::optional<uint32_t> File = Ranges.projectFileAt(Where);
  if (!File)
    return;
  Row.File = *File;
  Row.Line = static_cast<int32_t>(Sources.getExpansionLineNumber(Where));
  Row.Caller = Frames.empty() ? -1 : static_cast<int64_t>(Frames.back().Row);
  if (AddressesSeen.insert({Row.Usr, Row.How, Row.Target, Row.Arg, Row.File, Row.Line, Row.Caller}).second)
    Facts.Addresses.push_back(std::move(Row));
}

void Collector::reference(const DeclRefExpr *E) {
  const auto *Function = dyn_cast<FunctionDecl>(E->getDecl());
  if (!Function || Now.Unevaluated || E->getBeginLoc().isInvalid() || Function->getBuiltinID() || isCallee(E))
    return;
  if (const auto *Method = dyn_cast<CXXMethodDecl>(Function))
    if (Method->isOverloadedOperator() && !Way.empty() && Way.back().Statement &&
        isa<CXXOperatorCallExpr>(Way.back().Statement))
      return;
  AddressRow Row;
  Row.Usr = usrOf(Function);
  Row.Name = Function->getNameAsString();
  Row.Signature = signatureOf(Function->getType(), Context);
  classify(E, Row);
  addAddress(std::move(Row), E->getBeginLoc());
}

void Collector::lambdaTaken(const LambdaExpr *E) {
  const CXXMethodDecl *Operator = E->getCallOperator();
  if (!Operator || Now.Unevaluated || E->getBeginLoc().isInvalid())
    return;
  AddressRow Row;
  Row.Usr = usrOf(Operator);
  Row.Name = Operator->getNameAsString();
  Row.Signature = signatureOf(Operator->getType(), Context);
  classify(E, Row);
  addAddress(std::move(Row), E->getBeginLoc());
}

// Looks through the copies and conversions that an argument makes of its variable.
static const Expr *heldCallable(const Expr *Argument) {
  for (;;) {
    const Expr *Inner = Argument->IgnoreParenImpCasts();
    if (const auto *Temporary = dyn_cast<MaterializeTemporaryExpr>(Inner))
      Inner = Temporary->getSubExpr();
    else if (const auto *Bound = dyn_cast<CXXBindTemporaryExpr>(Inner))
      Inner = Bound->getSubExpr();
    else if (const auto *Construct = dyn_cast<CXXConstructExpr>(Inner); Construct && Construct->getNumArgs() >= 1) {
      if (passesOn(Construct))
        Inner = Construct->getArg(0);
    } else if (const auto *Call = dyn_cast<CallExpr>(Inner); Call && Call->getNumArgs() == 1 && passesOn(Call))
      Inner = Call->getArg(0);
    if (Inner == Argument)
      return Argument;
    Argument = Inner;
  }
}

// A variable that holds a lambda, given to somebody: `std::thread t(work)`.
void Collector::closureArguments(ArrayRef<const Expr *> Arguments, const std::string &Target) {
  for (size_t I = 0; I < Arguments.size(); I++) {
    const Expr *Argument = heldCallable(Arguments[I]);
    const auto *Variable = dyn_cast<DeclRefExpr>(Argument);
    const CXXRecordDecl *Class = Variable ? Variable->getType().getNonReferenceType()->getAsCXXRecordDecl() : nullptr;
    if (!Class || !Class->isLambda() || !Class->getLambdaCallOperator())
      continue;
    AddressRow Row;
    Row.Usr = usrOf(Class->getLambdaCallOperator());
    Row.Name = Class->getLambdaCallOperator()->getNameAsString();
    Row.Signature = signatureOf(Class->getLambdaCallOperator()->getType(), Context);
    Row.How = "argument";
    Row.Target = Target;
    Row.Arg = static_cast<int32_t>(I);
    addAddress(std::move(Row), Argument->getBeginLoc());
  }
}

} // namespace vprof
