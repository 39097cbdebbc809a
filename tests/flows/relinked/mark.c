extern const char mark[];
const char mark[] = "linked";
/* SPDX-License-Identifier: GPL-3.0-or-later */
