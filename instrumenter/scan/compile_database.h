/* SPDX-License-Identifier: GPL-3.0-or-later */
// The compilation database: which translation units there are, and how Clang must be called for each.
#ifndef VPROF_SCAN_COMPILE_DATABASE_H
#define VPROF_SCAN_COMPILE_DATABASE_H

#include <string>
#include <vector>

namespace vprof {

struct TranslationUnit {
  std::string Path, Directory, Output; // absolute, normalised
  std::vector<std::string> Arguments;  // the recorded command
  std::string Lang;                    // "c" or "c++"

  std::string argumentsJson() const;
};

// Every C or C++ translation unit of the database; of doubles (same output and path) the last one counts, as it
// is the one whose object lies on the disk. False with a message for a person in `Error`.
bool loadDatabase(const std::string &Path, std::vector<TranslationUnit> &Units, std::string &Error);

// Clang's command for a unit: of gcc's flags only those that change the meaning of the source (a flag unknown to
// Clang would end the parse). Without `MachineFlags` -m flags are left out too, for a second try.
std::vector<std::string> clangCommand(const TranslationUnit &Unit, bool MachineFlags);

} // namespace vprof

#endif
