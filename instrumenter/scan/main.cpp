/* SPDX-License-Identifier: GPL-3.0-or-later */
// vprof-scan: reads a compilation database, parses what changed, and brings facts.db up to date.
#include "instrumenter/scan/compile_database.h"
#include "instrumenter/scan/facts_store.h"
#include "instrumenter/scan/workers.h"

#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <unistd.h>

extern "C" {
#include "common/files.h"
}

using namespace vprof;

namespace {

constexpr const char *Usage =
    "usage: vprof-scan --root DIR --facts FILE [--jobs N] [--progress] COMPILE_COMMANDS_JSON\n"
    "  --root DIR    project root: functions of files inside it are recorded\n"
    "  --facts FILE  facts.db, made or brought up to date\n"
    "  --jobs N      parse N files at a time (default: one for each processor)\n"
    "  --progress    print \"done total\" lines on stderr\n";

struct Options {
  std::string Root, Facts, Database;
  unsigned Jobs = 0;
  bool Progress = false;
};

int usageError(const std::string &Message) {
  fprintf(stderr, "vprof-scan: %s\n%s", Message.c_str(), Usage);
  return 2;
}

int failure(const std::string &Message) {
  fprintf(stderr, "vprof-scan: %s\n", Message.c_str());
  return 1;
}

std::string absolutePath(const std::string &Path) {
  char *Cwd = getcwd(nullptr, 0);
  char *Text = vprof_path_absolute(Cwd ? Cwd : "/", Path.c_str());
  std::string Result = Text ? Text : Path;
  free(Text);
  free(Cwd);
  return Result;
}

// 0 to go on, else the exit status + 1 (help ends with success).
int parseOptions(int Argc, char **Argv, Options &Out) {
  for (int I = 1; I < Argc; I++) {
    std::string Word = Argv[I];
    bool HasValue = I + 1 < Argc;
    if (Word == "--help" || Word == "-h") {
      fputs(Usage, stdout);
      return 1;
    }
    if (Word == "--progress") {
      Out.Progress = true;
    } else if (Word == "--root" || Word == "--facts" || Word == "--jobs") {
      if (!HasValue)
        return 1 + usageError(Word + " needs a value");
      std::string Value = Argv[++I];
      if (Word == "--root")
        Out.Root = absolutePath(Value);
      else if (Word == "--facts")
        Out.Facts = absolutePath(Value);
      else {
        char *End;
        long N = strtol(Value.c_str(), &End, 10);
        if (*End || N < 1 || N > 1024)
          return 1 + usageError("--jobs takes a number from 1 to 1024, not \"" + Value + "\"");
        Out.Jobs = static_cast<unsigned>(N);
      }
    } else if (Word.size() > 1 && Word[0] == '-') {
      return 1 + usageError("unknown option " + Word);
    } else if (Out.Database.empty()) {
      Out.Database = Word;
    } else {
      return 1 + usageError("more than one compilation database: " + Word);
    }
  }
  if (Out.Root.empty() || Out.Facts.empty() || Out.Database.empty())
    return 1 + usageError("--root, --facts and a compilation database are required");
  return 0;
}

int scan(const Options &Given) {
  auto Start = std::chrono::steady_clock::now();
  std::vector<TranslationUnit> Units;
  FactsStore Store;
  std::string Error;
  if (access(VPROF_RESOURCE_DIR "/include/stddef.h", R_OK))
    return failure("Clang's own headers are not in " VPROF_RESOURCE_DIR "; install libclang-common-19-dev");
  if (access(Given.Root.c_str(), R_OK))
    return failure("cannot read the project root " + Given.Root + ": " + strerror(errno));
  if (!loadDatabase(Given.Database, Units, Error))
    return failure(Error);
  if (!Store.open(Given.Facts, Given.Root))
    return failure(Store.error());
  std::vector<const TranslationUnit *> Dirty;
  for (size_t I : Store.dirtyUnits(Units))
    Dirty.push_back(&Units[I]);
  unsigned Jobs = Given.Jobs ? Given.Jobs : static_cast<unsigned>(std::max(1L, sysconf(_SC_NPROCESSORS_ONLN)));
  auto Progress = [&](size_t NDone) {
    if (Given.Progress)
      fprintf(stderr, "%zu %zu\n", NDone, Dirty.size());
  };
  Progress(0);
  if (!Store.begin())
    return failure(Store.error());
  auto Apply = [&](size_t I, TuFacts &&Facts) { return Store.apply(*Dirty[I], Facts); };
  if (!Dirty.empty() && !parseAll(Dirty, Given.Root, Jobs, Apply, Progress, Error))
    return failure(Store.error().empty() ? Error : Store.error());
  if (!Store.commit())
    return failure(Store.error());
  FactsStore::Counts Counts = Store.counts();
  double Seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - Start).count();
  printf("{\"files\":%lld,\"functions\":%lld,\"calls\":%lld,\"tus\":%lld,\"parsed\":%zu,\"failed\":%lld,"
         "\"errors\":%lld,\"seconds\":%.2f}\n",
         static_cast<long long>(Counts.Files), static_cast<long long>(Counts.Functions),
         static_cast<long long>(Counts.Calls), static_cast<long long>(Counts.Units), Dirty.size(),
         static_cast<long long>(Counts.Failed), static_cast<long long>(Counts.Errors), Seconds);
  return 0;
}

} // namespace

int main(int Argc, char **Argv) {
  Options Given;
  if (int Stop = parseOptions(Argc, Argv, Given))
    return Stop - 1;
  return scan(Given);
}
