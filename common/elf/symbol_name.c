/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "common/elf/symbol_name.h"

#include <stdlib.h>
#include <string.h>

/* libstdc++'s C entry point to its demangler. */
extern char *__cxa_demangle(const char *mangled, char *buffer, size_t *size, int *status);

/* Cuts ".constprop.0", ".isra.3", ".part.1", ".cold", ".lto_priv.0" and the like: what the compiler made of a function
 * is the function. */
static void cut_marks(char *name)
{
	static const char *const suffixes[] = {
		".constprop", ".isra", ".part", ".cold", ".lto_priv", ".clone", ".llvm"
	};

	static const char own_alias[] = "__GI_"; /* a function of glibc's, as itself calls it */
	static const char twin[] = "__vp";	 /* a function's instrumented copy (docs/design/live.md) */

	for (size_t i = 0; i < sizeof suffixes / sizeof *suffixes; i++) {
		char *at = strstr(name + (*name != 0), suffixes[i]);

		if (at)
			*at = 0;
	}
	if (*name) /* "@@GLIBC_2.34": a version */
		name[1 + strcspn(name + 1, "@")] = 0;
	if (strlen(name) > strlen(twin) && !strcmp(name + strlen(name) - strlen(twin), twin))
		name[strlen(name) - strlen(twin)] = 0;
	if (!strncmp(name, own_alias, strlen(own_alias)) && name[strlen(own_alias)])
		memmove(name, name + strlen(own_alias), strlen(name + strlen(own_alias)) + 1);
}

/* "void ns::f<int>(int, char) const" to "ns::f<int>". */
static void cut_signature(char *name)
{
	char *end = strrchr(name, ')'), *start = name;
	int depth = 0;

	for (char *at = end; at && at >= name; at--) {
		depth += *at == ')';
		depth -= *at == '(';
		if (depth == 0) {
			if (at > name)
				*at = 0;
			break;
		}
	}
	if (strstr(name, "operator"))
		return;
	depth = 0;
	for (char *at = name; *at; at++) {
		depth += *at == '<' || *at == '(';
		depth -= *at == '>' || *at == ')';
		if (*at == ' ' && depth == 0)
			start = at + 1;
	}
	memmove(name, start, strlen(start) + 1);
}

char *vprof_symbol_name(const char *elf_name)
{
	char *name = strdup(elf_name), *plain;
	int status = 0;

	if (!name)
		return NULL;
	cut_marks(name);
	if (name[0] != '_' || name[1] != 'Z')
		return name;
	plain = __cxa_demangle(name, NULL, NULL, &status);
	if (!plain)
		return name;
	cut_signature(plain);
	free(name);
	return plain;
}
