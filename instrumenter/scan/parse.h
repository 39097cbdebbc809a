/* SPDX-License-Identifier: GPL-3.0-or-later */
// One translation unit through Clang: TranslationUnit -> TuFacts.
#ifndef VPROF_SCAN_PARSE_H
#define VPROF_SCAN_PARSE_H

#include "instrumenter/scan/compile_database.h"
#include "instrumenter/scan/fact_rows.h"

namespace vprof {

// Changes the working directory of the process to the unit's. Never fails: Status and Diagnostics tell.
TuFacts parseUnit(const TranslationUnit &Unit, const std::string &Root);

} // namespace vprof

#endif
