/* SPDX-License-Identifier: GPL-3.0-or-later */
// From Clang's locations to bytes of project files, through macros.
//
// A range maps to file bytes when it is plain text, lies in one macro argument, or is exactly a whole macro
// invocation; what is spelled in a macro's body has no bytes of its own. Arguments that a macro turns into a
// string or pastes are remembered: text inserted there would change the program.
#ifndef VPROF_SCAN_SOURCE_RANGES_H
#define VPROF_SCAN_SOURCE_RANGES_H

#include "instrumenter/scan/fact_rows.h"

#include "clang/Basic/SourceManager.h"
#include "clang/Lex/Preprocessor.h"
#include "llvm/ADT/DenseMap.h"

#include <optional>

namespace vprof {

struct FileRange {
  uint32_t File = 0; // index into TuFacts::Files
  int64_t Begin = -1, End = -1;
  int32_t Line = 0, Col = 0;
};

class SourceRanges {
public:
  SourceRanges(const std::string &Root, TuFacts &Facts) : Root(Root), Facts(Facts) {}

  void start(const clang::SourceManager &Sources, const clang::LangOptions &Options);

  // Index into TuFacts::Files of the project file that `File` is, or nothing for files outside the root.
  std::optional<uint32_t> projectFile(clang::FileID File);
  std::optional<uint32_t> projectFileAt(clang::SourceLocation Location); // of the place of expansion
  bool inProject(clang::SourceLocation Location) { return projectFileAt(Location).has_value(); }

  // Bytes of a token range, the last token included; nothing when it is not spelled in one project file.
  std::optional<FileRange> map(clang::SourceRange Range);
  // Offset just past the token, wherever it is spelled: also in a macro's body.
  std::optional<FileRange> tokenSpelling(clang::SourceLocation Token);
  // The source text of an expression, or nothing when it is not spelled in a file.
  std::optional<std::string> text(clang::SourceRange Range);

  void addFragileArgument(clang::SourceLocation First, clang::SourceLocation Last);
  bool isFragile(uint32_t File, int64_t Begin, int64_t End) const;

  const clang::SourceManager &sources() const { return *Sources; }
  const clang::LangOptions &options() const { return *Options; }

private:
  std::optional<clang::SourceRange> toFile(clang::SourceRange Range) const;
  unsigned depth(clang::SourceLocation Location) const;

  const std::string &Root;
  TuFacts &Facts;
  const clang::SourceManager *Sources = nullptr;
  const clang::LangOptions *Options = nullptr;
  llvm::DenseMap<clang::FileID, int64_t> Known;                        // index or -1
  std::vector<std::vector<std::pair<int64_t, int64_t>>> FragileByFile; // by index into TuFacts::Files
};

// Finds the fragile arguments and every project file, also those without any declaration.
class MacroWatch : public clang::PPCallbacks {
public:
  explicit MacroWatch(SourceRanges &Ranges) : Ranges(Ranges) {}
  void MacroExpands(const clang::Token &Name, const clang::MacroDefinition &Definition, clang::SourceRange Range,
                    const clang::MacroArgs *Arguments) override;
  void FileChanged(clang::SourceLocation Location, FileChangeReason Reason, clang::SrcMgr::CharacteristicKind,
                   clang::FileID) override;

private:
  const std::vector<bool> &fragileParameters(const clang::MacroInfo *Macro);

  SourceRanges &Ranges;
  llvm::DenseMap<const clang::MacroInfo *, std::vector<bool>> Cache;
};

} // namespace vprof

#endif
