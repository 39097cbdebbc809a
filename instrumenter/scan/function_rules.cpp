/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "instrumenter/scan/function_rules.h"

#include "instrumenter/scan/decl_text.h"
#include "instrumenter/scan/twin_rules.h"

#include "clang/AST/ASTContext.h"
#include "clang/AST/Attr.h"
#include "clang/AST/DeclCXX.h"
#include "clang/AST/ExprCXX.h"
#include "clang/AST/StmtCXX.h"
#include "clang/Lex/Lexer.h"

namespace vprof {

using namespace clang;

const CompoundStmt *bracesOf(const FunctionDecl *Function) {
  const Stmt *Body = Function->getBody();
  if (const auto *Coroutine = dyn_cast_or_null<CoroutineBodyStmt>(Body))
    Body = Coroutine->getBody();
  if (const auto *Try = dyn_cast_or_null<CXXTryStmt>(Body))
    return Try->getTryBlock();
  return dyn_cast_or_null<CompoundStmt>(Body);
}

namespace {

// Clang calls every lambda constexpr that could be; a probe only matters where the source says so.
bool saysConstexpr(const FunctionDecl *Lambda) {
  const ASTContext &Context = Lambda->getASTContext();
  const SourceManager &Sources = Context.getSourceManager();
  SourceRange Head(Lambda->getBeginLoc(), Lambda->getBody()->getBeginLoc());
  CharSourceRange Text = Lexer::makeFileCharRange(CharSourceRange::getTokenRange(Head), Sources, Context.getLangOpts());
  return Lexer::getSourceText(Text, Sources, Context.getLangOpts()).contains("constexpr");
}

std::string attributeReason(const FunctionDecl *Function, const UnitTraits &Traits) {
  const auto *Method = dyn_cast<CXXMethodDecl>(Function);
  if (Function->isConsteval())
    return "consteval";
  if (Method && Method->getParent()->isLambda() ? saysConstexpr(Function) : Function->isConstexprSpecified())
    return "constexpr";
  if (isa<CoroutineBodyStmt>(Function->getBody()))
    return "coroutine";
  if (Traits.AttributesDefinedAway)
    return "attribute_macro";
  if (Function->hasAttr<NakedAttr>())
    return "naked";
  if (Function->hasAttr<NoInstrumentFunctionAttr>())
    return "no_instrument";
  if (Traits.IfuncResolvers.count(Function->getNameAsString()) || Function->hasAttr<IFuncAttr>())
    return "ifunc";
  if (const auto *Target = Function->getAttr<TargetAttr>())
    if (Target->getFeaturesStr().contains("general-regs-only") || Target->getFeaturesStr().contains("no-"))
      return "target";
  return "";
}

// `__label__ a, b;` must stay first in its block: the insertion goes behind. Clang keeps no statement for it, so
// the text is read: spaces, comments, then the declarations up to their semicolons.
int64_t afterLocalLabels(StringRef Text, int64_t Offset) {
  auto skipBlank = [&](size_t At) {
    while (At < Text.size()) {
      if (isspace(static_cast<unsigned char>(Text[At]))) {
        At++;
      } else if (Text.substr(At).starts_with("/*")) {
        size_t End = Text.find("*/", At + 2);
        At = End == StringRef::npos ? Text.size() : End + 2;
      } else if (Text.substr(At).starts_with("//")) {
        size_t End = Text.find('\n', At);
        At = End == StringRef::npos ? Text.size() : End;
      } else {
        break;
      }
    }
    return At;
  };
  for (;;) {
    size_t At = skipBlank(static_cast<size_t>(Offset));
    if (!Text.substr(At).starts_with("__label__"))
      return Offset;
    size_t Semicolon = Text.find(';', At);
    if (Semicolon == StringRef::npos)
      return Offset;
    Offset = static_cast<int64_t>(Semicolon) + 1;
  }
}

// A loop can take any time, however short it reads; so can inline assembly (a pause, a system call).
bool holdsLoop(const Stmt *Node) {
  if (!Node)
    return false;
  if (isa<WhileStmt, DoStmt, ForStmt, CXXForRangeStmt, GotoStmt, IndirectGotoStmt, AsmStmt>(Node))
    return true;
  return llvm::any_of(Node->children(), holdsLoop);
}

// Without loops and calls every statement runs once at most: shorter than its probe, however many there are.
bool tinyBody(const CompoundStmt *Body) { return Body && !holdsLoop(Body); }

// Sets File, BodyBegin and BodyEnd; the reason when the brace has no byte in a project file.
std::string placeBody(const CompoundStmt *Body, const FunctionDecl *Function, SourceRanges &Ranges, FunctionRow &Row) {
  const SourceManager &Sources = Ranges.sources();
  std::optional<FileRange> Open = Body ? Ranges.tokenSpelling(Body->getLBracLoc()) : std::nullopt;
  std::optional<uint32_t> Here = Ranges.projectFileAt(Function->getLocation());
  Row.File = Open ? Open->File : *Here;
  SourceLocation Name = Sources.getExpansionLoc(Function->getLocation());
  bool SameFile = Here && *Here == Row.File;
  Row.Line = static_cast<int32_t>(SameFile ? Sources.getExpansionLineNumber(Name) : Open->Line);
  Row.EndLine = Row.Line;
  if (Body && SameFile)
    Row.EndLine = static_cast<int32_t>(Sources.getExpansionLineNumber(Body->getRBracLoc()));
  if (!Open)
    return "brace_not_spelled";
  StringRef Text = Sources.getBufferData(Sources.getFileID(Sources.getSpellingLoc(Body->getLBracLoc())));
  Row.BodyBegin = Open->End;
  std::optional<FileRange> Close = Ranges.tokenSpelling(Body->getRBracLoc());
  if (Close && Close->File == Row.File && Close->End > Open->End && Text[static_cast<size_t>(Close->End - 1)] == '}')
    Row.BodyEnd = Close->End - 1;
  if (Open->End < 1 || static_cast<size_t>(Open->End) > Text.size() || Text[static_cast<size_t>(Open->End - 1)] != '{')
    return "brace_mismatch"; // a digraph, or a brace that was pasted together
  Row.BodyBegin = afterLocalLabels(Text, Open->End);
  if (Ranges.isFragile(Row.File, Row.BodyBegin - 1, Row.BodyBegin))
    return "stringified";
  return "";
}

} // namespace

bool describeFunction(const FunctionDecl *Function, const UnitTraits &Traits, SourceRanges &Ranges, FunctionRow &Row) {
  const ASTContext &Context = Function->getASTContext();
  const FunctionDecl *Pattern = patternOf(Function);
  if (const FunctionDecl *Definition = Pattern->getDefinition())
    Pattern = Definition;
  const CompoundStmt *Body = bracesOf(Function);
  bool BraceInProject = Body && Ranges.tokenSpelling(Body->getLBracLoc());
  if (!BraceInProject && !Ranges.inProject(Function->getLocation()))
    return false;
  std::string Place = placeBody(Body, Function, Ranges, Row);
  Row.Reason = attributeReason(Function, Traits);
  if (Row.Reason.empty())
    Row.Reason = Place;
  describeTwin(Function, Body, Ranges, Row);
  Row.Name = Pattern->getNameAsString();
  Row.Display = displayOf(Pattern);
  Row.Usr = usrOf(Function);
  Row.Lang = Context.getLangOpts().CPlusPlus ? "c++" : "c";
  Row.Returns = returnSpelling(Pattern->getReturnType(), Context);
  Row.ReturnKind = returnKind(Pattern->getReturnType());
  Row.Params = paramsOf(Pattern, Context);
  Row.Signature = signatureOf(Pattern->getType(), Context);
  const auto *Method = dyn_cast<CXXMethodDecl>(Pattern);
  Row.IsStatic = !Method && Pattern->getStorageClass() == SC_Static;
  Row.IsTiny = Pattern->isInlined() && tinyBody(Body); // the collector takes it back when it meets a call
  return true;
}

} // namespace vprof
