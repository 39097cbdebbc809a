/* SPDX-License-Identifier: Apache-2.0 */
/* Between the callbacks that are linked into each compiled module (flow_stub.c) and libvprof-flows.so, which answers
 * them. Without the library the callbacks do what the access demands and nothing more.
 *
 * Callbacks come before the access, so what is written is not in memory yet. `pc` is the return address in the module.
 * Plain accesses and copies are told only while the library watches them, all else always.
 */
#ifndef VPROF_FLOW_HOOKS_H
#define VPROF_FLOW_HOOKS_H

#include <stddef.h>
#include <stdint.h>

#define VPROF_FLOW_HOOKS_VERSION 3u
#define VPROF_FLOW_NOT_TOLD UINT64_MAX

struct vprof_flow_hooks {
	uint32_t version;
	uint32_t watches; /* odd: accesses are to be told; changes at any time */
	/* a module's first callback; `inside` lies in it */
	void (*module)(const void *inside);
	void (*read)(uintptr_t address, size_t n, uintptr_t pc);
	void (*write)(uintptr_t address, size_t n, uintptr_t pc);
	void (*copy)(uintptr_t to, uintptr_t from, size_t n, uintptr_t pc);
	/* before an atomic store, exchange or compare-exchange of `value` */
	void (*publish)(uintptr_t address, size_t n, uint64_t value, int order, uintptr_t pc);
	/* after an atomic load or exchange that gave `value`, or VPROF_FLOW_NOT_TOLD */
	void (*observe)(uintptr_t address, size_t n, uint64_t value, int order, uintptr_t pc);
	/* the program's own locks, of functions that were given probes (flow_probe.h): after the acquisition, before
	 * the release */
	void (*acquired)(uintptr_t lock, uintptr_t pc);
	void (*releasing)(uintptr_t lock, uintptr_t pc);
	/* inline assembly has changed it by an atomic instruction: a plain store of the thread's may release it */
	void (*changed)(uintptr_t address);
};

#endif
