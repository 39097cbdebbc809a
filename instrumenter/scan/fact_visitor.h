/* SPDX-License-Identifier: GPL-3.0-or-later */
// Walks the syntax tree of one translation unit and fills TuFacts.
//
// Every function body is a frame; nested ones (lambdas, methods of local classes) have their own. An
// instantiation's frame writes into its pattern's row, so that calls which only an instantiation can resolve are
// found, at the offsets of the pattern.
#ifndef VPROF_SCAN_FACT_VISITOR_H
#define VPROF_SCAN_FACT_VISITOR_H

#include "instrumenter/scan/function_rules.h"
#include "instrumenter/scan/source_ranges.h"
#include "instrumenter/scan/wrap_rules.h"

#include "clang/AST/RecursiveASTVisitor.h"

#include <map>
#include <set>
#include <tuple>

namespace vprof {

class Collector : public clang::RecursiveASTVisitor<Collector> {
public:
  using Base = clang::RecursiveASTVisitor<Collector>;

  Collector(clang::ASTContext &Context, SourceRanges &Ranges, UnitTraits Traits, TuFacts &Facts)
      : Context(Context), Ranges(Ranges), Traits(std::move(Traits)), Facts(Facts) {}

  void collect(); // the whole unit

  bool shouldVisitTemplateInstantiations() const { return true; }
  bool shouldVisitImplicitCode() const { return false; }
  bool shouldWalkTypesOfTypeLocs() const { return false; }

  bool TraverseDecl(clang::Decl *D);
  bool TraverseStmt(clang::Stmt *S);
  bool TraverseFunctionDecl(clang::FunctionDecl *D) { return traverseFunction(D); }
  bool TraverseCXXMethodDecl(clang::CXXMethodDecl *D) { return traverseFunction(D); }
  bool TraverseCXXConstructorDecl(clang::CXXConstructorDecl *D) { return traverseFunction(D); }
  bool TraverseCXXDestructorDecl(clang::CXXDestructorDecl *D) { return traverseFunction(D); }
  bool TraverseCXXConversionDecl(clang::CXXConversionDecl *D) { return traverseFunction(D); }
  bool TraverseCXXDeductionGuideDecl(clang::CXXDeductionGuideDecl *) { return true; }
  bool TraverseLambdaExpr(clang::LambdaExpr *E);
  bool TraverseInitListExpr(clang::InitListExpr *E);
  bool TraverseGenericSelectionExpr(clang::GenericSelectionExpr *E);
  bool TraverseCXXForRangeStmt(clang::CXXForRangeStmt *S);
  bool TraverseForStmt(clang::ForStmt *S);
  bool TraverseTypeLoc(clang::TypeLoc T);
  bool TraverseTemplateArgumentLoc(const clang::TemplateArgumentLoc &Argument);

private:
  struct Frame {
    const clang::FunctionDecl *Function;
    size_t Row;
    unsigned Loops = 0;
    bool Pattern = false, Template = false, Refuses = false;
  };
  struct State {
    unsigned Unevaluated = 0, Constant = 0, MaybeConstant = 0, Assembly = 0, Implicit = 0, Initialiser = 0;
  };

  // fact_visitor.cpp: the walk
  bool traverseFunction(clang::FunctionDecl *D);
  void enterBody(const clang::FunctionDecl *D, clang::Stmt *Body);
  void constructorInitialisers(const clang::CXXConstructorDecl *D);
  void visit(clang::Stmt *S);
  bool changesState(const clang::Stmt *S, State &New) const;
  bool isLoop(const clang::Stmt *S) const;
  void noteOverrides(const clang::CXXMethodDecl *Method);
  void resolvePending();
  void unwrapDoubles();

  // fact_visitor_calls.cpp: calls and return statements
  void call(const clang::CallExpr *E);
  void construct(const clang::CXXConstructExpr *E);
  void destroy(const clang::CXXDestructorDecl *Destructor, clang::SourceRange Range);
  void destroyOf(clang::QualType Type, clang::SourceRange Range);
  void dependentCall(const clang::CallExpr *E);
  void addCall(CallRow Row, clang::SourceRange Range);
  void placeCall(CallRow &Row, clang::SourceRange Range);
  CallPlace surroundings(const clang::CallExpr *E) const;
  void returnedValue(const clang::ReturnStmt *S, ExitRow &Row);
  std::string argumentsJson(llvm::ArrayRef<const clang::Expr *> Arguments);
  std::string expressionText(const clang::Expr *E, size_t Limit = 200);
  void exitSite(const clang::ReturnStmt *S);

  // fact_visitor_addresses.cpp: functions whose address is taken
  void reference(const clang::DeclRefExpr *E);
  void lambdaTaken(const clang::LambdaExpr *E);
  void closureArguments(llvm::ArrayRef<const clang::Expr *> Arguments, const std::string &Target);
  void addAddress(AddressRow Row, clang::SourceLocation Where);
  bool isCallee(const clang::Stmt *E) const;
  void classify(const clang::Stmt *E, AddressRow &Row);
  std::string targetOf(const clang::CallExpr *E);

  clang::ASTContext &Context;
  SourceRanges &Ranges;
  UnitTraits Traits;
  TuFacts &Facts;
  std::vector<Frame> Frames;
  std::vector<Above> Way;
  State Now;
  std::map<std::tuple<uint32_t, int64_t, std::string>, size_t> RowOf; // file, body_begin, usr
  using Bytes = std::tuple<uint32_t, int64_t, int64_t>;               // file, begin, end
  using CallKey = std::tuple<size_t, Bytes, std::string, std::string, int32_t, int32_t>;
  std::map<CallKey, size_t> CallsSeen;             // index into the caller's calls
  std::set<std::pair<size_t, unsigned>> ExitsSeen; // row, raw location: instantiations share the pattern's
  std::set<std::tuple<std::string, std::string, std::string, int32_t, uint32_t, int32_t, int64_t>> AddressesSeen;
  std::set<std::pair<std::string, std::string>> OverridesSeen;
  std::set<Bytes> Poisoned; // places of unevaluated calls
  struct Pending {
    size_t Row;
    CallRow Call;
  };
  std::vector<Pending> DependentCalls;
};

} // namespace vprof

#endif
