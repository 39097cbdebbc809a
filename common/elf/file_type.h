/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What kind of build output a file is, from its first bytes. */
#ifndef VPROF_FILE_TYPE_H
#define VPROF_FILE_TYPE_H

enum vprof_file_type {
	VPROF_FILE_OTHER,   /* also: cannot be read, or a symbolic link */
	VPROF_FILE_PROGRAM, /* or shared library */
	VPROF_FILE_RELOCATABLE,
	VPROF_FILE_ARCHIVE,
	VPROF_FILE_THIN /* an archive that only names its members */
};

enum vprof_file_type vprof_file_type(const char *path);

/* Does the relocatable file use a symbol with this end that it does not define? 0 also when it cannot be read. */
int vprof_elf_has_undefined(const char *path, const char *suffix);

#endif
