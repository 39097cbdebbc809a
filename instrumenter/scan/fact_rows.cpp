/* SPDX-License-Identifier: GPL-3.0-or-later */
// One walk over the fields serves both directions: Writer and Reader offer the same calls, so that what is
// written and what is read cannot drift apart.
#include "instrumenter/scan/fact_rows.h"

#include <cstring>

namespace vprof {
namespace {

struct Writer {
  std::string Out;
  bool Ok = true;
  template <typename T> void number(T &Value) { Out.append(reinterpret_cast<const char *>(&Value), sizeof Value); }
  void text(std::string &Value) {
    uint32_t Size = static_cast<uint32_t>(Value.size());
    number(Size);
    Out += Value;
  }
  template <typename T, typename F> void list(std::vector<T> &Items, F Each) {
    uint32_t Size = static_cast<uint32_t>(Items.size());
    number(Size);
    for (T &Item : Items)
      Each(*this, Item);
  }
};

struct Reader {
  const std::string &In;
  size_t At = 0;
  bool Ok = true;
  template <typename T> void number(T &Value) {
    if (In.size() - At < sizeof Value) {
      Ok = false;
      return;
    }
    memcpy(&Value, In.data() + At, sizeof Value);
    At += sizeof Value;
  }
  void text(std::string &Value) {
    uint32_t Size = 0;
    number(Size);
    if (!Ok || In.size() - At < Size) {
      Ok = false;
      return;
    }
    Value.assign(In, At, Size);
    At += Size;
  }
  template <typename T, typename F> void list(std::vector<T> &Items, F Each) {
    uint32_t Size = 0;
    number(Size);
    for (uint32_t I = 0; Ok && I < Size; I++) {
      Items.emplace_back();
      Each(*this, Items.back());
    }
  }
};

template <typename S> void walkCall(S &Stream, CallRow &Row) {
  Stream.number(Row.File);
  Stream.number(Row.Begin);
  Stream.number(Row.End);
  Stream.number(Row.Line);
  Stream.number(Row.Col);
  Stream.text(Row.Callee);
  Stream.text(Row.CalleeUsr);
  Stream.text(Row.Kind);
  Stream.text(Row.Signature);
  Stream.text(Row.Form);
  Stream.text(Row.Reason);
  Stream.text(Row.Args);
  Stream.number(Row.InLoop);
}

template <typename S> void walkExit(S &Stream, ExitRow &Row) {
  Stream.number(Row.Begin);
  Stream.number(Row.End);
  Stream.number(Row.ExprBegin);
  Stream.number(Row.ExprEnd);
  Stream.number(Row.Line);
  Stream.number(Row.Editable);
  Stream.text(Row.Value);
  Stream.text(Row.Variable);
}

template <typename S> void walkGuarded(S &Stream, GuardedRow &Row) {
  for (std::string *Text : {&Row.Kind, &Row.Object, &Row.Usr, &Row.Type, &Row.State, &Row.Value})
    Stream.text(*Text);
  Stream.number(Row.Line);
}

template <typename S> void walkFunction(S &Stream, FunctionRow &Row) {
  Stream.number(Row.File);
  Stream.number(Row.BodyBegin);
  Stream.number(Row.BodyEnd);
  Stream.number(Row.HeadBegin);
  Stream.number(Row.NameEnd);
  Stream.number(Row.Line);
  Stream.number(Row.EndLine);
  Stream.number(Row.Size);
  for (std::string *Text : {&Row.Name, &Row.Display, &Row.Usr, &Row.Lang, &Row.Returns, &Row.ReturnKind, &Row.Params,
                            &Row.Signature, &Row.Reason, &Row.Twin})
    Stream.text(*Text);
  Stream.number(Row.IsStatic);
  Stream.number(Row.IsTiny);
  Stream.list(Row.Calls, [](S &Inner, CallRow &Call) { walkCall(Inner, Call); });
  Stream.list(Row.Exits, [](S &Inner, ExitRow &Exit) { walkExit(Inner, Exit); });
  Stream.list(Row.Guarded, [](S &Inner, GuardedRow &Guarded) { walkGuarded(Inner, Guarded); });
}

template <typename S> void walkAddress(S &Stream, AddressRow &Row) {
  for (std::string *Text : {&Row.Usr, &Row.Name, &Row.Signature, &Row.How, &Row.Target})
    Stream.text(*Text);
  Stream.number(Row.Arg);
  Stream.number(Row.Line);
  Stream.number(Row.File);
  Stream.number(Row.Caller);
}

template <typename S> void walk(S &Stream, TuFacts &Facts) {
  Stream.text(Facts.Status);
  Stream.text(Facts.Diagnostics);
  Stream.list(Facts.Files, [](S &Inner, FileRow &Row) {
    Inner.text(Row.Path);
    Inner.text(Row.Hash);
    Inner.number(Row.Size);
  });
  Stream.list(Facts.Functions, [](S &Inner, FunctionRow &Row) { walkFunction(Inner, Row); });
  Stream.list(Facts.Addresses, [](S &Inner, AddressRow &Row) { walkAddress(Inner, Row); });
  Stream.list(Facts.Overrides, [](S &Inner, OverrideRow &Row) {
    Inner.text(Row.Method);
    Inner.text(Row.Base);
  });
}

bool consistent(const TuFacts &Facts) {
  const size_t Files = Facts.Files.size();
  for (const FunctionRow &Row : Facts.Functions) {
    if (Row.File >= Files)
      return false;
    for (const CallRow &Call : Row.Calls)
      if (Call.File >= Files)
        return false;
  }
  for (const AddressRow &Row : Facts.Addresses)
    if (Row.File >= Files || Row.Caller < -1 || Row.Caller >= static_cast<int64_t>(Facts.Functions.size()))
      return false;
  return true;
}

} // namespace

std::string encode(const TuFacts &Facts) {
  Writer Stream;
  walk(Stream, const_cast<TuFacts &>(Facts)); // the writer's calls only read
  return std::move(Stream.Out);
}

bool decode(const std::string &Bytes, TuFacts &Facts) {
  Reader Stream{Bytes};
  walk(Stream, Facts);
  return Stream.Ok && Stream.At == Bytes.size() && consistent(Facts);
}

} // namespace vprof
