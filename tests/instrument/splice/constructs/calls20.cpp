// FLAGS: -std=c++20
// BREAK: main,run
// The calls of versions.inc in another language version.
#include "versions.inc"
/* SPDX-License-Identifier: GPL-3.0-or-later */
