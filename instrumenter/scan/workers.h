/* SPDX-License-Identifier: GPL-3.0-or-later */
// Worker processes that parse units side by side. A crash of Clang costs one unit, not the scan.
#ifndef VPROF_SCAN_WORKERS_H
#define VPROF_SCAN_WORKERS_H

#include "instrumenter/scan/compile_database.h"
#include "instrumenter/scan/fact_rows.h"

#include <functional>

namespace vprof {

// Calls `Done` once for each unit, in the order of `Units` (so that a scan is repeatable), in this process.
// False with `Error` when workers cannot be started, or as soon as `Done` returns false.
bool parseAll(const std::vector<const TranslationUnit *> &Units, const std::string &Root, unsigned Jobs,
              const std::function<bool(size_t Index, TuFacts &&Facts)> &Done,
              const std::function<void(size_t NDone)> &Progress, std::string &Error);

} // namespace vprof

#endif
