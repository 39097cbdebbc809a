/* SPDX-License-Identifier: GPL-3.0-or-later */
// Calls and return statements: who is called, where the bytes are, and what may be done to them.
#include "instrumenter/scan/decl_text.h"
#include "instrumenter/scan/fact_visitor.h"

#include "clang/AST/ASTContext.h"
#include "clang/AST/ExprCXX.h"
#include "clang/Lex/Lexer.h"
#include "llvm/Support/JSON.h"
#include "llvm/Support/raw_ostream.h"

namespace vprof {

using namespace clang;

// Cuts at most `Limit` bytes off, at a character's border, and replaces bytes that are not UTF-8.
static std::string cut(std::string Text, size_t Limit) {
  if (Text.size() > Limit) {
    while (Limit && (static_cast<unsigned char>(Text[Limit]) & 0xc0) == 0x80)
      Limit--;
    Text.resize(Limit);
  }
  return llvm::json::fixUTF8(Text);
}

std::string Collector::expressionText(const Expr *E, size_t Limit) {
  if (!E)
    return "";
  if (isa<CXXDefaultArgExpr>(E))
    return "";
  if (std::optional<std::string> Text = Ranges.text(E->getSourceRange()))
    return cut(std::move(*Text), Limit);
  std::string Text;
  llvm::raw_string_ostream Stream(Text);
  E->printPretty(Stream, nullptr, spellingPolicy(Context));
  return cut(std::move(Text), Limit);
}

std::string Collector::argumentsJson(ArrayRef<const Expr *> Arguments) {
  llvm::json::Array Array;
  for (const Expr *Argument : Arguments)
    if (!isa<CXXDefaultArgExpr>(Argument))
      Array.push_back(expressionText(Argument));
  std::string Text;
  llvm::raw_string_ostream(Text) << llvm::json::Value(std::move(Array));
  return Text;
}

// Bytes, line and column; begin stays -1 for what the source does not spell.
void Collector::placeCall(CallRow &Row, SourceRange Range) {
  const SourceManager &Sources = Ranges.sources();
  std::optional<FileRange> Place = Now.Implicit ? std::nullopt : Ranges.map(Range);
  if (Place) {
    Row.File = Place->File;
    Row.Begin = Place->Begin;
    Row.End = Place->End;
    Row.Line = Place->Line;
    Row.Col = Place->Col;
    return;
  }
  SourceLocation Where = Sources.getExpansionLoc(Range.getBegin());
  std::optional<uint32_t> File = Ranges.projectFileAt(Where);
  FunctionRow &Caller = Facts.Functions[Frames.back().Row];
  Row.File = File ? *File : Caller.File;
  Row.Line = File ? static_cast<int32_t>(Sources.getExpansionLineNumber(Where)) : Caller.Line;
  Row.Col = File ? static_cast<int32_t>(Sources.getExpansionColumnNumber(Where)) : 0;
}

void Collector::addCall(CallRow Row, SourceRange Range) {
  FunctionRow &Caller = Facts.Functions[Frames.back().Row];
  Caller.IsTiny = false;
  Row.InLoop = Frames.back().Loops > 0;
  if (Row.Line == 0)
    placeCall(Row, Range);
  auto [Known, Fresh] = CallsSeen.try_emplace(
      {Frames.back().Row, Bytes{Row.File, Row.Begin, Row.End}, Row.CalleeUsr, Row.Signature, Row.Line, Row.Col},
      Caller.Calls.size());
  if (Fresh) {
    Caller.Calls.push_back(std::move(Row));
    return;
  }
  CallRow &First = Caller.Calls[Known->second];
  if (First.wrappable() && First.Form != Row.Form) // another instantiation, or a macro's argument used again
    First.refuse(Row.wrappable() ? "instances" : Row.Reason);
}

static const Stmt *skipParentheses(const Stmt *S) {
  return isa<ParenExpr>(S) || isa<ImplicitCastExpr>(S) || isa<FullExpr>(S) ? nullptr : S;
}

CallPlace Collector::surroundings(const CallExpr *E) const {
  CallPlace Place;
  Place.Constant = Now.Constant > 0;
  Place.MaybeConstant = Now.MaybeConstant > 0;
  Place.Assembly = Now.Assembly > 0;
  Place.Initialiser = Now.Initialiser > 0;
  Place.CallerRefuses = Frames.back().Refuses;
  Place.Pattern = Frames.back().Pattern;
  Place.Template = Frames.back().Template;
  for (size_t I = Way.size(); I-- > 0 && !Place.Parent && Way[I].Statement;)
    Place.Parent = skipParentheses(Way[I].Statement);
  for (size_t I = Way.size(); I-- > 0 && Way[I].Statement;)
    if (!isa<Expr>(Way[I].Statement)) {
      Place.RangeInit = isa<CXXForRangeStmt>(Way[I].Statement);
      break;
    }
  Place.Use = useOfResult(E, Way);
  return Place;
}

void Collector::call(const CallExpr *E) {
  if (Frames.empty() || E->getBeginLoc().isInvalid())
    return;
  if (Now.Unevaluated) {
    if (std::optional<FileRange> Place = Ranges.map(E->getSourceRange()))
      Poisoned.insert({Place->File, Place->Begin, Place->End});
    return;
  }
  const Expr *Target = E->getCallee();
  const FunctionDecl *Callee = E->getDirectCallee();
  if (isCompilerBuiltin(Callee) || isa<CXXPseudoDestructorExpr>(Target->IgnoreParenImpCasts()))
    return;
  CallRow Row;
  const auto *Method = dyn_cast_or_null<CXXMethodDecl>(Callee);
  QualType Pointed = Method ? standardFunction(Method->getParent()) : pointedFunction(Target->getType());
  if (!Callee && Target->getType()->isSpecificBuiltinType(BuiltinType::BoundMember))
    if (const auto *Through = dyn_cast<BinaryOperator>(Target->IgnoreParenImpCasts()))
      Pointed = pointedFunction(Through->getRHS()->getType());
  if (Method && Pointed.isNull() == false && Callee->getOverloadedOperator() == OO_Call) {
    Row.Kind = "pointer"; // std::function
    const Expr *Object = isa<CXXOperatorCallExpr>(E) && E->getNumArgs() ? E->getArg(0) : Target;
    Row.Callee = expressionText(Object);
    Row.Signature = signatureOf(Pointed, Context);
  } else if (Callee) {
    const auto *Member = dyn_cast<MemberExpr>(Target->IgnoreParenImpCasts());
    bool Virtual = Method && Method->isVirtual() && Member && !Member->hasQualifier() &&
                   !Method->hasAttr<FinalAttr>() && !Method->getParent()->hasAttr<FinalAttr>();
    Row.Kind = isa<CXXDestructorDecl>(Callee) ? "destroy" : Virtual ? "virtual" : "direct";
    Row.Callee = calleeName(Callee, Ranges.inProject(Callee->getLocation()));
    Row.CalleeUsr = usrOf(Callee);
    Row.Signature = signatureOf(Callee->getType(), Context);
  } else if (!Pointed.isNull() && !Target->isTypeDependent()) {
    Row.Kind = "pointer";
    Row.Callee = expressionText(Target);
    Row.Signature = signatureOf(Pointed, Context);
  } else {
    dependentCall(E);
    return;
  }
  CallForm Wrap = wrapForm(E, Callee, surroundings(E), Context);
  Row.Form = Wrap.Form;
  Row.Reason = Wrap.Reason;
  if (Wrap.Reason == "implicit") { // its bytes are its operand's
    Now.Implicit++;
    placeCall(Row, E->getSourceRange());
    Now.Implicit--;
  } else {
    placeCall(Row, E->getSourceRange());
  }
  if (Row.wrappable() && Row.Begin < 0)
    Row.refuse("macro");
  if (Row.wrappable() && Ranges.isFragile(Row.File, Row.Begin, Row.End))
    Row.refuse("stringified");
  ArrayRef<const Expr *> Arguments(E->getArgs(), E->getNumArgs());
  Row.Args = argumentsJson(Arguments);
  const auto *Operator = dyn_cast<CXXOperatorCallExpr>(E);
  if (Context.getLangOpts().CPlusPlus && !(Operator && Operator->getOperator() == OO_Call))
    closureArguments(Arguments, targetOf(E));
  if (Frames.back().Pattern) { // the instantiations know better
    Row.InLoop = Frames.back().Loops > 0;
    Facts.Functions[Frames.back().Row].IsTiny = false;
    DependentCalls.push_back({Frames.back().Row, std::move(Row)});
    return;
  }
  addCall(std::move(Row), E->getSourceRange());
}

void Collector::dependentCall(const CallExpr *E) {
  const Expr *Target = E->getCallee()->IgnoreParenImpCasts();
  std::string Name;
  if (const auto *Overloads = dyn_cast<OverloadExpr>(Target))
    Name = Overloads->getName().getAsString();
  else if (const auto *Member = dyn_cast<CXXDependentScopeMemberExpr>(Target))
    Name = Member->getMember().getAsString();
  else if (const auto *Scoped = dyn_cast<DependentScopeDeclRefExpr>(Target))
    Name = Scoped->getDeclName().getAsString();
  else
    return; // a type's construction, a parameter that may be anything
  Pending Late;
  Late.Row = Frames.back().Row;
  Late.Call.Callee = Name;
  Late.Call.Kind = "direct";
  Late.Call.Reason = "template";
  Late.Call.InLoop = Frames.back().Loops > 0;
  Late.Call.Args = argumentsJson(ArrayRef<const Expr *>(E->getArgs(), E->getNumArgs()));
  placeCall(Late.Call, E->getSourceRange());
  Facts.Functions[Late.Row].IsTiny = false;
  DependentCalls.push_back(std::move(Late));
}

void Collector::construct(const CXXConstructExpr *E) {
  const CXXConstructorDecl *Constructor = E->getConstructor();
  if (!Constructor || Now.Unevaluated)
    return;
  ArrayRef<const Expr *> Arguments(E->getArgs(), E->getNumArgs());
  if (!Constructor->getParent()->isLambda() && standardFunction(Constructor->getParent()).isNull())
    closureArguments(Arguments, Constructor->getParent()->getQualifiedNameAsString());
  const FunctionDecl *Pattern = patternOf(Constructor);
  if (Frames.empty() || E->isElidable() || !Pattern->isUserProvided() || !Ranges.inProject(Pattern->getLocation()))
    return;
  CallRow Row;
  Row.Kind = "construct";
  Row.Callee = Pattern->getNameAsString();
  Row.CalleeUsr = usrOf(Pattern);
  Row.Signature = signatureOf(Pattern->getType(), Context);
  Row.Reason = "c++";
  Row.Args = argumentsJson(Arguments);
  SourceRange Range = E->getSourceRange();
  if (Range.isInvalid())
    Range = SourceRange(Frames.back().Function->getLocation());
  const bool Conversion = E->getParenOrBraceRange().isInvalid() && !isa<CXXTemporaryObjectExpr>(E); // argument's bytes
  Now.Implicit += Conversion;
  addCall(std::move(Row), Range);
  Now.Implicit -= Conversion;
}

void Collector::destroyOf(QualType Type, SourceRange Range) {
  if (Frames.empty() || Now.Unevaluated || Type.isNull() || Type->isReferenceType())
    return;
  const auto *Class = Context.getBaseElementType(Type)->getAsCXXRecordDecl();
  if (Class && Class->hasDefinition() && !Class->isDependentContext())
    if (const CXXDestructorDecl *Destructor = Class->getDestructor())
      destroy(Destructor, Range);
}

void Collector::destroy(const CXXDestructorDecl *Destructor, SourceRange Range) {
  const FunctionDecl *Pattern = patternOf(Destructor);
  if (!Pattern->isUserProvided() || !Ranges.inProject(Pattern->getLocation()))
    return;
  CallRow Row;
  Row.Kind = "destroy";
  Row.Callee = Pattern->getNameAsString();
  Row.CalleeUsr = usrOf(Pattern);
  Row.Signature = signatureOf(Pattern->getType(), Context);
  Row.Reason = "c++";
  Row.Args = "[]";
  SourceLocation Where = Range.isValid() ? Range.getBegin() : Frames.back().Function->getLocation();
  Now.Implicit++;
  addCall(std::move(Row), SourceRange(Where));
  Now.Implicit--;
}

// `return {...};` and `return NAME;` of C++: what must not be put into parentheses or copied once more.
void Collector::returnedValue(const ReturnStmt *S, ExitRow &Row) {
  std::optional<Token> First = Lexer::findNextToken(S->getReturnLoc(), Ranges.sources(), Ranges.options());
  if (!First || !Context.getLangOpts().CPlusPlus)
    return;
  if (First->is(tok::l_brace)) {
    Row.Value = "list";
    return;
  }
  std::optional<Token> Second = Lexer::findNextToken(First->getLocation(), Ranges.sources(), Ranges.options());
  if (First->isNot(tok::raw_identifier) || !Second || Second->isNot(tok::semi))
    return;
  const Stmt *E = S->getRetValue();
  while (E && !isa<DeclRefExpr>(E))
    E = std::distance(E->child_begin(), E->child_end()) == 1 ? *E->child_begin() : nullptr;
  const auto *Variable = E ? dyn_cast<VarDecl>(cast<DeclRefExpr>(E)->getDecl()) : nullptr;
  if (!Variable || Variable->getName() != First->getRawIdentifier())
    return;
  QualType Returned = Frames.back().Function->getReturnType().getCanonicalType().getUnqualifiedType();
  QualType Type = Variable->getType().getCanonicalType().getNonReferenceType().getUnqualifiedType();
  if (Returned == Type || Returned->isUndeducedType())
    Row.Value = "variable";
  else if (Variable->hasLocalStorage() && !Variable->getType()->isReferenceType())
    Row.Value = "moved";
  if (!Row.Value.empty())
    Row.Variable = Variable->getNameAsString();
}

// `return E;` as one range with its semicolon. Where a macro spells a part of it there is nothing to edit.
void Collector::exitSite(const ReturnStmt *S) {
  if (Frames.empty() || !ExitsSeen.insert({Frames.back().Row, S->getReturnLoc().getRawEncoding()}).second)
    return;
  const SourceManager &Sources = Ranges.sources();
  FunctionRow &Function = Facts.Functions[Frames.back().Row];
  ExitRow Row;
  Row.Line = static_cast<int32_t>(Sources.getExpansionLineNumber(S->getReturnLoc()));
  SourceLocation Last = S->getReturnLoc();
  bool Plain = Last.isFileID();
  std::optional<FileRange> Value;
  if (const Expr *E = S->getRetValue()) {
    Value = Ranges.map(E->getSourceRange());
    Plain = Plain && Value.has_value();
    Last = Sources.getExpansionRange(E->getEndLoc()).getEnd();
  }
  if (Plain) {
    auto [File, Begin] = Sources.getDecomposedLoc(S->getReturnLoc());
    std::optional<Token> Next = Lexer::findNextToken(Last, Sources, Ranges.options());
    std::optional<uint32_t> Index = Ranges.projectFile(File);
    if (Index && Next && Next->is(tok::semi) && Sources.getFileID(Next->getLocation()) == File) {
      Row.Begin = Begin;
      Row.End = Sources.getFileOffset(Next->getLocation()) + 1;
      if (Value) {
        Row.ExprBegin = Value->Begin;
        Row.ExprEnd = Value->End;
        returnedValue(S, Row);
      }
      bool Inside = !Value || (Value->File == *Index && Value->Begin > Row.Begin && Value->End < Row.End);
      Row.Editable = Inside && *Index == Function.File && !Ranges.isFragile(*Index, Row.Begin, Row.End);
    }
  }
  Function.Exits.push_back(Row);
}

} // namespace vprof
