/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "instrumenter/scan/facts_store.h"

#include <sqlite3.h>

#include <cinttypes>
#include <cstdio>
#include <sys/stat.h>

extern "C" {
#include "common/facts/facts_schema.h"
#include "common/files.h"
}

namespace vprof {

Statement::Statement(sqlite3 *Db, const char *Sql) {
  sqlite3_prepare_v3(Db, Sql, -1, SQLITE_PREPARE_PERSISTENT, &Handle, nullptr);
}

Statement::~Statement() { sqlite3_finalize(Handle); }

void Statement::reset() { sqlite3_reset(Handle); }

void Statement::bindOne(int At, int64_t Value) { sqlite3_bind_int64(Handle, At, Value); }

void Statement::bindOne(int At, const std::string &Value) {
  sqlite3_bind_text(Handle, At, Value.data(), static_cast<int>(Value.size()), SQLITE_TRANSIENT);
}

bool Statement::step() { return Handle && sqlite3_step(Handle) == SQLITE_ROW; }

bool Statement::run() {
  int Code;
  if (!Handle)
    return false;
  while ((Code = sqlite3_step(Handle)) == SQLITE_ROW)
    ;
  sqlite3_reset(Handle);
  return Code == SQLITE_DONE;
}

int64_t Statement::number(int Column) const { return sqlite3_column_int64(Handle, Column); }

std::string Statement::text(int Column) const {
  const unsigned char *Text = sqlite3_column_text(Handle, Column);
  return Text ? reinterpret_cast<const char *>(Text) : "";
}

FactsStore::~FactsStore() {
  for (Statement *S : {&InsertFile, &UpdateFile, &InsertUnit, &UpdateUnit, &ClearUnitFiles, &InsertUnitFile,
                       &InsertFunction, &UpdateFunction, &RefuseFunction, &InsertCall, &UpdateCall, &RefuseCall,
                       &InsertExit, &InsertAddress, &InsertOverride, &InsertGuarded})
    *S = Statement();
  sqlite3_close_v2(Db);
}

bool FactsStore::fail(const char *What) {
  if (Error.empty())
    Error = std::string("cannot ") + What + " the facts: " + (Db ? sqlite3_errmsg(Db) : "out of memory");
  return false;
}

bool FactsStore::exec(const char *Sql) { return sqlite3_exec(Db, Sql, nullptr, nullptr, nullptr) == SQLITE_OK; }

// Whatever else lies at the path is not ours to overwrite.
bool FactsStore::isFacts(const std::string &Path) {
  struct stat Status;
  if (stat(Path.c_str(), &Status) || Status.st_size == 0)
    return true;
  Statement Tables(Db, "SELECT count(*), sum(name = 'meta') FROM sqlite_master WHERE type = 'table'");
  if (Tables.step() && (Tables.number(0) == 0 || Tables.number(1) == 1))
    return true;
  Error = Path + " is not a facts.db that vprof-scan can update; remove it and scan again";
  return false;
}

bool FactsStore::open(const std::string &Path, const std::string &Root) {
  if (sqlite3_open(Path.c_str(), &Db) != SQLITE_OK) {
    Error = "cannot open " + Path + ": " + (Db ? sqlite3_errmsg(Db) : "out of memory");
    return false;
  }
  sqlite3_busy_timeout(Db, 10000);
  if (!isFacts(Path))
    return false;
  const std::string Version = std::to_string(VPROF_FACTS_VERSION);
  std::string OldVersion, OldRoot;
  {
    Statement Meta(Db, "SELECT key, value FROM meta");
    while (Meta.step())
      (Meta.text(0) == "version" ? OldVersion : Meta.text(0) == "root" ? OldRoot : Error) = Meta.text(1);
    Error.clear();
  }
  if (!OldVersion.empty() && OldVersion != Version &&
      !exec("DROP TABLE IF EXISTS file; DROP TABLE IF EXISTS tu; DROP TABLE IF EXISTS tu_file;"
            "DROP TABLE IF EXISTS function; DROP TABLE IF EXISTS call; DROP TABLE IF EXISTS exit_site;"
            "DROP TABLE IF EXISTS address; DROP TABLE IF EXISTS override; DROP TABLE IF EXISTS guarded;"
            "DELETE FROM meta"))
    return fail("renew");
  if (!exec(VPROF_FACTS_SCHEMA))
    return fail("create");
  if (!OldRoot.empty() && OldRoot != Root &&
      !exec("DELETE FROM meta; DELETE FROM file; DELETE FROM tu; DELETE FROM tu_file; DELETE FROM function; DELETE "
            "FROM call;"
            "DELETE FROM exit_site; DELETE FROM address; DELETE FROM override; DELETE FROM guarded"))
    return fail("renew");
  ScannedRoot = Root;
  return true;
}

std::vector<size_t> FactsStore::dirtyUnits(const std::vector<TranslationUnit> &Units) {
  std::map<int64_t, bool> FileFresh;
  Statement ReadFiles(Db, "SELECT id, path, hash, size FROM file");
  while (ReadFiles.step()) {
    OldFile File{ReadFiles.number(0), ReadFiles.number(3), ReadFiles.text(2)};
    std::string Path = ReadFiles.text(1);
    char Hex[17];
    FileFresh[File.Id] = vprof_file_hash(Path.c_str(), Hex, nullptr) == 0 && File.Hash == Hex;
    Files[Path] = File;
  }
  std::map<int64_t, OldUnit *> ById;
  Statement ReadUnits(Db, "SELECT id, path, output, directory, arguments, lang, status FROM tu");
  while (ReadUnits.step()) {
    OldUnit Unit{ReadUnits.number(0), ReadUnits.text(3), ReadUnits.text(4), ReadUnits.text(5), ReadUnits.text(6), {}};
    OldUnit &Place = OldUnits[{ReadUnits.text(2), ReadUnits.text(1)}];
    Place = Unit;
    ById[Unit.Id] = &Place;
  }
  Statement ReadUnitFiles(Db, "SELECT tu, file FROM tu_file");
  while (ReadUnitFiles.step())
    if (ById.count(ReadUnitFiles.number(0)))
      ById[ReadUnitFiles.number(0)]->Files.push_back(ReadUnitFiles.number(1));

  std::vector<size_t> Dirty;
  std::set<int64_t> Wanted;
  for (size_t I = 0; I < Units.size(); I++) {
    auto Found = OldUnits.find({Units[I].Output, Units[I].Path});
    bool Fresh = Found != OldUnits.end();
    if (Fresh) {
      const OldUnit &Unit = Found->second;
      Wanted.insert(Unit.Id);
      Fresh = Unit.Status == "ok" && Unit.Directory == Units[I].Directory && Unit.Lang == Units[I].Lang &&
              Unit.Arguments == Units[I].argumentsJson();
      for (int64_t File : Unit.Files)
        Fresh = Fresh && FileFresh[File];
      if (Fresh)
        KeptFiles.insert(Unit.Files.begin(), Unit.Files.end());
    }
    if (!Fresh)
      Dirty.push_back(I);
  }
  for (auto &[Key, Unit] : OldUnits)
    if (!Wanted.count(Unit.Id))
      GoneUnits.push_back(Unit.Id);
  for (auto &[Path, File] : Files)
    File.Kept = KeptFiles.count(File.Id);
  return Dirty;
}

void FactsStore::prepare() {
  InsertFile = Statement(Db, "INSERT INTO file(path, hash, size, in_project) VALUES(?, ?, ?, 1)");
  UpdateFile = Statement(Db, "UPDATE file SET hash = ?, size = ? WHERE id = ?");
  InsertUnit = Statement(Db, "INSERT INTO tu(path, directory, output, arguments, lang, status, diagnostics)"
                             " VALUES(?, ?, ?, ?, ?, ?, ?)");
  UpdateUnit = Statement(Db, "UPDATE tu SET directory = ?, arguments = ?, lang = ?, status = ?, diagnostics = ?"
                             " WHERE id = ?");
  ClearUnitFiles = Statement(Db, "DELETE FROM tu_file WHERE tu = ?");
  InsertUnitFile = Statement(Db, "INSERT OR IGNORE INTO tu_file VALUES(?, ?)");
  InsertFunction =
      Statement(Db, "INSERT INTO function(file, name, display, usr, line, end_line, body_begin, body_end, lang,"
                    " is_static, is_tiny, returns, return_kind, params, signature, instrumentable, reason,"
                    " head_begin, name_end, size, twin)"
                    " VALUES(?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)");
  UpdateFunction =
      Statement(Db, "UPDATE function SET file = ?, name = ?, display = ?, usr = ?, line = ?, end_line = ?,"
                    " body_begin = ?, body_end = ?, lang = ?, is_static = ?, is_tiny = ?, returns = ?,"
                    " return_kind = ?, params = ?, signature = ?, instrumentable = ?, reason = ?, head_begin = ?,"
                    " name_end = ?, size = ?, twin = ? WHERE id = ?");
  RefuseFunction = Statement(Db, "UPDATE function SET instrumentable = 0, reason = ? WHERE id = ?");
  RefuseTwin = Statement(Db, "UPDATE function SET twin = ? WHERE id = ? AND twin = ''");
  InsertCall = Statement(Db, "INSERT INTO call(caller, file, begin, end, line, col, callee, callee_usr, kind,"
                             " signature, wrappable, form, reason, in_loop, args)"
                             " VALUES(?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)");
  UpdateCall = Statement(Db, "UPDATE call SET callee = ?, kind = ?, wrappable = ?, form = ?, reason = ?, in_loop = ?,"
                             " args = ? WHERE id = ?");
  RefuseCall = Statement(Db, "UPDATE call SET wrappable = 0, form = '', reason = ? WHERE id = ?");
  InsertExit = Statement(Db, "INSERT INTO exit_site VALUES(?, ?, ?, ?, ?, ?, ?, ?, ?)");
  InsertGuarded = Statement(Db, "INSERT OR IGNORE INTO guarded VALUES(?, ?, ?, ?, ?, ?, ?, ?)");
  InsertAddress = Statement(Db, "INSERT INTO address VALUES(?, ?, ?, ?, ?, ?, ?, ?, ?)");
  InsertOverride = Statement(Db, "INSERT OR IGNORE INTO override VALUES(?, ?)");
}

template <typename... T> static std::string keyOf(const T &...Parts) {
  std::string Key;
  auto Add = [&](const auto &Part) {
    if constexpr (std::is_convertible_v<decltype(Part), std::string>)
      Key += Part;
    else
      Key += std::to_string(Part);
    Key += '\x1f';
  };
  (Add(Parts), ...);
  return Key;
}

void FactsStore::loadKeys() {
  Statement ReadFunctions(Db, "SELECT id, file, body_begin, usr FROM function");
  std::set<int64_t> KeptFunctions;
  while (ReadFunctions.step()) {
    bool Kept = KeptFiles.count(ReadFunctions.number(1));
    if (Kept)
      KeptFunctions.insert(ReadFunctions.number(0));
    Functions[keyOf(ReadFunctions.number(1), ReadFunctions.number(2), ReadFunctions.text(3))] = {
        ReadFunctions.number(0), Kept, false, false, ""};
  }
  Statement ReadCalls(Db, "SELECT id, caller, file, begin, end, callee_usr, signature, line, col, form FROM call");
  while (ReadCalls.step())
    Calls[keyOf(ReadCalls.number(1), ReadCalls.number(2), ReadCalls.number(3), ReadCalls.number(4), ReadCalls.text(5),
                ReadCalls.text(6), ReadCalls.number(7), ReadCalls.number(8))] = {
        ReadCalls.number(0), KeptFunctions.count(ReadCalls.number(1)) > 0, false, ReadCalls.text(9).empty(),
        ReadCalls.text(9)};
  Statement ReadExits(Db, "SELECT function, begin, line FROM exit_site");
  while (ReadExits.step())
    Exits.insert(keyOf(ReadExits.number(0), ReadExits.number(1), ReadExits.number(2)));
  Statement ReadAddresses(Db, "SELECT function_usr, how, target, arg, file, line, caller FROM address");
  while (ReadAddresses.step())
    Addresses.insert(keyOf(ReadAddresses.text(0), ReadAddresses.text(1), ReadAddresses.text(2), ReadAddresses.number(3),
                           ReadAddresses.number(4), ReadAddresses.number(5), ReadAddresses.number(6)));
}

bool FactsStore::begin() {
  if (!exec("BEGIN IMMEDIATE") || !exec("CREATE TEMP TABLE IF NOT EXISTS kept(file INTEGER PRIMARY KEY);"
                                        "DELETE FROM kept"))
    return fail("write");
  Statement Keep(Db, "INSERT INTO kept VALUES(?)");
  for (int64_t File : KeptFiles)
    if (!Keep.bind(File).run())
      return fail("write");
  // What has no ids to keep is simply written anew.
  if (!exec("DELETE FROM address WHERE file NOT IN kept;"
            "DELETE FROM guarded WHERE function IN (SELECT id FROM function WHERE file NOT IN kept);"
            "DELETE FROM exit_site WHERE function IN (SELECT id FROM function WHERE file NOT IN kept)"))
    return fail("write");
  if (KeptFiles.empty() && !exec("DELETE FROM override"))
    return fail("write");
  Statement DropUnit(Db, "DELETE FROM tu WHERE id = ?");
  prepare();
  for (int64_t Unit : GoneUnits)
    if (!DropUnit.bind(Unit).run() || !ClearUnitFiles.bind(Unit).run())
      return fail("write");
  loadKeys();
  return true;
}

bool FactsStore::applyFile(const FileRow &Row, int64_t &Id) {
  auto [Place, Fresh] = Files.try_emplace(Row.Path);
  OldFile &File = Place->second;
  if (Fresh) {
    if (!InsertFile.bind(Row.Path, Row.Hash, Row.Size).run())
      return fail("write");
    File.Id = sqlite3_last_insert_rowid(Db);
  } else if (File.Hash != Row.Hash) {
    if (File.Updated || File.Kept) {
      Error = Row.Path + " changed while it was scanned; scan again when the sources no longer change";
      return false;
    }
    if (!UpdateFile.bind(Row.Hash, Row.Size, File.Id).run())
      return fail("write");
  }
  File.Hash = Row.Hash;
  File.Updated = true;
  Id = File.Id;
  return true;
}

bool FactsStore::applyCall(const CallRow &Row, int64_t Caller, int64_t File, bool Kept) {
  std::string Key = keyOf(Caller, File, Row.Begin, Row.End, Row.CalleeUsr, Row.Signature, Row.Line, Row.Col);
  auto [Place, Fresh] = Calls.try_emplace(std::move(Key), Old{0, Kept, true, !Row.wrappable(), Row.Form});
  Old &Call = Place->second;
  bool Ok = true;
  if (Fresh) {
    Ok = InsertCall
             .bind(Caller, File, Row.Begin, Row.End, Row.Line, Row.Col, Row.Callee, Row.CalleeUsr, Row.Kind,
                   Row.Signature, Row.wrappable(), Row.Form, Row.Reason, Row.InLoop, Row.Args)
             .run();
    Call.Id = sqlite3_last_insert_rowid(Db);
  } else if (!Call.Touched && !Call.Kept) {
    Ok = UpdateCall.bind(Row.Callee, Row.Kind, Row.wrappable(), Row.Form, Row.Reason, Row.InLoop, Row.Args, Call.Id)
             .run();
    Call.Touched = true;
    Call.Refused = !Row.wrappable();
    Call.Form = Row.Form;
  } else if (!Call.Refused && Row.Form != Call.Form) {
    // One configuration of the file that refuses is enough; so are two that want different forms.
    Ok = RefuseCall.bind(Row.wrappable() ? std::string("instances") : Row.Reason, Call.Id).run();
    Call.Refused = true;
  }
  Call.Touched = true;
  return Ok || fail("write");
}

bool FactsStore::applyFunction(const FunctionRow &Row, const std::vector<int64_t> &FileIds, int64_t &Id) {
  const int64_t File = FileIds[Row.File];
  const bool Refused = !Row.Reason.empty();
  auto [Place, Fresh] =
      Functions.try_emplace(keyOf(File, Row.BodyBegin, Row.Usr), Old{0, KeptFiles.count(File) > 0, true, Refused, ""});
  Old &Function = Place->second;
  bool Ok = true;
  auto Write = [&](Statement &S, auto... More) {
    return S
        .bind(File, Row.Name, Row.Display, Row.Usr, Row.Line, Row.EndLine, Row.BodyBegin, Row.BodyEnd, Row.Lang,
              Row.IsStatic, Row.IsTiny, Row.Returns, Row.ReturnKind, Row.Params, Row.Signature, !Refused, Row.Reason,
              Row.HeadBegin, Row.NameEnd, Row.Size, Row.Twin, More...)
        .run();
  };
  if (Fresh) {
    Ok = Write(InsertFunction);
    Function.Id = sqlite3_last_insert_rowid(Db);
  } else if (!Function.Touched && !Function.Kept) {
    Ok = Write(UpdateFunction, Function.Id);
    Function.Refused = Refused;
  } else if (Refused && !Function.Refused) {
    Ok = RefuseFunction.bind(Row.Reason, Function.Id).run();
    Function.Refused = true;
  }
  if (!Fresh && !Row.Twin.empty()) // of two configurations or languages: both must allow it
    Ok = Ok && RefuseTwin.bind(Row.Twin, Function.Id).run();
  Function.Touched = true;
  Id = Function.Id;
  for (const CallRow &Call : Row.Calls)
    Ok = Ok && applyCall(Call, Id, FileIds[Call.File], Function.Kept);
  for (const ExitRow &Exit : Row.Exits)
    if (Exits.insert(keyOf(Id, Exit.Begin, Exit.Line)).second)
      Ok = Ok && InsertExit
                     .bind(Id, Exit.Begin, Exit.End, Exit.ExprBegin, Exit.ExprEnd, Exit.Line, Exit.Editable, Exit.Value,
                           Exit.Variable)
                     .run();
  for (const GuardedRow &Guarded : Row.Guarded)
    Ok = Ok && InsertGuarded
                   .bind(Id, Guarded.Kind, Guarded.Object, Guarded.Usr, Guarded.Type, Guarded.State, Guarded.Value,
                         Guarded.Line)
                   .run();
  return Ok || fail("write");
}

bool FactsStore::applyAddress(const AddressRow &Row, const std::vector<int64_t> &FileIds, int64_t Caller) {
  const int64_t File = FileIds[Row.File];
  if (!Addresses.insert(keyOf(Row.Usr, Row.How, Row.Target, Row.Arg, File, Row.Line, Caller)).second)
    return true;
  return InsertAddress.bind(Row.Usr, Row.Name, Row.Signature, Row.How, Row.Target, Row.Arg, File, Row.Line, Caller)
             .run() ||
         fail("write");
}

bool FactsStore::apply(const TranslationUnit &Unit, const TuFacts &Facts) {
  auto Known = OldUnits.find({Unit.Output, Unit.Path});
  int64_t Id;
  if (Known != OldUnits.end()) {
    Id = Known->second.Id;
    if (!UpdateUnit.bind(Unit.Directory, Unit.argumentsJson(), Unit.Lang, Facts.Status, Facts.Diagnostics, Id).run() ||
        !ClearUnitFiles.bind(Id).run())
      return fail("write");
  } else {
    if (!InsertUnit
             .bind(Unit.Path, Unit.Directory, Unit.Output, Unit.argumentsJson(), Unit.Lang, Facts.Status,
                   Facts.Diagnostics)
             .run())
      return fail("write");
    Id = sqlite3_last_insert_rowid(Db);
  }
  std::vector<int64_t> FileIds, FunctionIds;
  for (const FileRow &File : Facts.Files) {
    int64_t FileId;
    if (!applyFile(File, FileId))
      return false;
    FileIds.push_back(FileId);
    if (!InsertUnitFile.bind(Id, FileId).run())
      return fail("write");
  }
  for (const FunctionRow &Function : Facts.Functions) {
    int64_t FunctionId;
    if (!applyFunction(Function, FileIds, FunctionId))
      return false;
    FunctionIds.push_back(FunctionId);
  }
  for (const AddressRow &Address : Facts.Addresses)
    if (!applyAddress(Address, FileIds, Address.Caller < 0 ? 0 : FunctionIds[static_cast<size_t>(Address.Caller)]))
      return false;
  for (const OverrideRow &Override : Facts.Overrides)
    if (!InsertOverride.bind(Override.Method, Override.Base).run())
      return fail("write");
  return true;
}

bool FactsStore::sweep() {
  Statement DropCall(Db, "DELETE FROM call WHERE id = ?"), DropFunction(Db, "DELETE FROM function WHERE id = ?");
  Statement DropExits(Db, "DELETE FROM exit_site WHERE function = ?");
  for (const auto &[Key, Call] : Calls)
    if (!Call.Touched && !Call.Kept && !DropCall.bind(Call.Id).run())
      return fail("write");
  for (const auto &[Key, Function] : Functions)
    if (!Function.Touched && !Function.Kept &&
        (!DropFunction.bind(Function.Id).run() || !DropExits.bind(Function.Id).run()))
      return fail("write");
  return exec(
             "DELETE FROM call WHERE caller NOT IN (SELECT id FROM function);"
             "DELETE FROM call WHERE callee_usr = '' AND kind = 'direct' AND EXISTS (SELECT 1 FROM call AS other"
             " WHERE other.caller = call.caller AND other.file = call.file AND other.begin = call.begin"
             " AND other.end = call.end AND other.callee_usr <> '');"
             "DELETE FROM file WHERE id NOT IN (SELECT file FROM tu_file);"
             // A header of both languages: what is a call in C++ may be none in C, an assignment of structures for one.
             "UPDATE call SET wrappable = 0, form = '', reason = 'shared_with_c' WHERE form NOT IN ('', 'statement')"
             " AND file IN (SELECT tu_file.file FROM tu_file JOIN tu ON tu.id = tu_file.tu WHERE tu.lang = 'c');"
             "DELETE FROM guarded WHERE function NOT IN (SELECT id FROM function);"
             "DELETE FROM address WHERE file NOT IN (SELECT id FROM file)") ||
         fail("write");
}

bool FactsStore::commit() {
  if (!sweep())
    return false;
  Statement Top(Db, "SELECT coalesce(max(seq), 0) FROM sqlite_sequence WHERE name IN ('function', 'call')");
  if (Top.step() && Top.number(0) >= 0x800000 - 0x100) { // trace/format.h: 23 bits for either
    Error = "facts.db has used up all ids that a trace can hold; remove it and scan again";
    return false;
  }
  // Together with the rows: facts whose scan did not come this far say no version, and no reader takes them.
  Statement Meta(Db, "INSERT INTO meta VALUES(?1, ?2) ON CONFLICT(key) DO UPDATE SET value = ?2");
  if (!Meta.bind(std::string("version"), std::to_string(VPROF_FACTS_VERSION)).run() ||
      !Meta.bind(std::string("root"), ScannedRoot).run() ||
      !Meta.bind(std::string("scanner"), std::string("vprof-scan, clang 19")).run())
    return fail("write");
  return exec("COMMIT") || fail("write");
}

FactsStore::Counts FactsStore::counts() {
  Statement Count(Db, "SELECT (SELECT count(*) FROM file), (SELECT count(*) FROM function), (SELECT count(*) FROM"
                      " call), (SELECT count(*) FROM tu), (SELECT count(*) FROM tu WHERE status = 'failed'),"
                      " (SELECT count(*) FROM tu WHERE status = 'errors')");
  if (!Count.step())
    return {};
  return {Count.number(0), Count.number(1), Count.number(2), Count.number(3), Count.number(4), Count.number(5)};
}

} // namespace vprof
