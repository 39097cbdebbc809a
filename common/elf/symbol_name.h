/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A linker's name for a function, as a person writes it. */
#ifndef VPROF_SYMBOL_NAME_H
#define VPROF_SYMBOL_NAME_H

/* Heap copy of an ELF symbol's name: demangled and qualified, without parameters, template return types, the
 * compiler's suffixes (".cold", ".isra.0"), versions ("@GLIBC_2.34"), glibc's "__GI_" and the mark of vprof's
 * instrumented copies. NULL without memory. */
char *vprof_symbol_name(const char *elf_name);

#endif
