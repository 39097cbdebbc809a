/* SPDX-License-Identifier: GPL-3.0-or-later */
#define VPROF_LIBCLANG_LOADER
#include "annotate/check/libclang.h"

#include <dlfcn.h>
#include <stddef.h>
#include <string.h>

struct vprof_libclang vprof_libclang;

static const struct {
	const char *name;
	size_t at;
} functions[] = {
#define VPROF_LIBCLANG_ENTRY(name) { #name, offsetof(struct vprof_libclang, name##_) },
	VPROF_LIBCLANG_FUNCTIONS(VPROF_LIBCLANG_ENTRY)
#undef VPROF_LIBCLANG_ENTRY
};

int vprof_libclang_load(struct vprof_error *err)
{
	static const char *const names[] = { VPROF_LIBCLANG_PATH, "libclang-19.so.19", "libclang-19.so.1" };
	static void *library;

	for (size_t i = 0; i < sizeof names / sizeof *names && !library; i++) {
		library = dlopen(names[i], RTLD_NOW | RTLD_LOCAL);
		for (size_t f = 0; f < sizeof functions / sizeof *functions && library; f++) {
			void *address = dlsym(library, functions[f].name);

			memcpy((char *)&vprof_libclang + functions[f].at, &address, sizeof address);
			if (!address) {
				dlclose(library);
				library = NULL;
			}
		}
	}
	if (!library)
		return vprof_error_set(err, VPROF_ERR_MISSING,
				       "expressions cannot be checked: libclang 19 cannot be loaded (%s). Install it: "
				       "apt-get install libclang1-19",
				       dlerror());
	return VPROF_OK;
}
