/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Files that are being written: a signal that ends the program removes them.
 *
 *   slot = vprof_unfinished_enter("report.html.123");
 *   ... open, write, rename to report.html, or unlink ...
 *   vprof_unfinished_leave(slot);
 *
 * Works once vprof_unfinished_guard was called. Safe from several threads at once.
 */
#ifndef VPROF_UNFINISHED_H
#define VPROF_UNFINISHED_H

/* From now on SIGINT, SIGTERM, SIGHUP, SIGQUIT and SIGXFSZ remove the files and then end the program as they would have
 * (exit status by signal). What is ignored (nohup) or handled already stays so. To be called once, before there are
 * threads. */
void vprof_unfinished_guard(void);

/* To be called before the file is made. Relative paths are those of the present folder. Returns a slot, or -1 (no file
 * is removed then): out of slots, or the path is too long. */
int vprof_unfinished_enter(const char *path);
/* The file has its final name, or is gone. A slot of -1 is fine. */
void vprof_unfinished_leave(int slot);

#endif
