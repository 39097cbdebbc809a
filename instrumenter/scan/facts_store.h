/* SPDX-License-Identifier: GPL-3.0-or-later */
// facts.db as the scan sees it: which units are still fresh, and how new rows replace old ones.
//
// Everything between begin() and commit() is one transaction: an interrupted scan leaves the old facts. Rows keep
// their ids while their keys stay the same, because probes, and so compiled objects, carry ids. A row that no
// unit of this scan confirmed goes, unless its file is also read by a unit that was not parsed again.
#ifndef VPROF_SCAN_FACTS_STORE_H
#define VPROF_SCAN_FACTS_STORE_H

#include "instrumenter/scan/compile_database.h"
#include "instrumenter/scan/fact_rows.h"

#include <map>
#include <set>
#include <unordered_map>

struct sqlite3;
struct sqlite3_stmt;

namespace vprof {

// A prepared statement whose parameters are given in order.
class Statement {
public:
  Statement() = default;
  Statement(sqlite3 *Db, const char *Sql);
  Statement(Statement &&Other) noexcept : Handle(Other.Handle) { Other.Handle = nullptr; }
  Statement &operator=(Statement &&Other) noexcept {
    std::swap(Handle, Other.Handle);
    return *this;
  }
  ~Statement();

  template <typename... T> Statement &bind(const T &...Values) {
    reset();
    int At = 0;
    (bindOne(++At, Values), ...);
    return *this;
  }
  bool step(); // true: there is a row
  bool run();  // to the end; false on an error
  int64_t number(int Column) const;
  std::string text(int Column) const;

private:
  void reset();
  void bindOne(int At, int64_t Value);
  void bindOne(int At, int Value) { bindOne(At, static_cast<int64_t>(Value)); }
  void bindOne(int At, bool Value) { bindOne(At, static_cast<int64_t>(Value)); }
  void bindOne(int At, uint64_t Value) { bindOne(At, static_cast<int64_t>(Value)); }
  void bindOne(int At, const std::string &Value);

  sqlite3_stmt *Handle = nullptr;
};

class FactsStore {
public:
  ~FactsStore();

  bool open(const std::string &Path, const std::string &Root);
  // Indices of the units that must be parsed: new, changed, or not parsed well the last time.
  std::vector<size_t> dirtyUnits(const std::vector<TranslationUnit> &Units);
  bool begin();
  bool apply(const TranslationUnit &Unit, const TuFacts &Facts);
  bool commit();

  struct Counts {
    int64_t Files, Functions, Calls, Units, Failed, Errors;
  };
  Counts counts();
  const std::string &error() const { return Error; }

private:
  struct OldUnit {
    int64_t Id;
    std::string Directory, Arguments, Lang, Status;
    std::vector<int64_t> Files;
  };
  struct OldFile {
    int64_t Id, Size;
    std::string Hash;
    bool Kept = false;    // read by a unit that is not parsed again
    bool Updated = false; // by this scan
  };
  struct Old { // a function or call that was there, or is there now
    int64_t Id;
    bool Kept, Touched, Refused;
    std::string Form; // of a call
  };

  bool fail(const char *What);
  bool exec(const char *Sql);
  bool isFacts(const std::string &Path);
  void prepare();
  void loadKeys();
  bool applyFile(const FileRow &Row, int64_t &Id);
  bool applyFunction(const FunctionRow &Row, const std::vector<int64_t> &FileIds, int64_t &Id);
  bool applyCall(const CallRow &Row, int64_t Caller, int64_t File, bool Kept);
  bool applyAddress(const AddressRow &Row, const std::vector<int64_t> &FileIds, int64_t Caller);
  bool sweep();

  sqlite3 *Db = nullptr;
  std::string Error, ScannedRoot;
  std::map<std::pair<std::string, std::string>, OldUnit> OldUnits; // output, path
  std::map<std::string, OldFile> Files;
  std::set<int64_t> KeptFiles;
  std::vector<int64_t> GoneUnits;
  std::unordered_map<std::string, Old> Functions, Calls;
  std::set<std::string> Exits, Addresses;
  Statement InsertFile, UpdateFile, InsertUnit, UpdateUnit, ClearUnitFiles, InsertUnitFile, InsertFunction,
      UpdateFunction, RefuseFunction, RefuseTwin, InsertCall, UpdateCall, RefuseCall, InsertExit, InsertAddress,
      InsertGuarded, InsertOverride;
};

} // namespace vprof

#endif
