/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "instrumenter/scan/locked_accesses.h"

#include "instrumenter/scan/decl_text.h"

#include "clang/AST/ExprCXX.h"
#include "clang/AST/RecursiveASTVisitor.h"
#include "clang/Analysis/CFG.h"
#include "clang/Basic/SourceManager.h"
#include "clang/Index/USRGeneration.h"

#include <deque>
#include <map>
#include <set>

namespace vprof {

using namespace clang;

namespace {

// ---- locks ----

enum class Effect { None, Lock, Unlock };

// "LWLockAcquire", "mutex_lock", "Mutex::Lock", "unlock"; not "block", "clock", "lock_init".
Effect effectOfName(StringRef Name) {
  const std::string Lower = Name.lower();
  const StringRef Text = Lower;
  for (StringRef Other : {"init", "destroy", "attr", "create", "free", "block", "clock", "is_lock", "locked"})
    if (Text.contains(Other))
      return Effect::None;
  if (Text.contains("unlock") || Text.contains("release") || Text == "leave" || Text.ends_with("_leave"))
    return Effect::Unlock;
  if (Text.contains("lock") || Text.contains("acquire") || Text == "enter" || Text.ends_with("_enter"))
    return Effect::Lock;
  return Effect::None;
}

Effect effectOf(const CallExpr *E) {
  const FunctionDecl *Callee = E->getDirectCallee();
  return Callee && Callee->getIdentifier() ? effectOfName(Callee->getName()) : Effect::None;
}

// Does an object of the class hold a lock as long as it lives?
bool isGuard(QualType Type) {
  const CXXRecordDecl *Record = Type->getAsCXXRecordDecl();
  if (!Record || !Record->hasDefinition() || !Record->getIdentifier() || !Record->hasNonTrivialDestructor())
    return false;
  const std::string Lower = Record->getName().lower();
  const StringRef Name = Lower;
  return Name.ends_with("lock_guard") || Name == "unique_lock" || Name == "scoped_lock" || Name == "shared_lock" ||
         Name.ends_with("mutexlock") || Name.ends_with("locker") || Name.ends_with("lockguard") ||
         Name.ends_with("autolock");
}

// A set of depths: at entry, one or two locks more, one less.
constexpr unsigned AtEntry = 1, One = 2, Two = 4, Less = 8;

unsigned locked(unsigned State) {
  return (State & AtEntry ? One : 0) | (State & (One | Two) ? Two : 0) | (State & Less ? AtEntry : 0);
}

unsigned unlocked(unsigned State) {
  return (State & Two ? One : 0) | (State & One ? AtEntry : 0) | (State & (AtEntry | Less) ? Less : 0);
}

// ---- what is accessed ----

struct Object {
  std::string Name, Usr;
  QualType Type;
  const Expr *Base = nullptr; // of a member that a pointer leads to
};

// Clang's USR of a static variable names the file without its folder, which two files may share.
std::string usrOfVariable(const NamedDecl *D) {
  SmallString<128> Usr;
  if (index::generateUSRForDecl(D, Usr))
    return "";
  if (isa<VarDecl>(D) && !D->hasExternalFormalLinkage())
    Usr += D->getASTContext().getSourceManager().getFilename(D->getLocation());
  return std::string(Usr);
}

const Expr *stripped(const Expr *E) { return E ? E->IgnoreParenCasts() : nullptr; }

// A member or a variable with static storage; elements of arrays count as the array.
bool readObject(const Expr *E, Object &Found) {
  Found.Type = E->getType();
  for (E = stripped(E); E; E = stripped(E)) {
    if (const auto *Element = dyn_cast<ArraySubscriptExpr>(E)) {
      E = Element->getBase();
    } else if (const auto *Member = dyn_cast<MemberExpr>(E)) {
      const auto *Field = dyn_cast<FieldDecl>(Member->getMemberDecl());
      if (!Field)
        return false;
      Found.Name = (Field->getParent()->getName() + "." + Field->getName()).str();
      Found.Usr = usrOfVariable(Field);
      Found.Base = Member->isArrow() ? stripped(Member->getBase()) : nullptr;
      return true;
    } else if (const auto *Reference = dyn_cast<DeclRefExpr>(E)) {
      const auto *Variable = dyn_cast<VarDecl>(Reference->getDecl());
      if (!Variable || !Variable->hasGlobalStorage() || Variable->getType().isConstQualified())
        return false;
      Found.Name = Variable->getNameAsString();
      Found.Usr = usrOfVariable(Variable);
      return true;
    } else {
      return false;
    }
  }
  return false;
}

const VarDecl *localOf(const Expr *E) {
  const auto *Reference = dyn_cast_or_null<DeclRefExpr>(stripped(E));
  const auto *Variable = Reference ? dyn_cast<VarDecl>(Reference->getDecl()) : nullptr;
  return Variable && Variable->hasLocalStorage() ? Variable : nullptr;
}

// `*n` or `out->member` of a parameter.
const ParmVarDecl *outParameter(const Expr *E) {
  E = stripped(E);
  if (const auto *Dereference = dyn_cast_or_null<UnaryOperator>(E))
    return Dereference->getOpcode() == UO_Deref ? dyn_cast_or_null<ParmVarDecl>(localOf(Dereference->getSubExpr()))
                                                : nullptr;
  if (const auto *Member = dyn_cast_or_null<MemberExpr>(E))
    return Member->isArrow() ? dyn_cast_or_null<ParmVarDecl>(localOf(Member->getBase())) : nullptr;
  return nullptr;
}

const char *typeOf(QualType Type) {
  Type = Type.getCanonicalType();
  if (Type->isIntegralOrEnumerationType() || Type->isFloatingType())
    return "number";
  if (Type->isPointerType())
    return Type->getPointeeType()->isCharType() ? "text" : "pointer";
  return nullptr;
}

// ---- the walk ----

class Walk {
public:
  Walk(const FunctionDecl *D, ASTContext &Context, FunctionRow &Row) : D(D), Context(Context), Row(Row) {}

  bool byGraph();
  void each(const std::vector<const Stmt *> &Statements) { // of a function without a lock of its own
    for (const Stmt *S : Statements)
      statement(S, AtEntry, true);
  }

private:
  unsigned through(const CFGElement &Element, unsigned State, bool Tell);
  unsigned statement(const Stmt *S, unsigned State, bool Tell);
  void assign(const Expr *To, const Expr *From, unsigned State);
  void load(const Expr *From, const std::string &Leaves, unsigned State, const SourceLocation &Where);
  void initialise(const DeclStmt *S, unsigned State);
  void use(const Expr *E, unsigned State);
  void add(const char *Kind, const Object &Found, const char *Type, const std::string &Value, unsigned State,
           SourceLocation Where);

  const FunctionDecl *D;
  ASTContext &Context;
  FunctionRow &Row;
  struct Loaded {
    const Expr *From;
    unsigned State, Line;
  };
  std::map<const VarDecl *, Loaded> Locals; // what was read into a local variable last
  std::set<std::string> Seen;
};

void Walk::add(const char *Kind, const Object &Found, const char *Type, const std::string &Value, unsigned State,
               SourceLocation Where) {
  GuardedRow Guarded;
  if (!Type || State == Less || Found.Usr.empty())
    return;
  Guarded.Kind = Kind;
  Guarded.Object = Found.Name;
  Guarded.Usr = Found.Usr;
  Guarded.Type = Type;
  Guarded.State = State & (One | Two) ? "locked" : "entry";
  Guarded.Value = Value;
  Guarded.Line = static_cast<int32_t>(Context.getSourceManager().getExpansionLineNumber(Where));
  if (Seen.insert(Guarded.Kind + ' ' + Guarded.Usr + ' ' + Guarded.State + ' ' + Guarded.Value).second)
    Row.Guarded.push_back(std::move(Guarded));
}

// A value that was read of an object leaves the function, or the lock.
void Walk::load(const Expr *From, const std::string &Leaves, unsigned State, const SourceLocation &Where) {
  Object Found, Base;
  if (!readObject(From, Found))
    return;
  add("load", Found, typeOf(Found.Type), Leaves, State, Where);
  if (Found.Base && readObject(Found.Base, Base) && typeOf(Found.Type) != nullptr) {
    Base.Name += "->" + Found.Name.substr(Found.Name.find('.') + 1);
    add("copy", Base, typeOf(Found.Type), Leaves, State, Where);
  }
}

void Walk::assign(const Expr *To, const Expr *From, unsigned State) {
  Object Found;
  const Expr *Value = stripped(From);
  if (const VarDecl *Local = localOf(To)) {
    if (readObject(Value, Found))
      Locals[Local] = {Value, State, Context.getSourceManager().getExpansionLineNumber(From->getBeginLoc())};
    return;
  }
  if (const ParmVarDecl *Out = outParameter(To))
    load(Value, "param:" + Out->getNameAsString(), State, From->getBeginLoc());
  if (const auto *Parameter = dyn_cast_or_null<ParmVarDecl>(localOf(Value)))
    if (readObject(To, Found))
      add("store", Found, typeOf(Found.Type), Parameter->getNameAsString(), State, To->getBeginLoc());
}

void Walk::initialise(const DeclStmt *S, unsigned State) {
  for (const Decl *Each : S->decls())
    if (const auto *Variable = dyn_cast<VarDecl>(Each); Variable && Variable->getInit()) {
      Object Found;
      const Expr *Value = stripped(Variable->getInit());
      if (Variable->hasLocalStorage() && readObject(Value, Found))
        Locals[Variable] = {Value, State, Context.getSourceManager().getExpansionLineNumber(Value->getBeginLoc())};
    }
}

// A local variable that was read under the lock is used where the lock is not held any more.
void Walk::use(const Expr *E, unsigned State) {
  const VarDecl *Local = localOf(E);
  auto Known = Local ? Locals.find(Local) : Locals.end();
  if (Known == Locals.end() || !(Known->second.State & (One | Two)) || State & (One | Two) ||
      Context.getSourceManager().getExpansionLineNumber(E->getBeginLoc()) <= Known->second.Line)
    return;
  load(Known->second.From, "after:" + Local->getNameAsString(), Known->second.State, Known->second.From->getBeginLoc());
}

unsigned Walk::statement(const Stmt *S, unsigned State, bool Tell) {
  if (const auto *Call = dyn_cast<CallExpr>(S)) {
    const Effect Changes = effectOf(Call);
    if (Changes != Effect::None)
      return Changes == Effect::Lock ? locked(State) : unlocked(State);
    const FunctionDecl *Callee = Call->getDirectCallee();
    if (Tell && Callee && State & (One | Two)) {
      Object Called;
      Called.Name = Callee->getNameAsString();
      Called.Usr = usrOf(Callee);
      add("call", Called, "function", "", State, Call->getBeginLoc());
    }
    return State;
  }
  if (!Tell)
    return State;
  if (const auto *Assignment = dyn_cast<BinaryOperator>(S)) {
    if (Assignment->getOpcode() == BO_Assign)
      assign(Assignment->getLHS(), Assignment->getRHS(), State);
  } else if (const auto *Declaration = dyn_cast<DeclStmt>(S)) {
    initialise(Declaration, State);
  } else if (const auto *Cast = dyn_cast<ImplicitCastExpr>(S)) {
    if (Cast->getCastKind() == CK_LValueToRValue)
      use(Cast->getSubExpr(), State);
  } else if (const auto *Return = dyn_cast<ReturnStmt>(S); Return && Return->getRetValue()) {
    const VarDecl *Local = localOf(Return->getRetValue());
    auto Known = Local ? Locals.find(Local) : Locals.end();
    if (Known != Locals.end())
      load(Known->second.From, "return", Known->second.State, Known->second.From->getBeginLoc());
    else if (!Local)
      load(Return->getRetValue(), "return", State, Return->getBeginLoc());
  }
  return State;
}

unsigned Walk::through(const CFGElement &Element, unsigned State, bool Tell) {
  if (auto Statement = Element.getAs<CFGStmt>()) {
    const Stmt *S = Statement->getStmt();
    if (const auto *Construct = dyn_cast<CXXConstructExpr>(S); Construct && isGuard(Construct->getType()))
      return locked(State);
    return statement(S, State, Tell);
  }
  if (auto Destructor = Element.getAs<CFGAutomaticObjDtor>())
    if (isGuard(Destructor->getVarDecl()->getType()) && State & (One | Two))
      return unlocked(State);
  return State;
}

bool Walk::byGraph() {
  CFG::BuildOptions Options;
  Options.AddImplicitDtors = true;
  Options.setAllAlwaysAdd();
  std::unique_ptr<CFG> Graph = CFG::buildCFG(D, D->getBody(), &Context, Options);
  if (!Graph)
    return false;
  std::vector<unsigned> In(Graph->getNumBlockIDs(), 0);
  std::deque<const CFGBlock *> Todo{&Graph->getEntry()};
  In[Graph->getEntry().getBlockID()] = AtEntry;
  while (!Todo.empty()) {
    const CFGBlock *Block = Todo.front();
    Todo.pop_front();
    unsigned State = In[Block->getBlockID()];
    for (const CFGElement &Element : *Block)
      State = through(Element, State, false);
    for (const CFGBlock *Next : Block->succs())
      if (Next && (In[Next->getBlockID()] | State) != In[Next->getBlockID()]) {
        In[Next->getBlockID()] |= State;
        Todo.push_back(Next);
      }
  }
  for (int Round = 0; Round < 2; Round++) // what a loop reads is used at its top
    for (auto Block = Graph->rbegin(); Block != Graph->rend(); ++Block) {
      unsigned State = In[(*Block)->getBlockID()];
      if (!State)
        continue; // nothing leads there
      for (const CFGElement &Element : **Block)
        State = through(Element, State, true);
    }
  return true;
}

class Statements : public RecursiveASTVisitor<Statements> {
public:
  std::vector<const Stmt *> All;
  bool HasLock = false;
  bool shouldTraversePostOrder() const { return true; }
  bool TraverseLambdaExpr(LambdaExpr *) { return true; }
  bool VisitStmt(Stmt *S) {
    All.push_back(S);
    if (const auto *Call = dyn_cast<CallExpr>(S))
      HasLock |= effectOf(Call) != Effect::None;
    if (const auto *Construct = dyn_cast<CXXConstructExpr>(S))
      HasLock |= isGuard(Construct->getType());
    return true;
  }
};

} // namespace

void lockedAccesses(const FunctionDecl *D, ASTContext &Context, FunctionRow &Row) {
  if (Context.getDiagnostics().hasErrorOccurred())
    return; // the graph of a body with errors is not to be relied on
  Statements Body;
  Walk Accesses(D, Context, Row);
  Body.TraverseStmt(D->getBody());
  if (Body.HasLock)
    Accesses.byGraph();
  else
    Accesses.each(Body.All);
}

} // namespace vprof
