/* SPDX-License-Identifier: Apache-2.0 */
/* The file of this process, and the threads that write into it.
 *
 * Chunks are mapped one by one, so what was written survives whatever ends the process. Disk space is reserved before a
 * chunk is mapped: a full disk ends the recording, not the program. A forked child begins a file of its own.
 */
#define _GNU_SOURCE
#include "runtime/flows/flow_runtime.h"

#include <errno.h>
#include <fcntl.h>
#include <link.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#define MODULES 128

__thread struct flow_thread *flow_self __attribute__((tls_model("initial-exec")));
static __thread bool ended __attribute__((tls_model("initial-exec")));
struct vprof_flow_header *flow_header;
static struct vprof_flow_sequence *sequence;
static uint64_t max_chunks;
static char folder[3072];
static int file = -1;
static pthread_key_t thread_key;
static const void *modules[MODULES]; /* an address within each, for children */
static unsigned n_modules;

/* The runtime's own memory is none of the program's, whose mappings are wrapped. */
static void *flow_map(size_t n, int rights, int flags, int fd, off_t at)
{
	return (void *)syscall(SYS_mmap, NULL, n, rights, flags, fd, at);
}

static void flow_unmap(void *address, size_t n)
{
	syscall(SYS_munmap, address, n);
}

static struct flow_thread *thread_new(void)
{
	struct flow_thread *t = flow_map(sizeof *t, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	pthread_attr_t attributes;
	void *stack;
	size_t n;

	if (t == MAP_FAILED)
		return NULL;
	t->busy = true;
	t->tid = (uint32_t)syscall(SYS_gettid);
	flow_watch_begin(t);
	flow_self = t;
	if (!pthread_getattr_np(pthread_self(), &attributes)) {
		if (!pthread_attr_getstack(&attributes, &stack, &n)) {
			t->stack_low = (uintptr_t)stack;
			t->stack_high = (uintptr_t)stack + n;
		}
		pthread_attr_destroy(&attributes);
	}
	pthread_setspecific(thread_key, t);
	t->busy = false;
	return t;
}

struct flow_thread *flow_thread(void)
{
	if (__builtin_expect(flow_self != NULL, 1))
		return flow_self;
	if (!flow_header || ended)
		return NULL;
	return thread_new();
}

static void thread_finish(struct flow_thread *t)
{
	flow_watch_catch_up(t);
	if (t->n_records)
		flow_section_end(t, 0, 0);
	flow_candidates_end(t, 0);
	flow_watch_count(t);
}

static void thread_end(void *thread)
{
	struct flow_thread *t = thread;

	t->busy = true;
	thread_finish(t);
	ended = true;
	flow_self = NULL;
	if (t->chunk)
		flow_unmap(t->chunk, VPROF_FLOW_CHUNK_BYTES);
	flow_unmap(t, sizeof *t);
}

uint64_t flow_next_mapping(void)
{
	return 1 + __atomic_fetch_add(&sequence->n_mappings, 1, __ATOMIC_RELAXED);
}

uint64_t flow_next_section(void)
{
	return __atomic_fetch_add(&sequence->next, 1, __ATOMIC_SEQ_CST);
}

static bool reserve(off_t at, size_t n)
{
	static const char zero[4096];

	if (!fallocate(file, 0, at, (off_t)n))
		return true;
	if (errno != EOPNOTSUPP && errno != ENOSYS)
		return false;
	for (size_t i = 0; i < n; i += sizeof zero)
		if (pwrite(file, zero, sizeof zero, at + (off_t)i) != (ssize_t)sizeof zero)
			return false;
	return true;
}

static struct vprof_flow_chunk *chunk_new(uint32_t tid)
{
	struct vprof_flow_chunk *chunk;
	uint64_t number;
	off_t at;

	if (__atomic_fetch_add(&sequence->n_chunks, 1, __ATOMIC_RELAXED) >= max_chunks)
		return NULL;
	number = __atomic_fetch_add(&flow_header->n_chunks, 1, __ATOMIC_RELAXED);
	at = (off_t)(VPROF_FLOW_HEADER_BYTES + number * VPROF_FLOW_CHUNK_BYTES);
	if (!reserve(at, VPROF_FLOW_CHUNK_BYTES))
		return NULL;
	chunk = flow_map(VPROF_FLOW_CHUNK_BYTES, PROT_READ | PROT_WRITE, MAP_SHARED, file, at);
	if (chunk == MAP_FAILED)
		return NULL;
	madvise(chunk, VPROF_FLOW_CHUNK_BYTES, MADV_RANDOM); /* nothing is there to be read ahead */
#ifdef MADV_POPULATE_WRITE
	madvise(chunk, VPROF_FLOW_CHUNK_BYTES, MADV_POPULATE_WRITE); /* one call instead of a fault for each page */
#endif
	chunk->thread = tid;
	chunk->n_bytes = 0;
	chunk->magic = VPROF_FLOW_CHUNK_MAGIC;
	return chunk;
}

bool flow_log(struct flow_thread *t, const struct vprof_flow_record *records, uint32_t n)
{
	size_t n_bytes = n * sizeof *records;
	int saved = errno;

	if (!flow_header)
		return false;
	if (!t->chunk || sizeof *t->chunk + t->chunk->n_bytes + n_bytes > VPROF_FLOW_CHUNK_BYTES) {
		if (t->chunk)
			flow_unmap(t->chunk, VPROF_FLOW_CHUNK_BYTES);
		t->chunk = chunk_new(t->tid);
		errno = saved;
	}
	if (!t->chunk)
		return false;
	memcpy((char *)(t->chunk + 1) + t->chunk->n_bytes, records, n_bytes);
	__atomic_store_n(&t->chunk->n_bytes, t->chunk->n_bytes + n_bytes, __ATOMIC_RELEASE);
	return true;
}

/* ---- modules ---- */

struct search {
	uintptr_t inside;
	struct vprof_flow_record records[1 + 128];
	uint32_t n;
};

static int describe(struct dl_phdr_info *info, size_t size, void *arg)
{
	struct search *s = arg;
	uintptr_t low = UINTPTR_MAX, high = 0;
	char path[3072];
	ssize_t n;

	(void)size;
	for (int i = 0; i < info->dlpi_phnum; i++) {
		uintptr_t begin = info->dlpi_addr + info->dlpi_phdr[i].p_vaddr;

		if (info->dlpi_phdr[i].p_type != PT_LOAD)
			continue;
		low = begin < low ? begin : low;
		high = begin + info->dlpi_phdr[i].p_memsz > high ? begin + info->dlpi_phdr[i].p_memsz : high;
	}
	if (s->inside < low || s->inside >= high)
		return 0;
	if (info->dlpi_name && info->dlpi_name[0] == '/') {
		n = (ssize_t)strnlen(info->dlpi_name, sizeof path);
		memcpy(path, info->dlpi_name, (size_t)n);
	} else {
		n = readlink("/proc/self/exe", path, sizeof path);
	}
	if (n <= 0 || (size_t)n >= sizeof path)
		return 1;
	s->n = 1 + (uint32_t)((size_t)n + 23) / 24;
	memset(s->records, 0, s->n * sizeof *s->records);
	s->records[0] = (struct vprof_flow_record){
		.kind = VPROF_FLOW_MODULE, .count = s->n - 1, .a = low, .b = high, .c = info->dlpi_addr
	};
	for (uint32_t i = 0; i + 1 < s->n; i++) {
		size_t rest = (size_t)n - i * 24u;

		s->records[i + 1].kind = VPROF_FLOW_PATH;
		memcpy(&s->records[i + 1].a, path + i * 24u, rest < 24 ? rest : 24);
	}
	return 1;
}

static void module_write(struct flow_thread *t, const void *inside)
{
	struct search s = { .inside = (uintptr_t)inside };

	dl_iterate_phdr(describe, &s);
	if (s.n)
		flow_log(t, s.records, s.n);
}

/* ---- the files ---- */

static bool open_sequence(void)
{
	char path[4096];
	int fd;

	snprintf(path, sizeof path, "%s/" VPROF_FLOW_SEQUENCE, folder);
	fd = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0600);
	if (fd < 0)
		return false;
	if (!ftruncate(fd, VPROF_FLOW_HEADER_BYTES)) {
		sequence = flow_map(VPROF_FLOW_HEADER_BYTES, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
		if (sequence == MAP_FAILED)
			sequence = NULL;
	}
	close(fd);
	return sequence != NULL;
}

static void open_file(void)
{
	struct vprof_flow_header *header;
	char path[4096];

	for (int i = 0; i < 1000; i++) {
		char again[16] = "";

		if (i)
			snprintf(again, sizeof again, "-%d", i);
		snprintf(path, sizeof path, "%s/%d%s" VPROF_FLOW_SUFFIX, folder, (int)getpid(), again);
		file = open(path, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
		if (file >= 0 || errno != EEXIST)
			break;
	}
	if (file < 0)
		return;
	header = reserve(0, VPROF_FLOW_HEADER_BYTES) ?
			 flow_map(VPROF_FLOW_HEADER_BYTES, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0) :
			 MAP_FAILED;
	if (header == MAP_FAILED) {
		close(file);
		unlink(path);
		return;
	}
	header->version = VPROF_FLOW_VERSION;
	header->pid = (uint32_t)getpid();
	header->magic = VPROF_FLOW_MAGIC;
	flow_header = header;
}

static void in_child(void)
{
	struct flow_thread *t = flow_self;

	if (!flow_header)
		return;
	flow_unmap(flow_header, VPROF_FLOW_HEADER_BYTES);
	flow_header = NULL;
	close(file);
	if (t && t->chunk) {
		flow_unmap(t->chunk, VPROF_FLOW_CHUNK_BYTES);
		t->chunk = NULL;
	}
	open_file();
	flow_sections_forked();
	flow_events_forked();
	flow_watch_forked(t);
	if (!flow_header) { /* nothing of this process is recorded */
		flow_self = NULL;
		pthread_setspecific(thread_key, NULL);
		return;
	}
	if (!t)
		return;
	t->tid = (uint32_t)syscall(SYS_gettid);
	t->busy = true;
	t->n_candidates = t->n_late = 0;
	memset(t->late_lines, 0, sizeof t->late_lines);
	for (unsigned i = 0; i < n_modules && i < MODULES; i++)
		if (modules[i])
			module_write(t, modules[i]);
	flow_mappings_write(t, true);
	t->busy = false;
}

static void start(void)
{
	const char *dir = getenv(VPROF_FLOW_ENV_DIR), *mib = getenv(VPROF_FLOW_ENV_MIB);
	int saved = errno;

	max_chunks = (mib && atoi(mib) > 0 ? (uint64_t)atoi(mib) : VPROF_FLOW_DEFAULT_MIB) * 16;
	if (dir && dir[0] == '/' && strlen(dir) < sizeof folder) {
		memcpy(folder, dir, strlen(dir) + 1);
		if (!pthread_key_create(&thread_key, thread_end) && open_sequence()) {
			open_file();
			pthread_atfork(NULL, NULL, in_child);
		}
	}
	errno = saved;
}

void flow_module(const void *inside)
{
	static pthread_once_t once = PTHREAD_ONCE_INIT;
	struct flow_thread *t;
	unsigned i;

	pthread_once(&once, start); /* not before: most processes of a run have no compiled unit */
	t = flow_thread();
	if (!t)
		return;
	i = __atomic_fetch_add(&n_modules, 1, __ATOMIC_RELAXED);
	if (i < MODULES)
		modules[i] = inside;
	t->busy = true;
	module_write(t, inside);
	flow_mappings_write(t, false);
	t->busy = false;
}

/* The thread that ends the process has no destructor of its own. */
__attribute__((destructor)) static void at_exit(void)
{
	if (flow_self && !flow_self->busy)
		thread_finish(flow_self);
}

FLOW_EXPORT _Alignas(64) struct vprof_flow_hooks vprof_flow_hooks = {
	.version = VPROF_FLOW_HOOKS_VERSION,
	.watches = 1,
	.module = flow_module,
	.read = flow_read,
	.write = flow_write,
	.copy = flow_copy,
	.publish = flow_publish,
	.observe = flow_observe,
	.acquired = flow_own_acquired,
	.releasing = flow_own_releasing,
	.changed = flow_changed,
};
