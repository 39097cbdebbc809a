/* SPDX-License-Identifier: GPL-3.0-or-later */
// The climb (result_use.h). An expression that it does not know counts as one that goes on after the call.
#include "instrumenter/scan/result_use.h"

#include "clang/AST/ExprCXX.h"
#include "clang/AST/StmtCXX.h"

namespace vprof {

using namespace clang;

namespace {

class Climb {
public:
  Climb(const Expr *Call, llvm::ArrayRef<Above> Way) : Way(Way), Below(Call) {}

  ResultUse use() {
    for (size_t I = Way.size(); I-- > 0; Below = Way[I].Statement) {
      const Stmt *Parent = Way[I].Statement;
      if (!Parent)
        return ResultUse::Last; // a declaration's initialiser
      if (const auto *E = dyn_cast<Expr>(Parent)) {
        if (std::optional<ResultUse> Known = expression(E, I))
          return *Known;
      } else {
        return statement(Parent, I);
      }
    }
    return inner();
  }

private:
  ResultUse inner() const { return Held ? ResultUse::Lasting : ResultUse::Object; }

  const Stmt *above(size_t I) const { return I ? Way[I - 1].Statement : nullptr; }

  // A temporary only for a copy that no compiler makes.
  bool elided(size_t I) const {
    const Stmt *Next = above(I);
    while (I > 1 && Next && (isa<ImplicitCastExpr>(Next) || isa<ParenExpr>(Next)))
      Next = above(--I);
    const auto *Copy = dyn_cast_or_null<CXXConstructExpr>(Next);
    return Copy && Copy->isElidable();
  }

  std::optional<ResultUse> temporary(const MaterializeTemporaryExpr *E, size_t I) {
    if (E->getStorageDuration() != SD_FullExpression) {
      Held = true;
      return std::nullopt;
    }
    if (Held || elided(I))
      return std::nullopt;
    return Arm ? ResultUse::Object : ResultUse::Temporary;
  }

  ResultUse discarded() const { return Arm ? ResultUse::Last : ResultUse::Discarded; }

  // Nothing: go on climbing.
  std::optional<ResultUse> expression(const Expr *E, size_t I) {
    if (isa<ParenExpr>(E) || isa<CXXBindTemporaryExpr>(E) || isa<ExprWithCleanups>(E))
      return std::nullopt;
    if (const auto *Temporary = dyn_cast<MaterializeTemporaryExpr>(E))
      return temporary(Temporary, I);
    if (const auto *Cast = dyn_cast<CastExpr>(E)) {
      if (Cast->getCastKind() == CK_ToVoid)
        return discarded();
      if (Held || Cast->getCastKind() == CK_NoOp || Cast->getCastKind() == CK_ConstructorConversion)
        return std::nullopt;
      return inner();
    }
    if (const auto *Choice = dyn_cast<ConditionalOperator>(E)) {
      Arm = true;
      return Below == Choice->getCond() ? std::optional(inner()) : std::nullopt;
    }
    if (const auto *Binary = dyn_cast<BinaryOperator>(E)) {
      if (Binary->getOpcode() != BO_Comma)
        return inner();
      return Below == Binary->getRHS() ? std::nullopt : std::optional(discarded());
    }
    if (const auto *Copy = dyn_cast<CXXConstructExpr>(E))
      return Copy->isElidable() ? std::nullopt : std::optional(inner());
    if (const auto *List = dyn_cast<InitListExpr>(E))
      return List->getNumInits() && List->getInit(List->getNumInits() - 1) == Below ? std::nullopt
                                                                                    : std::optional(inner());
    if (isa<CXXThrowExpr>(E))
      return Arm || Held ? std::optional(inner()) : std::optional(ResultUse::Last);
    if (const auto *New = dyn_cast<CXXNewExpr>(E))
      return New->getInitializer() == Below && !New->isArray() ? std::nullopt : std::optional(inner());
    if (Held && (isa<MemberExpr>(E) || isa<ArraySubscriptExpr>(E)))
      return std::nullopt;
    return inner();
  }

  ResultUse statement(const Stmt *Parent, size_t I) const {
    if (isa<ReturnStmt>(Parent) || isa<DeclStmt>(Parent))
      return ResultUse::Last;
    if (const auto *Loop = dyn_cast<CXXForRangeStmt>(Parent))
      return Below == Loop->getRangeInit() ? ResultUse::Last : discarded();
    if (const auto *Block = dyn_cast<CompoundStmt>(Parent))
      if (isa_and_nonnull<StmtExpr>(above(I)) && !Block->body_empty() && Block->body_back() == Below)
        return inner(); // the value of a statement expression
    return discarded();
  }

  llvm::ArrayRef<Above> Way;
  const Stmt *Below;
  bool Held = false; // by a reference that lives on
  bool Arm = false;  // one of a conditional's: the other one's category must stay the same
};

} // namespace

ResultUse useOfResult(const Expr *Call, llvm::ArrayRef<Above> Way) { return Climb(Call, Way).use(); }

} // namespace vprof
