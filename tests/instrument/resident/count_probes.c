/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Preloaded in place of libvprof.so: opens the probes that $COUNT_OPEN lists and counts their records, without a trace.
 *
 *   COUNT_OPEN    a file with lines "MODULE site ADDRESS" and "MODULE entry ADDRESS" (addresses of the module's file,
 * hex) COUNT_TO      where "CODE COUNT" lines are written at exit COUNT_TOGGLE  set: entries are opened and closed all
 * the time, by a thread of its own, through /proc/self/mem
 */
#define _GNU_SOURCE
#include <fcntl.h>
#include <link.h>
#include <pthread.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define VP_PROBE_TYPES_ONLY
#include "runtime/probe.h"

#define N_CODES (1u << 24)
#define N_OPEN 4096

static unsigned int *counts;
static int memory = -1, n_entries, is_inert;
static uintptr_t entries[N_OPEN];
static unsigned long n_toggles;
static volatile int ended;

struct counting { /* each thread's */
	struct vp_thread head;
	struct vp_hot hot[VP_HOT_SLOTS];
};

static const unsigned int window_open;
static __thread struct counting own;

/* The limit is 0, so each unit comes here. A call that begins is an ENTER record, of kind 1, with its code above: sites
 * are opened as roots, since a call that a jump ends has no other record here. */
static void count_unit(struct vp_thread *thread, unsigned long address, vp_u64 t, vp_u64 w)
{
	(void)thread, (void)address, (void)t;
	if ((w & (N_CODES - 1)) == 1)
		__atomic_fetch_add(&counts[w >> 24 & (N_CODES - 1)], 1, __ATOMIC_RELAXED);
}

static vp_u64 never_hot(struct vp_thread *thread, struct vp_hot *hot, vp_u64 key)
{
	(void)thread;
	hot->key = key;
	hot->left = 1 << 30;
	return 0;
}

static void hook(struct vp_thread *thread, unsigned int kind, const char *name, vp_u64 value, const void *caller)
{
	(void)thread, (void)kind, (void)name, (void)value, (void)caller;
}

static const struct vp_api api = { .full = count_unit, .hook = hook, .hot_enter = never_hot };

__attribute__((visibility("default"))) struct vp_thread *vprof_rt_attach(unsigned int abi, unsigned long thread_bytes);

struct vp_thread *vprof_rt_attach(unsigned int abi, unsigned long thread_bytes)
{
	if ((abi & ~VP_ABI_FIRST) != VP_ABI || thread_bytes != sizeof(struct vp_thread) || is_inert)
		return NULL;
	own.head = (struct vp_thread){ .gate = ~0ULL,
				       .api = &api,
				       .hot = own.hot,
				       .hot_after = 1 << 30,
				       .closed = &window_open,
				       .stretch = 1ULL << 32 };
	return &own.head;
}

struct wanted {
	const char *path;
	uintptr_t bias;
	int found;
};

static int match(struct dl_phdr_info *info, size_t n, void *arg)
{
	struct wanted *w = arg;
	char self[4096], *real;

	(void)n;
	if (!*info->dlpi_name) {
		ssize_t k = readlink("/proc/self/exe", self, sizeof self - 1);

		self[k > 0 ? k : 0] = 0;
		real = strdup(self);
	} else {
		real = realpath(info->dlpi_name, NULL);
	}
	if (real && !strcmp(real, w->path)) {
		w->bias = info->dlpi_addr;
		w->found = 1;
	}
	free(real);
	return w->found;
}

static void put(uintptr_t address, const void *bytes, size_t n)
{
	if (pwrite(memory, bytes, n, (off_t)address) != (ssize_t)n) {
		perror("count_probes: /proc/self/mem");
		_exit(120);
	}
}

static void *toggle(void *arg)
{
	(void)arg;
	while (!ended)
		for (int i = 0; i < n_entries; i++) {
			unsigned char opened = 0xe9, closed = 0xa9;

			put(entries[i], n_toggles++ & 1 ? &opened : &closed, 1);
		}
	return NULL;
}

static pthread_t toggler;

void count_probes_open(void);

/* Again after dlopen: modules that are there now. */
void count_probes_open(void)
{
	static const vp_u64 all = ~0ULL;
	static const unsigned int root = VP_LIVE_ROOT;
	FILE *list = getenv("COUNT_OPEN") ? fopen(getenv("COUNT_OPEN"), "r") : NULL;
	char path[3000], what[16];
	unsigned long address;

	n_entries = 0;
	while (list && fscanf(list, "%2999s %15s %lx", path, what, &address) == 3) {
		struct wanted w = { .path = path };
		unsigned char opened = 0xe9, now;

		dl_iterate_phdr(match, &w);
		if (!w.found)
			continue;
		if (!strcmp(what, "site")) {
			put(w.bias + address + offsetof(struct vp_live_site, flags), &root, sizeof root);
			put(w.bias + address, &all, sizeof all);
			continue;
		}
		if (pread(memory, &now, 1, (off_t)(w.bias + address)) != 1 || (now != 0xa9 && now != 0xe9)) {
			fprintf(stderr, "count_probes: %s: no entry at %#lx\n", path, address);
			_exit(121);
		}
		put(w.bias + address, &opened, 1);
		if (n_entries < N_OPEN)
			entries[n_entries++] = w.bias + address;
	}
	if (list)
		fclose(list);
}

/* Before constructors of the program: they may call what is open. */
__attribute__((constructor)) static void start(void)
{
	is_inert = !getenv("COUNT_OPEN");
	counts = calloc(N_CODES, sizeof *counts);
	memory = open("/proc/self/mem", O_RDWR | O_CLOEXEC);
	count_probes_open();
	if (getenv("COUNT_TOGGLE"))
		pthread_create(&toggler, NULL, toggle, NULL);
}

__attribute__((destructor)) static void finish(void)
{
	FILE *to = getenv("COUNT_TO") ? fopen(getenv("COUNT_TO"), "w") : NULL;

	if (getenv("COUNT_TOGGLE")) {
		ended = 1;
		pthread_join(toggler, NULL);
	}
	for (unsigned int i = 0; to && i < N_CODES; i++)
		if (counts[i])
			fprintf(to, "%u %u\n", i, counts[i]);
	if (to)
		fclose(to);
}
