// A source that Clang cannot parse wholly still gives what it can.
#include "no/such/file.h"
int fine(int a) { return a; }
// expect status errors
// expect function fine reason=
/* SPDX-License-Identifier: GPL-3.0-or-later */
