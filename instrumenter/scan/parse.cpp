/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "instrumenter/scan/parse.h"

#include "instrumenter/scan/fact_visitor.h"

#include "clang/AST/ASTConsumer.h"
#include "clang/AST/Attr.h"
#include "clang/Basic/Diagnostic.h"
#include "clang/Basic/FileManager.h"
#include "clang/Frontend/CompilerInstance.h"
#include "clang/Frontend/FrontendAction.h"
#include "clang/Tooling/Tooling.h"
#include "llvm/Support/JSON.h"
#include "llvm/Support/thread.h"

#include <unistd.h>

namespace vprof {

using namespace clang;

namespace {

constexpr unsigned StackBytes = 256u << 20; // deep expressions of generated sources; only what is used is touched
constexpr unsigned MaxMessages = 5;

// Keeps the first errors, as "file:line:column: message" lines.
class FirstErrors : public DiagnosticConsumer {
public:
  std::string Text;

  void HandleDiagnostic(DiagnosticsEngine::Level Level, const Diagnostic &Info) override {
    DiagnosticConsumer::HandleDiagnostic(Level, Info);
    if (Level < DiagnosticsEngine::Error || Count++ >= MaxMessages)
      return;
    SmallString<256> Message;
    Info.FormatDiagnostic(Message);
    if (Info.hasSourceManager() && Info.getLocation().isValid()) {
      PresumedLoc Where = Info.getSourceManager().getPresumedLoc(Info.getLocation());
      if (Where.isValid())
        Text += std::string(Where.getFilename()) + ":" + std::to_string(Where.getLine()) + ":" +
                std::to_string(Where.getColumn()) + ": ";
    }
    Text += llvm::json::fixUTF8(Message) + "\n";
  }

private:
  unsigned Count = 0;
};

class Consumer : public ASTConsumer {
public:
  Consumer(CompilerInstance &Compiler, SourceRanges &Ranges, TuFacts &Facts)
      : Compiler(Compiler), Ranges(Ranges), Facts(Facts) {}

  // Bodies outside the project tell nothing, and make most of a C++ unit's parse.
  bool shouldSkipFunctionBody(Decl *D) override { return !Ranges.inProject(D->getLocation()); }

  void HandleTranslationUnit(ASTContext &Context) override {
    UnitTraits Traits;
    Preprocessor &PP = Compiler.getPreprocessor();
    Traits.AttributesDefinedAway = PP.isMacroDefined("__attribute__");
    for (const Decl *D : Context.getTranslationUnitDecl()->decls())
      if (const auto *Function = dyn_cast<FunctionDecl>(D))
        if (const auto *Attribute = Function->getAttr<IFuncAttr>())
          Traits.IfuncResolvers.insert(Attribute->getResolver().str());
    Collector(Context, Ranges, std::move(Traits), Facts).collect();
    Facts.Status = "ok";
  }

private:
  CompilerInstance &Compiler;
  SourceRanges &Ranges;
  TuFacts &Facts;
};

class Action : public ASTFrontendAction {
public:
  Action(const std::string &Root, TuFacts &Facts) : Ranges(Root, Facts), Facts(Facts) {}

  bool BeginInvocation(CompilerInstance &Compiler) override {
    Compiler.getFrontendOpts().SkipFunctionBodies = true;
    return true;
  }

  std::unique_ptr<ASTConsumer> CreateASTConsumer(CompilerInstance &Compiler, StringRef) override {
    Ranges.start(Compiler.getSourceManager(), Compiler.getLangOpts());
    Compiler.getPreprocessor().addPPCallbacks(std::make_unique<MacroWatch>(Ranges));
    return std::make_unique<Consumer>(Compiler, Ranges, Facts);
  }

private:
  SourceRanges Ranges;
  TuFacts &Facts;
};

void parseOnce(const TranslationUnit &Unit, const std::string &Root, bool MachineFlags, TuFacts &Facts) {
  Facts = TuFacts();
  FirstErrors Errors;
  llvm::IntrusiveRefCntPtr<FileManager> Files(new FileManager(FileSystemOptions()));
  tooling::ToolInvocation Invocation(clangCommand(Unit, MachineFlags), std::make_unique<Action>(Root, Facts),
                                     Files.get());
  Invocation.setDiagnosticConsumer(&Errors);
  bool Clean = Invocation.run();
  Facts.Diagnostics = Errors.Text;
  if (Facts.Status == "ok" && (!Clean || Errors.getNumErrors()))
    Facts.Status = "errors";
}

} // namespace

TuFacts parseUnit(const TranslationUnit &Unit, const std::string &Root) {
  TuFacts Facts;
  if (chdir(Unit.Directory.c_str())) {
    Facts.Diagnostics = "the build's folder " + Unit.Directory + " no longer exists; build again\n";
    return Facts;
  }
  if (access(Unit.Path.c_str(), R_OK)) {
    Facts.Diagnostics = "the source file " + Unit.Path + " no longer exists; build again\n";
    return Facts;
  }
  llvm::thread Parser(std::optional<unsigned>(StackBytes), [&] {
    parseOnce(Unit, Root, true, Facts);
    if (Facts.Status == "failed") // -m flags differ between compilers: one more try without
      parseOnce(Unit, Root, false, Facts);
  });
  Parser.join();
  return Facts;
}

} // namespace vprof
