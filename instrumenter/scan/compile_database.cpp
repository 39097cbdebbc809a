/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "instrumenter/scan/compile_database.h"

#include "clang/Tooling/JSONCompilationDatabase.h"
#include "llvm/ADT/StringSwitch.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/JSON.h"
#include "llvm/Support/Path.h"
#include "llvm/Support/raw_ostream.h"

#include <cstdlib>
#include <map>
#include <unistd.h>

extern "C" {
#include "common/files.h"
}

namespace vprof {
namespace {

using llvm::StringRef;

std::string absolutePath(const std::string &Base, const std::string &Path) {
  char *Text = vprof_path_absolute(Base.c_str(), Path.c_str());
  std::string Result = Text ? Text : "";
  free(Text);
  return Result;
}

// Flags with a value, which may be glued to the flag or be the next argument.
bool takesValue(StringRef Flag) {
  for (StringRef Known : {"-D", "-U", "-I", "-include", "-imacros", "-isystem", "-iquote", "-idirafter", "-isysroot",
                          "-iprefix", "-iwithprefix", "-iwithprefixbefore", "--sysroot", "-x"})
    if (Flag == Known)
      return true;
  return false;
}

// Flags with a separate value that mean nothing here; skipped together with it.
bool skipsValue(StringRef Flag) {
  for (StringRef Known : {"-o",
                          "-MF",
                          "-MT",
                          "-MQ",
                          "-MJ",
                          "-L",
                          "-l",
                          "-T",
                          "-u",
                          "-z",
                          "-Xlinker",
                          "-Xassembler",
                          "-Xpreprocessor",
                          "-aux-info",
                          "--param",
                          "-dumpbase",
                          "-dumpdir",
                          "-arch",
                          "-A",
                          "-e",
                          "-wrapper",
                          "-G",
                          "-include-pch",
                          "-Xclang",
                          "-mllvm"})
    if (Flag == Known)
      return true;
  return false;
}

bool keepsMachineFlag(StringRef Flag) {
  for (StringRef Prefix : {"-m32",           "-m64",           "-mx32",     "-march=",
                           "-mcpu=",         "-msse",          "-mno-sse",  "-mssse",
                           "-mno-ssse",      "-mavx",          "-mno-avx",  "-mfma",
                           "-mbmi",          "-mpopcnt",       "-maes",     "-mpclmul",
                           "-mcrc32",        "-mcx16",         "-mlzcnt",   "-mf16c",
                           "-msha",          "-madx",          "-mrdrnd",   "-mrdseed",
                           "-mmmx",          "-mno-mmx",       "-mfpu=",    "-mfloat-abi=",
                           "-mthumb",        "-marm",          "-mcmodel=", "-mgeneral-regs-only",
                           "-mlong-double-", "-mms-bitfields", "-mabi="})
    if (Flag.starts_with(Prefix))
      return true;
  return false;
}

bool keepsFeatureFlag(StringRef Flag) {
  StringRef Name = Flag.drop_front(2);
  Name.consume_front("no-");
  for (StringRef Known : {"signed-char",
                          "unsigned-char",
                          "short-enums",
                          "short-wchar",
                          "exceptions",
                          "rtti",
                          "openmp",
                          "PIC",
                          "pic",
                          "PIE",
                          "pie",
                          "freestanding",
                          "hosted",
                          "builtin",
                          "ms-extensions",
                          "gnu89-inline",
                          "char8_t",
                          "blocks",
                          "dollars-in-identifiers",
                          "operator-names",
                          "sized-deallocation",
                          "aligned-new",
                          "threadsafe-statics",
                          "asm",
                          "lax-vector-conversions",
                          "fast-math",
                          "trapping-math",
                          "wrapv",
                          "coroutines"})
    if (Name == Known)
      return true;
  return Name.starts_with("template-depth") || Name.starts_with("constexpr-depth") || Name.starts_with("builtin-") ||
         Name.starts_with("input-charset=");
}

bool keepsFlag(StringRef Flag, bool MachineFlags) {
  for (StringRef Prefix : {"-D", "-U", "-I", "-isystem", "-iquote", "-idirafter", "-isysroot", "--sysroot=", "-include",
                           "-imacros", "-std=", "-x"})
    if (Flag.starts_with(Prefix) && Flag != "-I-")
      return true;
  if (Flag == "-ansi" || Flag == "-pthread" || Flag == "-nostdinc" || Flag == "-nostdinc++" || Flag == "-undef" ||
      Flag == "-traditional-cpp" || Flag == "-trigraphs")
    return true;
  if (Flag.starts_with("-O"))
    return true;
  if (Flag.starts_with("-m"))
    return MachineFlags && keepsMachineFlag(Flag);
  if (Flag.starts_with("-f"))
    return keepsFeatureFlag(Flag);
  return false;
}

std::string languageOf(const std::vector<std::string> &Arguments, StringRef File) {
  std::string Explicit;
  for (size_t I = 1; I < Arguments.size(); I++) {
    StringRef Flag = Arguments[I];
    if (Flag == "-x" && I + 1 < Arguments.size())
      Explicit = Arguments[I + 1];
    else if (Flag.starts_with("-x"))
      Explicit = Flag.drop_front(2).str();
    if (Flag == "-E" || Flag == "-M" || Flag == "-MM")
      return "";
  }
  if (!Explicit.empty() && Explicit != "none")
    return llvm::StringSwitch<std::string>(Explicit)
        .Cases("c", "cpp-output", "c")
        .Cases("c++", "c++-cpp-output", "c++")
        .Default("");
  std::string Lang = llvm::StringSwitch<std::string>(llvm::sys::path::extension(File))
                         .Cases(".c", ".i", "c")
                         .Cases(".cc", ".cp", ".cxx", ".cpp", ".CPP", ".c++", ".C", ".ii", "c++")
                         .Default("");
  StringRef Compiler = llvm::sys::path::filename(Arguments[0]);
  if (Lang == "c" && (Compiler.contains("g++") || Compiler.contains("clang++") || Compiler == "c++"))
    Lang = "c++"; // the C++ drivers take a .c file for C++
  return Lang;
}

std::string outputOf(const clang::tooling::CompileCommand &Command, const std::string &Directory,
                     const std::string &Path) {
  std::string Output = Command.Output;
  if (StringRef(Output).starts_with("/"))
    return absolutePath("/", Output); // as the file system knows it: the command may spell a symbolic link
  for (size_t I = 1; I < Command.CommandLine.size(); I++) {
    StringRef Flag = Command.CommandLine[I];
    if (Flag == "-o" && I + 1 < Command.CommandLine.size())
      Output = Command.CommandLine[I + 1];
    else if (Flag.starts_with("-o") && Flag.size() > 2 && !Flag.starts_with("-objc"))
      Output = Flag.drop_front(2).str();
  }
  if (Output.empty())
    Output = (llvm::sys::path::stem(Path) + ".o").str();
  return absolutePath(Directory, Output);
}

} // namespace

std::string TranslationUnit::argumentsJson() const {
  llvm::json::Array Array;
  for (const std::string &Argument : Arguments)
    Array.push_back(llvm::json::fixUTF8(Argument));
  std::string Text;
  llvm::raw_string_ostream(Text) << llvm::json::Value(std::move(Array));
  return Text;
}

bool loadDatabase(const std::string &Path, std::vector<TranslationUnit> &Units, std::string &Error) {
  std::string Why;
  auto Database =
      clang::tooling::JSONCompilationDatabase::loadFromFile(Path, Why, clang::tooling::JSONCommandLineSyntax::Gnu);
  if (!Database) {
    Error = "cannot read the compilation database " + Path + ": " + Why +
            "; make one with `bear -- BUILD COMMAND` or CMAKE_EXPORT_COMPILE_COMMANDS";
    return false;
  }
  char *Cwd = getcwd(nullptr, 0);
  std::string Here = Cwd ? Cwd : "/";
  free(Cwd);
  std::map<std::pair<std::string, std::string>, size_t> Known;
  for (const clang::tooling::CompileCommand &Command : Database->getAllCompileCommands()) {
    if (Command.CommandLine.empty())
      continue;
    TranslationUnit Unit;
    Unit.Directory = absolutePath(Here, Command.Directory);
    Unit.Path = absolutePath(Unit.Directory, Command.Filename);
    Unit.Arguments = Command.CommandLine;
    Unit.Lang = languageOf(Unit.Arguments, Unit.Path);
    if (Unit.Lang.empty())
      continue;
    Unit.Output = outputOf(Command, Unit.Directory, Unit.Path);
    auto [Place, Fresh] = Known.try_emplace({Unit.Output, Unit.Path}, Units.size());
    if (Fresh)
      Units.push_back(std::move(Unit));
    else
      Units[Place->second] = std::move(Unit);
  }
  if (Units.empty()) {
    Error = "the compilation database " + Path +
            " has no C or C++ file: was everything built already? Clean, then "
            "observe a full build";
    return false;
  }
  return true;
}

// Where vprof.h lies, beside this program: the sources may include it without saying where it is, as replay tells the
// compiler too.
static const std::string &publicHeaders() {
  static const std::string Folder = [] {
    llvm::SmallString<256> Path(llvm::sys::fs::getMainExecutable(nullptr, nullptr));
    llvm::sys::path::remove_filename(Path);
    llvm::sys::path::append(Path, "..", "lib", "vprof", "include");
    return std::string(Path);
  }();
  return Folder;
}

std::vector<std::string> clangCommand(const TranslationUnit &Unit, bool MachineFlags) {
  std::vector<std::string> Command = {Unit.Lang == "c++" ? "clang++" : "clang"};
  for (size_t I = 1; I < Unit.Arguments.size(); I++) {
    const std::string &Flag = Unit.Arguments[I];
    if (Flag == "-include" && I + 1 < Unit.Arguments.size()) {
      // Past the driver, which would take a precompiled header that lies beside this one.
      for (const std::string &Word : {std::string("-Xclang"), Flag, std::string("-Xclang"), Unit.Arguments[++I]})
        Command.push_back(Word);
    } else if (takesValue(Flag)) {
      if (I + 1 < Unit.Arguments.size()) {
        Command.push_back(Flag);
        Command.push_back(Unit.Arguments[++I]);
      }
    } else if (skipsValue(Flag)) {
      I++;
    } else if (keepsFlag(Flag, MachineFlags)) {
      Command.push_back(Flag);
    }
  }
  // -Wno-everything also silences what Clang makes an error and gcc 12 a warning (implicit declarations).
  for (const char *Flag : {"-w", "-Wno-everything", "-ferror-limit=20", "-fno-caret-diagnostics", "-DVPROF_SCAN",
                           "-fsyntax-only", "-resource-dir", VPROF_RESOURCE_DIR, "--"})
    Command.push_back(Flag);
  Command.insert(Command.end() - 1, "-I" + publicHeaders());
  Command.push_back(Unit.Path);
  return Command;
}

} // namespace vprof
