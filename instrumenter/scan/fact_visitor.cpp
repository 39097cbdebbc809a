/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "instrumenter/scan/fact_visitor.h"

#include "instrumenter/scan/decl_text.h"
#include "instrumenter/scan/locked_accesses.h"

#include "clang/AST/ASTContext.h"
#include "clang/AST/Attr.h"
#include "clang/AST/ExprCXX.h"

namespace vprof {

using namespace clang;

void Collector::collect() {
  for (Decl *D : Context.getTranslationUnitDecl()->decls())
    if (!D->isImplicit() && Ranges.inProject(D->getLocation()))
      TraverseDecl(D);
    else if (auto *Function = dyn_cast<FunctionDecl>(D)) // its brace may be the project's, its name a macro's
      if (Function->doesThisDeclarationHaveABody() && Function->hasBody() && bracesOf(Function) &&
          Ranges.tokenSpelling(bracesOf(Function)->getLBracLoc()))
        TraverseDecl(D);
  resolvePending();
  unwrapDoubles();
}

// A static local of C++ may be initialised by any expression, when the first caller comes by.
static bool staysConstant(const VarDecl *Variable) {
  if (Variable->isConstexpr() || Variable->hasAttr<ConstInitAttr>())
    return true;
  if (!Variable->isStaticLocal())
    return false;
  return !Variable->getASTContext().getLangOpts().CPlusPlus || Variable->hasConstantInitialization();
}

bool Collector::TraverseDecl(Decl *D) {
  if (!D)
    return true;
  if (isa<StaticAssertDecl>(D) || isa<EnumDecl>(D))
    return true;
  if (auto *Field = dyn_cast<FieldDecl>(D)) {
    if (!Field->hasInClassInitializer() || !Field->getInClassInitializer())
      return true;
    Way.push_back({nullptr, Field});
    Now.Initialiser++;
    TraverseStmt(Field->getInClassInitializer());
    Now.Initialiser--;
    Way.pop_back();
    return true;
  }
  if (auto *Variable = dyn_cast<VarDecl>(D)) {
    State Saved = Now;
    if (staysConstant(Variable))
      Now.Constant++;
    else if (Variable->getType().isConstQualified() || Variable->getType()->isReferenceType())
      Now.MaybeConstant++;
    Way.push_back({nullptr, Variable});
    Base::TraverseDecl(D);
    Way.pop_back();
    Now = Saved;
    if (!Frames.empty() && Variable->isLocalVarDecl() && !isa<ParmVarDecl>(Variable))
      destroyOf(Variable->getType(), Variable->getSourceRange());
    return true;
  }
  return Base::TraverseDecl(D);
}

// Types hold expressions too. typeof and decltype do not evaluate theirs; an array's bound does, but no statement
// may stand in it.
bool Collector::TraverseTypeLoc(TypeLoc T) {
  if (T.isNull())
    return true;
  State Saved = Now;
  switch (T.getTypeLocClass()) {
  case TypeLoc::TypeOfExpr:
  case TypeLoc::Decltype:
    Now.Unevaluated++;
    break;
  case TypeLoc::VariableArray:
    Now.Constant++;
    break;
  case TypeLoc::ConstantArray:
  case TypeLoc::DependentSizedArray:
    Now.Unevaluated++;
    break;
  default:
    break;
  }
  Base::TraverseTypeLoc(T);
  Now = Saved;
  return true;
}

bool Collector::TraverseTemplateArgumentLoc(const TemplateArgumentLoc &Argument) {
  Now.Unevaluated++;
  Base::TraverseTemplateArgumentLoc(Argument);
  Now.Unevaluated--;
  return true;
}

bool Collector::isLoop(const Stmt *S) const { return isa<WhileStmt>(S) || isa<DoStmt>(S); }

// Operands that are not evaluated, or must stay constant.
bool Collector::changesState(const Stmt *S, State &New) const {
  if (isa<UnaryExprOrTypeTraitExpr>(S) || isa<CXXNoexceptExpr>(S) || isa<CXXTypeidExpr>(S) || isa<RequiresExpr>(S)) {
    New.Unevaluated++;
  } else if (isa<ConstantExpr>(S)) {
    New.Constant++;
  } else if (isa<AsmStmt>(S)) {
    New.Assembly++;
  } else if (const auto *Call = dyn_cast<CallExpr>(S)) {
    const FunctionDecl *Callee = Call->getDirectCallee();
    if (!Callee || !Callee->getIdentifier())
      return false;
    StringRef Name = Callee->getName();
    if (Name != "__builtin_constant_p" && Name != "__builtin_object_size" && Name != "__builtin_dynamic_object_size" &&
        Name != "__builtin_classify_type")
      return false;
    New.Unevaluated++;
  } else {
    return false;
  }
  return true;
}

bool Collector::TraverseStmt(Stmt *S) {
  if (!S)
    return true;
  visit(S);
  State Saved = Now;
  changesState(S, Now);
  const bool Loop = !Frames.empty() && isLoop(S);
  if (Loop)
    Frames.back().Loops++;
  Way.push_back({S, nullptr});
  Base::TraverseStmt(S);
  Way.pop_back();
  if (Loop)
    Frames.back().Loops--;
  Now = Saved;
  return true;
}

void Collector::visit(Stmt *S) {
  if (const auto *E = dyn_cast<CallExpr>(S))
    call(E);
  else if (const auto *E = dyn_cast<CXXConstructExpr>(S))
    construct(E);
  else if (const auto *E = dyn_cast<CXXDeleteExpr>(S)) {
    if (!E->getDestroyedType().isNull())
      destroyOf(E->getDestroyedType(), SourceRange());
  } else if (const auto *E = dyn_cast<CXXBindTemporaryExpr>(S)) {
    destroyOf(E->getType(), SourceRange());
  } else if (const auto *E = dyn_cast<DeclRefExpr>(S))
    reference(E);
  else if (const auto *E = dyn_cast<LambdaExpr>(S))
    lambdaTaken(E);
  else if (const auto *R = dyn_cast<ReturnStmt>(S))
    exitSite(R);
}

bool Collector::TraverseInitListExpr(InitListExpr *E) {
  InitListExpr *Form = E->isSemanticForm() ? E : (E->getSemanticForm() ? E->getSemanticForm() : E);
  Now.MaybeConstant++; // narrowing depends on it
  for (Expr *Item : Form->inits())
    TraverseStmt(Item);
  Now.MaybeConstant--;
  return true;
}

bool Collector::TraverseGenericSelectionExpr(GenericSelectionExpr *E) {
  const bool Known = !E->isResultDependent();
  Now.Unevaluated++;
  if (E->isExprPredicate())
    TraverseStmt(const_cast<Expr *>(E->getControllingExpr()));
  for (auto Association : E->associations())
    if (!Known || !Association.isSelected())
      TraverseStmt(const_cast<Expr *>(Association.getAssociationExpr()));
  Now.Unevaluated--;
  if (Known)
    TraverseStmt(const_cast<Expr *>(E->getResultExpr()));
  return true;
}

// The init runs once; condition, increment and body repeat.
bool Collector::TraverseForStmt(ForStmt *S) {
  TraverseStmt(S->getInit());
  if (!Frames.empty())
    Frames.back().Loops++;
  if (S->getConditionVariableDeclStmt())
    TraverseStmt(S->getConditionVariableDeclStmt());
  else
    TraverseStmt(S->getCond());
  TraverseStmt(S->getInc());
  TraverseStmt(S->getBody());
  if (!Frames.empty())
    Frames.back().Loops--;
  return true;
}

bool Collector::TraverseCXXForRangeStmt(CXXForRangeStmt *S) {
  TraverseStmt(S->getInit());
  TraverseStmt(S->getRangeInit());
  Now.Implicit++;
  for (DeclStmt *Hidden : {S->getBeginStmt(), S->getEndStmt()}) // implicit, so the walk would pass them by
    if (const auto *Variable = Hidden ? dyn_cast<VarDecl>(Hidden->getSingleDecl()) : nullptr)
      TraverseStmt(const_cast<Expr *>(Variable->getInit()));
  if (!Frames.empty())
    Frames.back().Loops++;
  TraverseStmt(S->getCond());
  TraverseStmt(S->getInc());
  TraverseStmt(S->getLoopVarStmt());
  Now.Implicit--;
  TraverseStmt(S->getBody());
  if (!Frames.empty())
    Frames.back().Loops--;
  return true;
}

void Collector::noteOverrides(const CXXMethodDecl *Method) {
  for (const CXXMethodDecl *Overridden : Method->overridden_methods()) {
    OverrideRow Row{usrOf(Method), usrOf(Overridden)};
    if (OverridesSeen.insert({Row.Method, Row.Base}).second)
      Facts.Overrides.push_back(std::move(Row));
  }
}

bool Collector::traverseFunction(FunctionDecl *D) {
  if (const auto *Method = dyn_cast<CXXMethodDecl>(D))
    noteOverrides(Method);
  if (D->isImplicit() || D->isDefaulted() || D->isDeleted() || !D->doesThisDeclarationHaveABody() ||
      D->hasSkippedBody() || !D->getBody())
    return true;
  enterBody(D, D->getBody());
  return true;
}

void Collector::enterBody(const FunctionDecl *D, Stmt *Body) {
  FunctionRow Row;
  if (!describeFunction(D, Traits, Ranges, Row))
    return;
  auto [Place, Fresh] = RowOf.try_emplace({Row.File, Row.BodyBegin, Row.Usr}, Facts.Functions.size());
  Frame Inner;
  Inner.Function = D;
  Inner.Row = Place->second;
  Inner.Pattern = D->isDependentContext();
  Inner.Template = Inner.Pattern || patternOf(D) != D;
  Inner.Refuses = !Row.Reason.empty() && Row.Reason != "brace_not_spelled" && Row.Reason != "brace_mismatch";
  if (Fresh)
    Facts.Functions.push_back(std::move(Row));
  State Saved = Now;
  std::vector<Above> SavedWay;
  SavedWay.swap(Way);
  Now = State();
  Frames.push_back(Inner);
  if (const auto *Constructor = dyn_cast<CXXConstructorDecl>(D))
    constructorInitialisers(Constructor);
  TraverseStmt(Body);
  if (const auto *Destructor = dyn_cast<CXXDestructorDecl>(D)) {
    for (const FieldDecl *Field : Destructor->getParent()->fields())
      destroyOf(Field->getType(), SourceRange());
    for (const CXXBaseSpecifier &Parent : Destructor->getParent()->bases())
      destroyOf(Parent.getType(), SourceRange());
  }
  Frames.pop_back();
  Now = Saved;
  Way.swap(SavedWay);
  if (Fresh && !D->isDependentContext())
    lockedAccesses(D, Context, Facts.Functions[Inner.Row]);
}

void Collector::constructorInitialisers(const CXXConstructorDecl *D) {
  for (const CXXCtorInitializer *Initialiser : D->inits()) {
    if (!Initialiser->getInit())
      continue;
    if (!Initialiser->isWritten())
      Now.Implicit++;
    Way.push_back({nullptr, Initialiser->getAnyMember()});
    Expr *Init = Initialiser->getInit();
    if (auto *Default = dyn_cast<CXXDefaultInitExpr>(Init))
      Init = Default->getExpr();
    Now.Initialiser++;
    TraverseStmt(Init);
    Now.Initialiser--;
    Way.pop_back();
    if (!Initialiser->isWritten())
      Now.Implicit--;
  }
}

bool Collector::TraverseLambdaExpr(LambdaExpr *E) {
  for (Expr *Capture : E->capture_inits())
    TraverseStmt(Capture);
  const CXXMethodDecl *Operator = E->getCallOperator();
  if (!Operator || !E->getBody())
    return true;
  enterBody(Operator, E->getBody());
  if (FunctionTemplateDecl *Template = Operator->getDescribedFunctionTemplate())
    for (FunctionDecl *Instance : Template->specializations())
      if (Instance->hasBody())
        enterBody(Instance, Instance->getBody());
  return true;
}

// A call in a template that no instantiation resolved keeps what the pattern tells of it.
void Collector::resolvePending() {
  for (Pending &Late : DependentCalls) {
    bool Resolved = false;
    for (const CallRow &Known : Facts.Functions[Late.Row].Calls)
      Resolved |= Known.File == Late.Call.File && Known.Begin == Late.Call.Begin && Known.End == Late.Call.End &&
                  Known.Line == Late.Call.Line && Known.Col == Late.Call.Col;
    if (!Resolved)
      Facts.Functions[Late.Row].Calls.push_back(std::move(Late.Call));
  }
  DependentCalls.clear();
}

// The same bytes may be several calls: a macro's argument used twice, a template's instantiations. They are wrapped
// when all agree on a form.
void Collector::unwrapDoubles() {
  std::map<Bytes, std::string> Forms;
  std::map<Bytes, const char *> Refused;
  for (const Bytes &Place : Poisoned)
    Refused[Place] = "unevaluated";
  for (const FunctionRow &Function : Facts.Functions)
    for (const CallRow &Call : Function.Calls) {
      if (Call.Begin < 0)
        continue;
      const Bytes Place{Call.File, Call.Begin, Call.End};
      auto [Known, Fresh] = Forms.try_emplace(Place, Call.Form);
      if (!Fresh && Known->second != Call.Form)
        Refused.try_emplace(Place, Call.Form.empty() || Known->second.empty() ? "unevaluated" : "instances");
    }
  for (FunctionRow &Function : Facts.Functions)
    for (CallRow &Call : Function.Calls)
      if (auto Found = Refused.find({Call.File, Call.Begin, Call.End}); Call.wrappable() && Found != Refused.end())
        Call.refuse(Found->second);
}

} // namespace vprof
