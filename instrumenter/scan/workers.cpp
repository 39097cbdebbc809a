/* SPDX-License-Identifier: GPL-3.0-or-later */
// Each worker has two pipes: the scan writes a unit's index, the worker answers with {index, size, bytes}. The
// worker sends the facts of a header's function only once, however many of its units include the header.
#include "instrumenter/scan/workers.h"

#include "instrumenter/scan/parse.h"

#include <cerrno>
#include <csignal>
#include <cstring>
#include <map>
#include <poll.h>
#include <set>
#include <sys/wait.h>
#include <unistd.h>

extern "C" {
#include "common/files.h"
}

namespace vprof {
namespace {

struct Header {
  uint64_t Index, Size;
};

bool writeAll(int Fd, const void *Bytes, size_t Size) {
  const char *At = static_cast<const char *>(Bytes);
  while (Size) {
    ssize_t Done = write(Fd, At, Size);
    if (Done < 0 && errno == EINTR)
      continue;
    if (Done <= 0)
      return false;
    At += Done;
    Size -= static_cast<size_t>(Done);
  }
  return true;
}

bool readAll(int Fd, void *Bytes, size_t Size) {
  char *At = static_cast<char *>(Bytes);
  while (Size) {
    ssize_t Done = read(Fd, At, Size);
    if (Done < 0 && errno == EINTR)
      continue;
    if (Done <= 0)
      return false;
    At += Done;
    Size -= static_cast<size_t>(Done);
  }
  return true;
}

// Empties the calls of functions that this worker has already sent in the same words. The row itself stays: the
// store must see that the function still exists, and addresses refer to it by index.
void dropSent(TuFacts &Facts, std::set<uint64_t> &Sent) {
  for (FunctionRow &Row : Facts.Functions) {
    TuFacts One;
    One.Files = {Facts.Files[Row.File]};
    FunctionRow Copy = Row;
    bool OtherFiles = false;
    for (CallRow &Call : Copy.Calls) {
      OtherFiles |= Call.File != Row.File;
      Call.File = 0;
    }
    if (OtherFiles)
      continue;
    Copy.File = 0;
    One.Functions.push_back(std::move(Copy));
    std::string Bytes = encode(One);
    if (!Sent.insert(vprof_hash(VPROF_HASH_SEED, Bytes.data(), Bytes.size())).second) {
      Row.Calls.clear();
      Row.Exits.clear();
    }
  }
}

[[noreturn]] void work(int In, int Out, const std::vector<const TranslationUnit *> &Units, const std::string &Root) {
  std::set<uint64_t> Sent;
  uint64_t Index;
  while (readAll(In, &Index, sizeof Index) && Index < Units.size()) {
    TuFacts Facts = parseUnit(*Units[Index], Root);
    dropSent(Facts, Sent);
    std::string Bytes = encode(Facts);
    Header Head{Index, Bytes.size()};
    if (!writeAll(Out, &Head, sizeof Head) || !writeAll(Out, Bytes.data(), Bytes.size()))
      break;
  }
  _exit(0);
}

struct Worker {
  pid_t Pid = -1;
  int In = -1, Out = -1; // the scan's ends: writes to In, reads from Out
  size_t Unit = SIZE_MAX;
};

class Pool {
public:
  Pool(const std::vector<const TranslationUnit *> &Units, const std::string &Root) : Units(Units), Root(Root) {}
  ~Pool() {
    for (Worker &W : Workers)
      stop(W);
  }

  bool start(Worker &W) {
    int Request[2], Answer[2];
    if (pipe(Request))
      return false;
    if (pipe(Answer)) {
      close(Request[0]);
      close(Request[1]);
      return false;
    }
    pid_t Pid = fork();
    if (!Pid) {
      close(Request[1]);
      close(Answer[0]);
      for (Worker &Other : Workers) { // or their pipes would never end
        if (Other.In >= 0)
          close(Other.In);
        if (Other.Out >= 0)
          close(Other.Out);
      }
      work(Request[0], Answer[1], Units, Root);
    }
    close(Request[0]);
    close(Answer[1]);
    W.Pid = Pid;
    W.In = Request[1];
    W.Out = Answer[0];
    if (Pid > 0)
      return true;
    stop(W);
    return false;
  }

  // Closes the pipes, so that the worker ends, and waits for it. The status tells how it ended.
  int stop(Worker &W) {
    int Status = 0;
    if (W.In >= 0)
      close(W.In);
    if (W.Out >= 0)
      close(W.Out);
    if (W.Pid > 0)
      while (waitpid(W.Pid, &Status, 0) < 0 && errno == EINTR)
        ;
    W = Worker();
    return Status;
  }

  bool give(Worker &W) {
    if (Next >= Units.size()) {
      stop(W);
      return true;
    }
    if (W.Pid < 0 && !start(W))
      return false;
    W.Unit = Next++;
    uint64_t Index = W.Unit;
    writeAll(W.In, &Index, sizeof Index); // a dead worker shows when its answer is read
    return true;
  }

  TuFacts take(Worker &W) {
    Header Head;
    std::string Bytes;
    TuFacts Facts;
    if (readAll(W.Out, &Head, sizeof Head) && Head.Index == W.Unit && Head.Size < (UINT64_C(1) << 32)) {
      Bytes.resize(Head.Size);
      if (readAll(W.Out, Bytes.data(), Bytes.size()) && decode(Bytes, Facts))
        return Facts;
    }
    int Status = stop(W);
    Facts = TuFacts();
    Facts.Diagnostics = "the scanner crashed while parsing this file";
    if (WIFSIGNALED(Status))
      Facts.Diagnostics += std::string(" (") + strsignal(WTERMSIG(Status)) + ")";
    Facts.Diagnostics += "; its functions will not be measured\n";
    return Facts;
  }

  const std::vector<const TranslationUnit *> &Units;
  const std::string &Root;
  std::vector<Worker> Workers;
  size_t Next = 0;
};

} // namespace

bool parseAll(const std::vector<const TranslationUnit *> &Units, const std::string &Root, unsigned Jobs,
              const std::function<bool(size_t, TuFacts &&)> &Done, const std::function<void(size_t)> &Progress,
              std::string &Error) {
  signal(SIGPIPE, SIG_IGN);
  Pool Workers(Units, Root);
  Workers.Workers.resize(std::min<size_t>(Jobs, Units.size()));
  for (Worker &W : Workers.Workers)
    if (!Workers.give(W)) {
      Error = std::string("cannot start a worker process: ") + strerror(errno);
      return false;
    }
  std::map<size_t, TuFacts> Waiting; // answers that came before an earlier unit's
  size_t Applied = 0, Answers = 0;
  while (Applied < Units.size()) {
    std::vector<pollfd> Polls;
    for (Worker &W : Workers.Workers)
      Polls.push_back({W.Out, POLLIN, 0});
    if (poll(Polls.data(), Polls.size(), -1) < 0 && errno != EINTR) {
      Error = std::string("poll: ") + strerror(errno);
      return false;
    }
    for (size_t I = 0; I < Polls.size(); I++) {
      if (Polls[I].fd < 0 || !(Polls[I].revents & (POLLIN | POLLHUP | POLLERR)))
        continue;
      Worker &W = Workers.Workers[I];
      size_t Unit = W.Unit;
      Waiting[Unit] = Workers.take(W);
      Progress(++Answers);
      if (!Workers.give(W)) {
        Error = std::string("cannot start a worker process: ") + strerror(errno);
        return false;
      }
    }
    for (auto First = Waiting.begin(); First != Waiting.end() && First->first == Applied; Applied++) {
      if (!Done(Applied, std::move(First->second)))
        return false;
      First = Waiting.erase(First);
    }
  }
  return true;
}

} // namespace vprof
