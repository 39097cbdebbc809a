/* SPDX-License-Identifier: GPL-3.0-or-later */
// A twin has the text of its function, under another name, right behind it. So the text must stand in one file from the
// storage class to the last brace, and must mean the same when it is compiled twice: no static variable of its own, no
// symbol of the assembler, no attribute that acts by itself (a constructor would run twice), no label's address that
// outlives it.
#include "instrumenter/scan/twin_rules.h"

#include "clang/AST/ASTContext.h"
#include "clang/AST/Attr.h"
#include "clang/AST/Expr.h"
#include "clang/AST/StmtVisitor.h"
#include "clang/Basic/LangOptions.h"
#include "llvm/ADT/SmallPtrSet.h"

namespace vprof {

using namespace clang;

namespace {

// What a body holds that matters here.
struct Contents {
  int32_t Size = 0;
  bool Loops = false, Statics = false, Symbols = false, Labels = false;
  llvm::SmallPtrSet<const VarDecl *, 4> Tables; // of labels
};

// Numbers are local labels; "%=" makes others unique.
bool definesSymbol(StringRef Text) {
  if (Text.contains(".type") || Text.contains(".glob") || Text.contains(".set"))
    return true;
  for (size_t At = Text.find(':'); At != StringRef::npos; At = Text.find(':', At + 1)) {
    size_t Begin = At;
    while (Begin && (isalnum(static_cast<unsigned char>(Text[Begin - 1])) || Text[Begin - 1] == '_' ||
                     Text[Begin - 1] == '.' || Text[Begin - 1] == '$'))
      Begin--;
    StringRef Word = Text.slice(Begin, At);
    if (!Word.empty() && Word.find_first_not_of("0123456789") != StringRef::npos && Word != "cs" && Word != "ds" &&
        Word != "es" && Word != "fs" && Word != "gs" && Word != "ss")
      return true;
  }
  return false;
}

bool holdsLabelAddress(const Stmt *Node) {
  return Node && (isa<AddrLabelExpr>(Node) || llvm::any_of(Node->children(), holdsLabelAddress));
}

// A constant table of labels belongs to its copy of the body; all other static variables are one for both copies.
bool isShared(const VarDecl *Variable) {
  if (!Variable->isStaticLocal())
    return false;
  return !(Variable->getType().isConstant(Variable->getASTContext()) && holdsLabelAddress(Variable->getInit()));
}

bool namesTable(const Stmt *Node, const Contents &Found) {
  const auto *Reference = dyn_cast_or_null<DeclRefExpr>(Node);
  if (Reference && Found.Tables.count(dyn_cast<VarDecl>(Reference->getDecl())))
    return true;
  return Node && llvm::any_of(Node->children(), [&](const Stmt *Child) { return namesTable(Child, Found); });
}

// Addresses of labels are the copy's own, so they may only be gone to: what stores one, or hands out a table of them,
// would have the other copy go there. InGoto: within a goto's operand, or a table.
void lookForLabels(const Stmt *Node, Contents &Found, bool InGoto) {
  if (!Node)
    return;
  InGoto |= isa<IndirectGotoStmt, AsmStmt>(Node); // (asm goto)
  if (const auto *Declarations = dyn_cast<DeclStmt>(Node)) {
    for (const Decl *D : Declarations->decls()) {
      const auto *Variable = dyn_cast<VarDecl>(D);
      const Expr *Value = Variable ? Variable->getInit() : nullptr;
      bool IsTable =
          Value && Variable->getType()->isArrayType() && (holdsLabelAddress(Value) || namesTable(Value, Found));
      if (IsTable)
        Found.Tables.insert(Variable);
      lookForLabels(Value, Found, IsTable);
    }
    return;
  }
  if (!InGoto && (isa<AddrLabelExpr>(Node) || (isa<DeclRefExpr>(Node) && namesTable(Node, Found))))
    Found.Labels = true;
  for (const Stmt *Child : Node->children())
    lookForLabels(Child, Found, InGoto);
}

void look(const Stmt *Node, Contents &Found) {
  if (!Node)
    return;
  Found.Size++;
  if (isa<WhileStmt, DoStmt, ForStmt, GotoStmt, IndirectGotoStmt, AsmStmt>(Node))
    Found.Loops = true;
  if (const auto *Assembly = dyn_cast<GCCAsmStmt>(Node))
    Found.Symbols |= definesSymbol(Assembly->getAsmString()->getString());
  else if (isa<AsmStmt>(Node))
    Found.Symbols = true;
  if (const auto *Declarations = dyn_cast<DeclStmt>(Node))
    for (const Decl *D : Declarations->decls())
      if (const auto *Variable = dyn_cast<VarDecl>(D))
        Found.Statics |= isShared(Variable);
  for (const Stmt *Child : Node->children())
    look(Child, Found);
}

// Attributes that a second function may have as well.
bool isHarmless(const Attr *A) {
  return isa<NoInlineAttr, HotAttr, ColdAttr, PureAttr, ConstAttr, NoThrowAttr, FormatAttr, FormatArgAttr, NonNullAttr,
             ReturnsNonNullAttr, WarnUnusedResultAttr, UnusedAttr, DeprecatedAttr, RestrictAttr, AllocSizeAttr,
             AllocAlignAttr, TargetAttr, FlattenAttr, VisibilityAttr, UsedAttr, AnalyzerNoReturnAttr, NoSanitizeAttr,
             OptimizeNoneAttr, MinSizeAttr, SentinelAttr, BuiltinAttr, AsmLabelAttr, C11NoReturnAttr>(A);
}

std::string attributeOf(const FunctionDecl *Function) {
  if (Function->hasAttr<AlwaysInlineAttr>())
    return "always_inline";
  if (Function->hasAttr<GNUInlineAttr>() ||
      (Function->isInlineSpecified() && Function->getStorageClass() == SC_Extern &&
       Function->getASTContext().getLangOpts().GNUInline))
    return "extern_inline";
  for (const Attr *A : Function->attrs())
    if (!A->isInherited() && !A->isImplicit() && !isHarmless(A))
      return "attribute";
  return "";
}

} // namespace

void describeTwin(const FunctionDecl *Function, const CompoundStmt *Body, SourceRanges &Ranges, FunctionRow &Row) {
  const SourceManager &Sources = Ranges.sources();
  const ASTContext &Context = Function->getASTContext();
  Contents Found;
  look(Body, Found);
  lookForLabels(Body, Found, false);
  Row.Size = Found.Loops ? -1 : Found.Size;
  if (Context.getLangOpts().CPlusPlus || Found.Labels) {
    Row.Twin = Found.Labels ? "label" : "c++";
    return;
  }
  SourceLocation Name = Function->getLocation();
  FileRange Place = (Name.isFileID() ? Ranges.tokenSpelling(Name) : std::nullopt).value_or(FileRange());
  SourceLocation Begin = Sources.getExpansionLoc(Function->getBeginLoc());
  std::optional<uint32_t> File = Ranges.projectFileAt(Begin);
  Row.Twin = "head";
  if (Place.End < 0 || Place.File != Row.File || !File || *File != Row.File || Row.BodyEnd < 0 ||
      Sources.getFileID(Begin) != Sources.getFileID(Name))
    return;
  int64_t Head = static_cast<int64_t>(Sources.getFileOffset(Begin));
  if (Head >= Place.End || Place.End >= Row.BodyBegin ||
      Sources.getBufferData(Sources.getFileID(Begin))
          .slice(static_cast<size_t>(Head), static_cast<size_t>(Row.BodyBegin) - 1)
          .contains('{'))
    return;
  Row.HeadBegin = Head;
  Row.NameEnd = Place.End;
  Row.Twin = attributeOf(Function);
  if (Row.Twin.empty() && Found.Statics)
    Row.Twin = "static_local";
  if (Row.Twin.empty() && Found.Symbols)
    Row.Twin = "assembly";
  if (Row.Twin.empty() && Function->isMain())
    Row.Twin = "main";
}

} // namespace vprof
