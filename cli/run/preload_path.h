/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The dynamic loader takes blanks and colons in LD_PRELOAD for separators: a library whose path holds one needs
 * another. */
#ifndef VPROF_PRELOAD_PATH_H
#define VPROF_PRELOAD_PATH_H

#include "common/error.h"

/* `library` itself when the loader can take it, else a symbolic link to it in TMPDIR/vprof-UID, which stays: processes
 * may outlive their run and start others. Heap string; NULL with the way on, also when that folder is another user's.
 */
char *vprof_preload_path(const char *library, struct vprof_error *err);

#endif
