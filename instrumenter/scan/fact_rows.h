/* SPDX-License-Identifier: GPL-3.0-or-later */
// What one translation unit tells: rows of facts.db before they have ids, and their form on the pipe from a
// worker process to the scan.
//
// Invariant: file indices point into TuFacts::Files, caller indices into TuFacts::Functions; decode() checks
// both, so the store trusts them.
#ifndef VPROF_SCAN_FACT_ROWS_H
#define VPROF_SCAN_FACT_ROWS_H

#include <cstdint>
#include <string>
#include <vector>

namespace vprof {

struct FileRow {
  std::string Path, Hash;
  uint64_t Size = 0;
};

struct CallRow {
  uint32_t File = 0;
  int64_t Begin = -1, End = -1;
  int32_t Line = 0, Col = 0;
  std::string Callee, CalleeUsr, Kind, Signature, Form, Reason, Args; // Form: empty when it may not be wrapped
  bool InLoop = false;

  bool wrappable() const { return !Form.empty(); }
  void refuse(const std::string &Why) {
    Form.clear();
    Reason = Why;
  }
};

struct ExitRow {
  int64_t Begin = -1, End = -1, ExprBegin = -1, ExprEnd = -1;
  int32_t Line = 0;
  bool Editable = false;
  std::string Value, Variable; // common/facts/facts_schema.h
};

// Of memory that a lock may guard: common/facts/facts_schema.h, table guarded.
struct GuardedRow {
  std::string Kind, Object, Usr, Type, State, Value;
  int32_t Line = 0;
};

struct FunctionRow {
  uint32_t File = 0;
  int64_t BodyBegin = -1, BodyEnd = -1;
  int64_t HeadBegin = -1, NameEnd = -1;
  int32_t Line = 0, EndLine = 0, Size = -1;
  std::string Name, Display, Usr, Lang, Returns, ReturnKind, Params, Signature, Reason, Twin;
  bool IsStatic = false, IsTiny = false;
  std::vector<CallRow> Calls;
  std::vector<ExitRow> Exits;
  std::vector<GuardedRow> Guarded;
};

struct AddressRow {
  std::string Usr, Name, Signature, How, Target;
  int32_t Arg = -1, Line = 0;
  uint32_t File = 0;
  int64_t Caller = -1; // index into Functions, -1 at file scope
};

struct OverrideRow {
  std::string Method, Base;
};

struct TuFacts {
  std::string Status = "failed", Diagnostics;
  std::vector<FileRow> Files;
  std::vector<FunctionRow> Functions;
  std::vector<AddressRow> Addresses;
  std::vector<OverrideRow> Overrides;
};

std::string encode(const TuFacts &Facts);
// False when the bytes are cut or inconsistent (a worker died while writing).
bool decode(const std::string &Bytes, TuFacts &Facts);

} // namespace vprof

#endif
