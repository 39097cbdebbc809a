/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "instrumenter/scan/source_ranges.h"

#include "clang/Lex/Lexer.h"
#include "clang/Lex/MacroArgs.h"

#include <algorithm>
#include <cinttypes>
#include <cstdio>
#include <cstdlib>
#include <map>
#include <sys/stat.h>

extern "C" {
#include "common/files.h"
}

namespace vprof {

using namespace clang;

void SourceRanges::start(const SourceManager &NewSources, const LangOptions &NewOptions) {
  Sources = &NewSources;
  Options = &NewOptions;
}

namespace {

// The path as the compiler reached it, normalised; when dropping ".." leads elsewhere (over a symbolic link to a
// folder), the real path.
std::string normalised(StringRef Cwd, StringRef Name) {
  char *Text = vprof_path_absolute(Cwd.str().c_str(), Name.str().c_str());
  std::string Path = Text ? Text : "";
  free(Text);
  if (!Name.contains(".."))
    return Path;
  struct stat There, Reached;
  std::string Raw = Name.starts_with("/") ? Name.str() : Cwd.str() + "/" + Name.str();
  if (stat(Raw.c_str(), &Reached))
    return Path;
  if (!stat(Path.c_str(), &There) && There.st_ino == Reached.st_ino && There.st_dev == Reached.st_dev)
    return Path;
  if (char *Real = realpath(Raw.c_str(), nullptr)) {
    Path = Real;
    free(Real);
  }
  return Path;
}

// A file that is reached over a link to a folder of the project; every folder is looked at once.
std::string rooted(const std::string &Root, std::string Path) {
  static std::map<std::string, std::string> Cache;
  size_t Slash = Path.rfind('/');
  if (Slash == std::string::npos || vprof_path_inside(Root.c_str(), Path.c_str()))
    return Path;
  auto [Place, Fresh] = Cache.try_emplace(Path.substr(0, Slash));
  if (Fresh) {
    char *Text = vprof_path_rooted(Root.c_str(), "/", Place->first.c_str());
    Place->second = Text ? Text : Place->first;
    free(Text);
  }
  return Place->second + Path.substr(Slash);
}

// A worker parses many units with the same headers: each content is hashed once.
std::string contentHash(StringRef Content, const std::string &Path) {
  static std::map<std::pair<std::string, uint64_t>, std::string> Cache;
  struct stat Status;
  uint64_t Stamp = 0;
  if (!stat(Path.c_str(), &Status) && static_cast<size_t>(Status.st_size) == Content.size())
    Stamp = static_cast<uint64_t>(Status.st_mtim.tv_sec) * 1000000000u + static_cast<uint64_t>(Status.st_mtim.tv_nsec);
  if (Stamp) {
    auto Found = Cache.find({Path, Stamp});
    if (Found != Cache.end())
      return Found->second;
  }
  char Hex[17];
  snprintf(Hex, sizeof Hex, "%016" PRIx64, vprof_hash(VPROF_HASH_SEED, Content.data(), Content.size()));
  if (Stamp)
    Cache[{Path, Stamp}] = Hex;
  return Hex;
}

} // namespace

std::optional<uint32_t> SourceRanges::projectFile(FileID File) {
  if (File.isInvalid())
    return std::nullopt;
  auto [Place, Fresh] = Known.try_emplace(File, -1);
  if (!Fresh)
    return Place->second < 0 ? std::nullopt : std::optional<uint32_t>(Place->second);
  OptionalFileEntryRef Entry = Sources->getFileEntryRefForID(File);
  if (!Entry)
    return std::nullopt;
  auto Cwd = Sources->getFileManager().getVirtualFileSystem().getCurrentWorkingDirectory();
  std::string Path = rooted(Root, normalised(Cwd ? *Cwd : "/", Entry->getName()));
  if (Path.empty() || !vprof_path_inside(Root.c_str(), Path.c_str()))
    return std::nullopt;
  for (size_t I = 0; I < Facts.Files.size(); I++)
    if (Facts.Files[I].Path == Path) { // the same file, included again
      Known[File] = static_cast<int64_t>(I);
      return I;
    }
  bool Invalid = false;
  StringRef Content = Sources->getBufferData(File, &Invalid);
  if (Invalid)
    return std::nullopt;
  FileRow Row;
  Row.Path = Path;
  Row.Size = Content.size();
  Row.Hash = contentHash(Content, Path);
  Facts.Files.push_back(std::move(Row));
  Known[File] = static_cast<int64_t>(Facts.Files.size() - 1);
  return Facts.Files.size() - 1;
}

std::optional<uint32_t> SourceRanges::projectFileAt(SourceLocation Location) {
  if (Location.isInvalid())
    return std::nullopt;
  return projectFile(Sources->getFileID(Sources->getExpansionLoc(Location)));
}

unsigned SourceRanges::depth(SourceLocation Location) const {
  unsigned Depth = 0;
  for (; Location.isMacroID(); Depth++)
    Location = Sources->getImmediateExpansionRange(Location).getBegin();
  return Depth;
}

// Climbs out of macros, one expansion at a time, until both ends are plain text. Clang's makeFileCharRange gives
// up when an argument's tokens lie far apart or contain a macro; comparing the parameter's place does not.
std::optional<SourceRange> SourceRanges::toFile(SourceRange Range) const {
  SourceLocation Begin = Range.getBegin(), End = Range.getEnd();
  while (Begin.isMacroID() || End.isMacroID()) {
    if (Begin.isMacroID() && End.isMacroID() && Sources->isMacroArgExpansion(Begin) &&
        Sources->isMacroArgExpansion(End) &&
        Sources->getImmediateExpansionRange(Begin).getBegin() == Sources->getImmediateExpansionRange(End).getBegin()) {
      Begin = Sources->getImmediateSpellingLoc(Begin);
      End = Sources->getImmediateSpellingLoc(End);
      continue;
    }
    unsigned BeginDepth = depth(Begin), EndDepth = depth(End);
    if (BeginDepth >= EndDepth) {
      SourceLocation Outer;
      if (!Sources->isAtStartOfImmediateMacroExpansion(Begin, &Outer))
        return std::nullopt;
      Begin = Outer;
    }
    if (EndDepth >= BeginDepth) {
      SourceLocation Past =
          End.getLocWithOffset(Lexer::MeasureTokenLength(Sources->getSpellingLoc(End), *Sources, *Options));
      SourceLocation Outer;
      if (!Sources->isAtEndOfImmediateMacroExpansion(Past, &Outer))
        return std::nullopt;
      End = Outer;
    }
  }
  return SourceRange(Begin, End);
}

std::optional<FileRange> SourceRanges::map(SourceRange Range) {
  if (Range.isInvalid())
    return std::nullopt;
  std::optional<SourceRange> InFile = toFile(Range);
  if (!InFile)
    return std::nullopt;
  auto [BeginFile, Begin] = Sources->getDecomposedLoc(InFile->getBegin());
  auto [EndFile, End] = Sources->getDecomposedLoc(InFile->getEnd());
  std::optional<uint32_t> File = projectFile(BeginFile);
  if (BeginFile != EndFile || End < Begin || !File)
    return std::nullopt;
  FileRange Result;
  Result.File = *File;
  Result.Begin = Begin;
  Result.End = End + Lexer::MeasureTokenLength(InFile->getEnd(), *Sources, *Options);
  Result.Line = static_cast<int32_t>(Sources->getLineNumber(BeginFile, Begin));
  Result.Col = static_cast<int32_t>(Sources->getColumnNumber(BeginFile, Begin));
  return Result;
}

std::optional<FileRange> SourceRanges::tokenSpelling(SourceLocation Token) {
  if (Token.isInvalid())
    return std::nullopt;
  SourceLocation Spelling = Sources->getSpellingLoc(Token);
  auto [Id, Offset] = Sources->getDecomposedLoc(Spelling);
  std::optional<uint32_t> File = projectFile(Id);
  if (!File)
    return std::nullopt;
  FileRange Result;
  Result.File = *File;
  Result.Begin = Offset;
  Result.End = Offset + Lexer::MeasureTokenLength(Spelling, *Sources, *Options);
  Result.Line = static_cast<int32_t>(Sources->getLineNumber(Id, static_cast<unsigned>(Result.End)));
  Result.Col = static_cast<int32_t>(Sources->getColumnNumber(Id, Offset));
  return Result;
}

std::optional<std::string> SourceRanges::text(SourceRange Range) {
  if (Range.isInvalid())
    return std::nullopt;
  std::optional<SourceRange> InFile = toFile(Range);
  if (!InFile)
    return std::nullopt;
  bool Invalid = false;
  StringRef Text = Lexer::getSourceText(CharSourceRange::getTokenRange(*InFile), *Sources, *Options, &Invalid);
  if (Invalid || Text.empty())
    return std::nullopt;
  return Text.str();
}

void SourceRanges::addFragileArgument(SourceLocation First, SourceLocation Last) {
  First = Sources->getSpellingLoc(First);
  Last = Sources->getSpellingLoc(Last);
  auto [FirstFile, Begin] = Sources->getDecomposedLoc(First);
  auto [LastFile, End] = Sources->getDecomposedLoc(Last);
  std::optional<uint32_t> File = FirstFile == LastFile ? projectFile(FirstFile) : std::nullopt;
  if (!File || End < Begin)
    return;
  if (FragileByFile.size() <= *File)
    FragileByFile.resize(*File + 1);
  FragileByFile[*File].push_back({Begin, End + 1});
}

bool SourceRanges::isFragile(uint32_t File, int64_t Begin, int64_t End) const {
  if (File >= FragileByFile.size())
    return false;
  for (auto [From, To] : FragileByFile[File])
    if (Begin < To && From < End)
      return true;
  return false;
}

// Which parameters does the macro's body turn into a string (#x) or paste (a##x)? The comma of
// `, ## __VA_ARGS__` is GNU's way to swallow it, not a paste.
const std::vector<bool> &MacroWatch::fragileParameters(const MacroInfo *Macro) {
  auto [Place, Fresh] = Cache.try_emplace(Macro);
  std::vector<bool> &Flags = Place->second;
  if (!Fresh)
    return Flags;
  Flags.resize(Macro->getNumParams(), false);
  ArrayRef<Token> Body = Macro->tokens();
  for (size_t I = 0; I < Body.size(); I++) {
    IdentifierInfo *Name = Body[I].getIdentifierInfo();
    int Index = Name ? Macro->getParameterNum(Name) : -1;
    if (Index < 0)
      continue;
    bool Hash = I > 0 && Body[I - 1].is(tok::hash);
    bool Before = I > 1 && Body[I - 1].is(tok::hashhash) && Body[I - 2].isNot(tok::comma);
    bool After = I + 1 < Body.size() && Body[I + 1].is(tok::hashhash);
    if (Hash || Before || After)
      Flags[static_cast<size_t>(Index)] = true;
  }
  return Flags;
}

void MacroWatch::MacroExpands(const Token &Name, const MacroDefinition &Definition, SourceRange Range,
                              const MacroArgs *Arguments) {
  const MacroInfo *Macro = Definition.getMacroInfo();
  if (!Arguments || !Macro)
    return;
  const std::vector<bool> &Flags = fragileParameters(Macro);
  for (size_t I = 0; I < Flags.size() && I < Arguments->getNumMacroArguments(); I++) {
    if (!Flags[I])
      continue;
    const Token *First = Arguments->getUnexpArgument(static_cast<unsigned>(I));
    unsigned Length = MacroArgs::getArgLength(First);
    if (Length > 1)
      Ranges.addFragileArgument(First->getLocation(), First[Length - 1].getLocation());
  }
}

void MacroWatch::FileChanged(SourceLocation Location, FileChangeReason Reason, SrcMgr::CharacteristicKind, FileID) {
  if (Reason == EnterFile)
    Ranges.projectFileAt(Location);
}

} // namespace vprof
