/* SPDX-License-Identifier: Apache-2.0 */
/* NEXT(function): the next definition of a function that is wrapped, found at its first call. With _GNU_SOURCE. */
#ifndef VPROF_FLOW_NEXT_H
#define VPROF_FLOW_NEXT_H

#include <dlfcn.h>
#include <stddef.h>

static inline void *flow_next(void **found, const char *name, const char *version)
{
	void *next = __atomic_load_n(found, __ATOMIC_ACQUIRE);

	if (next)
		return next;
	next = version ? dlvsym(RTLD_NEXT, name, version) : NULL;
	if (!next)
		next = dlsym(RTLD_NEXT, name);
	__atomic_store_n(found, next, __ATOMIC_RELEASE);
	return next;
}

#define NEXT_VERSION(name, version)                                                                                    \
	__extension__({                                                                                                \
		static void *found_;                                                                                   \
		(__typeof__(&(name)))flow_next(&found_, #name, version);                                               \
	})
#define NEXT(name) NEXT_VERSION(name, NULL)

#endif
