/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "instrumenter/scan/decl_text.h"

#include "clang/AST/DeclCXX.h"
#include "clang/AST/DeclTemplate.h"
#include "clang/Basic/FileManager.h"
#include "clang/Basic/SourceManager.h"
#include "clang/Index/USRGeneration.h"
#include "llvm/ADT/SmallString.h"
#include "llvm/Support/JSON.h"
#include "llvm/Support/Path.h"
#include "llvm/Support/raw_ostream.h"

#include <cstdlib>

extern "C" {
#include "common/files.h"
}

namespace vprof {

using namespace clang;

const FunctionDecl *patternOf(const FunctionDecl *Function) {
  if (const FunctionDecl *Pattern = Function->getTemplateInstantiationPattern(/*ForDefinition=*/false))
    return Pattern;
  return Function;
}

static std::string placeOf(const FunctionDecl *Function) {
  const SourceManager &Sources = Function->getASTContext().getSourceManager();
  auto [File, Offset] = Sources.getDecomposedExpansionLoc(Function->getLocation());
  std::string Place;
  if (OptionalFileEntryRef Entry = Sources.getFileEntryRefForID(File)) {
    auto Cwd = Sources.getFileManager().getVirtualFileSystem().getCurrentWorkingDirectory();
    char *Path = vprof_path_absolute(Cwd ? Cwd->c_str() : "/", Entry->getName().str().c_str());
    Place = Path ? Path : "";
    free(Path);
  }
  const auto *Method = dyn_cast<CXXMethodDecl>(Function);
  if ((Method && Method->getParent()->isLambda()) || Function->getParentFunctionOrMethod())
    Place += ":" + std::to_string(Offset); // several of the same name may share a function
  return Place;
}

static std::string fileNameOf(const FunctionDecl *Function) {
  const SourceManager &Sources = Function->getASTContext().getSourceManager();
  OptionalFileEntryRef Entry =
      Sources.getFileEntryRefForID(Sources.getFileID(Sources.getExpansionLoc(Function->getLocation())));
  return Entry ? llvm::sys::path::filename(Entry->getName()).str() : std::string();
}

std::string usrOf(const FunctionDecl *Function) {
  Function = patternOf(Function)->getCanonicalDecl();
  SmallString<128> Usr;
  if (index::generateUSRForDecl(Function, Usr))
    Usr = "n:" + Function->getQualifiedNameAsString();
  const auto *Method = dyn_cast<CXXMethodDecl>(Function);
  bool Lambda = Method && Method->getParent()->isLambda();
  // A C header's static functions, included by C++ inside extern "C" { }: the same functions as in C.
  if (!Function->isExternallyVisible() && Function->isInExternCContext())
    return "c:" + fileNameOf(Function) + "@F@" + Function->getNameAsString() + "|" + placeOf(Function);
  if (Lambda || !Function->isExternallyVisible())
    return (Usr + "|" + placeOf(Function)).str();
  return Usr.str().str();
}

std::string displayOf(const FunctionDecl *Function) {
  const auto *Method = dyn_cast<CXXMethodDecl>(Function);
  if (Method && Method->getParent()->isLambda()) {
    const DeclContext *Outer = Method->getParent()->getParent();
    while (Outer && !isa<NamedDecl>(Outer))
      Outer = Outer->getParent();
    const auto *Named = dyn_cast_or_null<FunctionDecl>(Outer);
    return (Named ? displayOf(Named) + "::" : std::string()) + "(lambda)";
  }
  if (!Function->getASTContext().getLangOpts().CPlusPlus)
    return Function->getNameAsString();
  std::string Text;
  llvm::raw_string_ostream Stream(Text);
  PrintingPolicy Policy = spellingPolicy(Function->getASTContext());
  Policy.SuppressUnwrittenScope = true;
  Function->printQualifiedName(Stream, Policy);
  return Text;
}

std::string calleeName(const FunctionDecl *Function, bool InProject) {
  if (InProject || Function->isExternC() || !Function->getASTContext().getLangOpts().CPlusPlus)
    return Function->getNameAsString();
  return displayOf(patternOf(Function));
}

PrintingPolicy spellingPolicy(const ASTContext &Context) {
  PrintingPolicy Policy(Context.getLangOpts());
  Policy.Bool = Context.getLangOpts().CPlusPlus;
  Policy.AnonymousTagLocations = false;
  return Policy;
}

static std::string canonicalText(QualType Type, const ASTContext &Context) {
  PrintingPolicy Policy(Context.getLangOpts());
  Policy.SuppressTagKeyword = true; // C's `struct client *` is C++'s `client *`
  Policy.Bool = true;
  Policy.AnonymousTagLocations = true;
  Policy.PrintCanonicalTypes = true;
  return Type.getCanonicalType().getAsString(Policy);
}

std::string signatureOf(QualType FunctionType, const ASTContext &Context) {
  const auto *Function = FunctionType.getCanonicalType()->getAs<clang::FunctionType>();
  if (!Function)
    return "";
  std::string Text = canonicalText(Function->getReturnType().getUnqualifiedType(), Context) + " (";
  if (const auto *Prototype = dyn_cast<FunctionProtoType>(Function)) {
    bool First = true;
    for (QualType Parameter : Prototype->param_types()) {
      if (!First)
        Text += ", ";
      First = false;
      Text += canonicalText(Parameter.getUnqualifiedType(), Context);
    }
    if (Prototype->isVariadic())
      Text += First ? "..." : ", ...";
    else if (First)
      Text += "void";
  }
  return Text + ")";
}

QualType pointedFunction(QualType Type) {
  Type = Type.getCanonicalType().getNonReferenceType();
  if (const auto *Pointer = Type->getAs<PointerType>())
    Type = Pointer->getPointeeType();
  else if (const auto *Member = Type->getAs<MemberPointerType>())
    Type = Member->getPointeeType();
  else if (const auto *Block = Type->getAs<BlockPointerType>())
    Type = Block->getPointeeType();
  return Type->isFunctionType() ? Type.getCanonicalType() : QualType();
}

QualType standardFunction(const CXXRecordDecl *Class) {
  const auto *Specialization = dyn_cast_or_null<ClassTemplateSpecializationDecl>(Class);
  if (!Specialization || !Specialization->isInStdNamespace() || !Specialization->getIdentifier())
    return QualType();
  StringRef Name = Specialization->getName();
  if (Name != "function" && Name != "move_only_function" && Name != "packaged_task")
    return QualType();
  const TemplateArgumentList &Arguments = Specialization->getTemplateArgs();
  if (!Arguments.size() || Arguments[0].getKind() != TemplateArgument::Type)
    return QualType();
  QualType Type = Arguments[0].getAsType();
  return Type->isFunctionType() ? Type : QualType();
}

std::string returnKind(QualType Type) {
  if (Type->isVoidType())
    return "void";
  if (Type->isReferenceType())
    return "reference";
  return Type->isRecordType() || Type->isDependentType() ? "record" : "scalar";
}

// Does a declaration of this type need more than "TYPE name", or a type that has no name?
static bool hasNoSpelling(QualType Type) {
  for (QualType Inner = Type.getCanonicalType();;) {
    if (Inner->isFunctionType() || Inner->isArrayType() || Inner->isVariablyModifiedType())
      return true;
    if (const auto *Tag = Inner->getAs<clang::TagType>())
      return !Tag->getDecl()->getIdentifier() && !Tag->getDecl()->getTypedefNameForAnonDecl();
    QualType Pointee = Inner->getPointeeType();
    if (Pointee.isNull())
      return false;
    Inner = Pointee.getCanonicalType();
  }
}

std::string returnSpelling(QualType Type, const ASTContext &Context) {
  if (hasNoSpelling(Type))
    return "__auto_type";
  std::string Text = Type.getUnqualifiedType().getAsString(spellingPolicy(Context));
  return StringRef(Text).contains("typeof") ? "__auto_type" : Text;
}

std::string paramsOf(const FunctionDecl *Function, const ASTContext &Context) {
  llvm::json::Array Array;
  for (const ParmVarDecl *Parameter : Function->parameters())
    Array.push_back(llvm::json::Object{
        {"name", Parameter->getNameAsString()},
        {"type", llvm::json::fixUTF8(Parameter->getOriginalType().getAsString(spellingPolicy(Context)))}});
  std::string Text;
  llvm::raw_string_ostream(Text) << llvm::json::Value(std::move(Array));
  return Text;
}

} // namespace vprof
