/* SPDX-License-Identifier: GPL-3.0-or-later */
#define _GNU_SOURCE
#include "instrumenter/resident/resident_names.h"

#include <dlfcn.h>
#include <string.h>

#define ALIAS ".localalias"

int vprof_name_is_clone(const char *dot)
{
	static const char *const parts[] = { ".isra.", ".constprop.", ".part.", ".cold", ALIAS };

	for (size_t i = 0; i < sizeof parts / sizeof *parts; i++)
		if (!strncmp(dot, parts[i], strlen(parts[i])))
			return 1;
	return 0;
}

int vprof_name_is_alias(const char *name, size_t n)
{
	return n > strlen(ALIAS) && !memcmp(name + n - strlen(ALIAS), ALIAS, strlen(ALIAS));
}

int vprof_name_is_made(const char *name)
{
	static const char *const made[] = { "_Z", "CSWTCH.", "__func__.", "__FUNCTION__.", "__PRETTY_FUNCTION__." };

	if (!strncmp(name, "C.", 2) && strchr(name + 2, '.'))
		return 1;
	for (size_t i = 0; i < sizeof made / sizeof *made; i++)
		if (!strncmp(name, made[i], strlen(made[i])))
			return 1;
	return 0;
}

int vprof_name_is_of_runtime(const char *name)
{
	return !strncmp(name, "vp_", 3);
}

int vprof_name_is_of_libc(const char *name)
{
	void *libc = dlopen("libc.so.6", RTLD_LAZY | RTLD_NOLOAD);
	int is = libc && dlsym(libc, name);

	if (libc)
		dlclose(libc);
	return is;
}
