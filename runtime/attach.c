/* SPDX-License-Identifier: Apache-2.0 */
/* The process: becoming active, ending, its modules, and memory that it shares with others.
 *
 * A process is dormant until a module with probes attaches: then the shared memory named by VPROF_SHM is mapped
 * (before any fork that could matter, so that slots are shared) and the wrappers begin to look. Without it, or when
 * anything is wrong with it, the process rests: its wrappers pass through, its threads have structures whose gate opens
 * nothing, and a mark of an interval asks whether somebody has invited it (runtime/join/).
 */
#define _GNU_SOURCE
#include "runtime/channel.h"
#include "runtime/chunk.h"

#include <dlfcn.h>
#include <fcntl.h>
#include <link.h>
#include <pthread.h>
#include <sched.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/shm.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#define CALIBRATE_NS 50000u
#define N_REGIONS 64

struct rt_process rt_process RT_HOT_DATA;

static char shm_path[VP_PATH_MAX];
/* changing: a session is being joined or left */
enum { UNTRIED, STARTING, CHANGING, ACTIVE, RESTING };
static _Atomic int start_state;
static _Atomic uint64_t modules_seen; /* dlpi_adds of the last MODULE records */
static struct {
	_Atomic uintptr_t start, end;
} regions[N_REGIONS];
static _Atomic int n_regions RT_HOT_DATA; /* those behind were never in use */

#ifndef VPROF_STATIC

/* Next definitions. */

static int missing(void)
{
	errno = ENOSYS;
	return -1;
}

/* The versioned symbol, unless another library's wrapper without versions (ThreadSanitizer's) comes before libc's. */
static void *version_of(void *next, void *versioned)
{
	Dl_info of_next, of_versioned;

	if (!versioned || !next || !dladdr(next, &of_next) || !dladdr(versioned, &of_versioned))
		return versioned ? versioned : next;
	return of_next.dli_fbase == of_versioned.dli_fbase ? versioned : next;
}

void *rt_next(const struct rt_wrapped *wrapped)
{
	static __thread int resolving __attribute__((tls_model("initial-exec")));
	int saved = errno;
	void *found = NULL;

	if (!resolving) { /* within dlsym the loader itself called a wrapper */
		resolving = 1;
		found = dlsym(RTLD_NEXT, wrapped->name);
		if (wrapped->version)
			found = version_of(found, dlvsym(RTLD_NEXT, wrapped->name, wrapped->version));
		resolving = 0;
	}
	errno = saved;
	if (!found)
		return __extension__(void *) missing;
	atomic_store_explicit(wrapped->cache, found, memory_order_relaxed);
	return found;
}

extern const struct rt_wrapped __start_rt_wrapped[] __attribute__((visibility("hidden")));
extern const struct rt_wrapped __stop_rt_wrapped[] __attribute__((visibility("hidden")));

void rt_next_all(void)
{
	for (const struct rt_wrapped *w = __start_rt_wrapped; w < __stop_rt_wrapped; w++)
		if (!atomic_load_explicit(w->cache, memory_order_relaxed))
			rt_next(w);
}

#endif /* VPROF_STATIC */

/* Becoming active. */

static vp_u64 monotonic_ticks(void)
{
	return rt_monotonic_ns();
}

static bool clock_set(uint32_t clock)
{
	rt_process.ticks = NULL;
#if defined(__x86_64__)
	if (clock == VP_CLOCK_TSC)
		return true;
#elif defined(__aarch64__)
	if (clock == VP_CLOCK_CNTVCT)
		return true;
#endif
	rt_process.ticks = monotonic_ticks;
	return clock == VP_CLOCK_MONOTONIC;
}

/* In a child of fork: undoes what another thread of the parent had not finished. True when it takes part in a session.
 */
bool rt_start_forked(void)
{
	int state = atomic_load(&start_state); /* of the only thread that there is */

	if (state != STARTING && state != CHANGING)
		return state == ACTIVE;
	atomic_store(&rt_process.active, 0);
	atomic_store(&rt_session, 0);
	if (state == CHANGING)
		rt_memory_leave();
	atomic_store(&start_state, state == CHANGING ? RESTING : UNTRIED);
	return false;
}

/* A rough calibration, good enough for the thresholds. */
static void clock_thresholds(void)
{
	uint64_t ns = rt_monotonic_ns(), ticks = rt_now(), end_ns = ns, end_ticks = ticks;

	while (end_ns - ns < CALIBRATE_NS) {
		end_ns = rt_monotonic_ns();
		end_ticks = rt_now();
	}
	rt_process.io_ticks = (end_ticks - ticks) * RT_IO_NS / (end_ns - ns);
	rt_process.annotated_ticks = (end_ticks - ticks) * RT_ANNOTATED_NS / (end_ns - ns);
}

static bool memory_use(const struct rt_memory *m)
{
	struct vp_shm *shm = m->shm;

	if (!clock_set(shm->clock))
		return false;
	rt_process.shm = shm;
	rt_process.slots = (_Atomic uint64_t *)((char *)shm + shm->slots_offset);
	rt_process.states = (_Atomic uint32_t *)((char *)shm + shm->states_offset);
	rt_process.chunks = (unsigned char *)shm + shm->chunks_offset;
	rt_process.sinks = m->sinks;
	rt_process.slot_shift = 65u - (uint32_t)__builtin_ctz(shm->n_slots);
	return true;
}

static bool memory_map(void)
{
	struct rt_memory m;

	if (!shm_path[0] || !rt_memory_map(&m, shm_path))
		return false;
	if (memory_use(&m))
		return true;
	rt_memory_unmap(&m);
	return false;
}

/* The process's pid and the namespace in which it counts: elsewhere another process may have the same number. */
void rt_identity_set(void)
{
	struct stat st;

	rt_process.pid = (uint32_t)syscall(SYS_getpid);
	rt_process.pid_namespace = stat("/proc/self/ns/pid", &st) == 0 ? st.st_ino : 0;
}

/* Ignored in programs that run with more rights than their user. */
static void shm_path_set(void)
{
	const char *path = shm_path[0] ? NULL : secure_getenv("VPROF_SHM");

	if (path && strlen(path) < sizeof(shm_path))
		strcpy(shm_path, path);
}

/* The shared memory is mapped. */
static void session_begin(void)
{
	static _Atomic uint32_t n_sessions;

	clock_thresholds();
	rt_identity_set();
	rt_chunks_reclaim();
	rt_process.seq = atomic_fetch_add(&rt_process.shm->next_process_seq, 1);
	rt_process_enter();
	atomic_store(&rt_session, atomic_fetch_add(&n_sessions, 1) + 1);
	atomic_store_explicit(&rt_process.active, 1, memory_order_release);
}

static void start(void)
{
	int untried = UNTRIED;

	if (!atomic_compare_exchange_strong(&start_state, &untried, STARTING))
		return;
	shm_path_set();
	rt_next_all(); /* now: later the loader's lock may be held by somebody who waits for us */
	rt_stack_init();
	if (memory_map()) {
		session_begin();
		atomic_store_explicit(&start_state, ACTIVE, memory_order_release);
		return;
	}
	rt_identity_set();
	atomic_store_explicit(&start_state, RESTING, memory_order_release);
}

/* Somebody has asked. Many threads may come by at once: one goes in, the others go on. A child of vfork, which is
 * another process in the same memory, does not. */
static void join(void)
{
	int resting = RESTING;
	struct rt_memory m;

	if (rt_process.pid != (uint32_t)syscall(SYS_getpid) ||
	    !atomic_compare_exchange_strong(&start_state, &resting, CHANGING))
		return;
	if (!rt_memory_join(&m)) {
		atomic_store_explicit(&start_state, RESTING, memory_order_release);
		return;
	}
	if (!memory_use(&m)) {
		rt_memory_refuse(VP_DOOR_OTHER);
		atomic_store_explicit(&start_state, RESTING, memory_order_release);
		return;
	}
	rt_process.is_visit = true;
	rt_process.parent_seq = 0;
	rt_chunks_join();
	rt_strings_forget();
	rt_fds_forget();
	atomic_store(&modules_seen, 0);
	session_begin();
	rt_memory_joined();
	atomic_store_explicit(&start_state, ACTIVE, memory_order_release);
}

void rt_leave(void)
{
	int active = ACTIVE;

	if (!rt_process.is_visit || !atomic_compare_exchange_strong(&start_state, &active, CHANGING))
		return;
	atomic_store(&rt_process.active, 0);
	atomic_store(&rt_session, 0);
	rt_threads_limit();
	rt_memory_leave();
	atomic_store_explicit(&start_state, RESTING, memory_order_release);
}

bool rt_start(void)
{
	int state = atomic_load_explicit(&start_state, memory_order_acquire);
	uint64_t mask;

	if (RT_LIKELY(state == ACTIVE || (state == RESTING && !rt_is_invited())))
		return state == ACTIVE;
	mask = rt_signals_block();
	start();
	while (atomic_load_explicit(&start_state, memory_order_acquire) == STARTING)
		sched_yield(); /* another thread is at it */
	if (rt_is_invited())
		join();
	rt_signals_restore(mask);
	return atomic_load_explicit(&start_state, memory_order_acquire) == ACTIVE;
}

/* Without a free entry a live session cannot open this process's probes; everything else works. */
void rt_process_enter(void)
{
	struct vp_shm *shm = rt_process.shm;

	for (uint32_t i = 0; i < VP_PROCESS_COUNT; i++) {
		uint64_t none = 0;

		if (!atomic_load_explicit(&shm->processes[i].who, memory_order_relaxed) &&
		    atomic_compare_exchange_strong(&shm->processes[i].who, &none, 1)) {
			atomic_store(&shm->processes[i].pid_namespace, rt_process.pid_namespace);
			atomic_store(&shm->processes[i].parent_seq, rt_process.parent_seq);
			atomic_store(&shm->processes[i].who, (uint64_t)rt_process.seq << 32 | rt_process.pid);
			break;
		}
	}
	atomic_fetch_add(&shm->n_changes, 1);
}

/* For probe.h: the calling thread, perhaps one that rests, or null when there never is anything to record to. */
RT_EXPORT struct vp_thread *vprof_rt_attach(unsigned abi, unsigned long thread_bytes);
struct vp_thread *vprof_rt_attach(unsigned abi, unsigned long thread_bytes)
{
	struct rt_thread *th = rt_self;
	int saved;

	if (th && th->probe.rests && abi == VP_ABI && !rt_is_invited() && !rt_active() &&
	    atomic_load_explicit(&th->state, memory_order_relaxed) == RT_THREAD_LIVE)
		return &th->probe; /* nobody is there: what each mark of an interval costs */
	if ((abi & ~VP_ABI_FIRST) != VP_ABI || thread_bytes != sizeof(struct vp_thread))
		return NULL;
	saved = errno;
	if (!rt_start()) {
		th = rt_attach_resting();
		errno = saved;
		return th ? &th->probe : NULL;
	}
	if (abi & VP_ABI_FIRST)
		atomic_fetch_add(&rt_process.shm->n_changes, 1);
	th = rt_thread();
	if (th && !atomic_load_explicit(&modules_seen, memory_order_relaxed))
		rt_modules_check(th);
	errno = saved;
	return th ? &th->probe : NULL;
}

/* The environment may change before the first probe attaches, and the disk may be out of reach (chroot). */
__attribute__((constructor)) static void library_start(void)
{
	shm_path_set();
	rt_fork_start();
}

/* exit(): the parent's waitpid learns who woke it. */
__attribute__((destructor)) static void library_end(void)
{
	struct rt_thread *th = rt_self;

	if (!rt_active() || !th || atomic_load(&th->state) != RT_THREAD_LIVE || !rt_thread_is_current(th))
		return;
	rt_wake_record(th, VP_WAIT_CHILD, VP_FLAG_SHARED | VP_FLAG_ALL, rt_process.pid, 0, 0, rt_now());
	rt_hot_end(th);
	rt_thread_exit(th);
}

uint64_t rt_token(void)
{
	return (uint64_t)rt_process.seq << 32 | (atomic_fetch_add(&rt_process.n_tokens, 1) + 1);
}

/* Modules. */

struct modules {
	struct rt_thread *th;
	uint64_t adds;
};

/* Is that part of the module mapped from its file? */
static int is_loaded(const struct dl_phdr_info *info, ElfW(Addr) at, ElfW(Addr) n)
{
	for (int i = 0; i < info->dlpi_phnum; i++) {
		const ElfW(Phdr) *p = &info->dlpi_phdr[i];

		if (p->p_type == PT_LOAD && p->p_flags & PF_R && at >= p->p_vaddr && n <= p->p_filesz &&
		    at - p->p_vaddr <= p->p_filesz - n)
			return 1;
	}
	return 0;
}

/* Copies the build id that the linker left in a note; its length in bytes, 0 when there is none. */
static unsigned build_id(const struct dl_phdr_info *info, void *id)
{
	for (int i = 0; i < info->dlpi_phnum; i++) {
		const ElfW(Phdr) *p = &info->dlpi_phdr[i];
		const unsigned char *note = (const unsigned char *)(info->dlpi_addr + p->p_vaddr);
		uint64_t pad = p->p_align == 8 ? 7 : 3, left = p->p_filesz;
		ElfW(Nhdr) head;

		if (p->p_type != PT_NOTE || !is_loaded(info, p->p_vaddr, p->p_filesz))
			continue;
		while (left >= sizeof(head)) {
			uint64_t name, size;

			memcpy(&head, note, sizeof(head));
			name = (sizeof(head) + head.n_namesz + pad) & ~pad;
			size = (name + head.n_descsz + pad) & ~pad;
			if (name + head.n_descsz > left)
				break;
			if (head.n_type == NT_GNU_BUILD_ID && head.n_namesz == 4 &&
			    !memcmp(note + sizeof(head), "GNU", 4) && head.n_descsz &&
			    head.n_descsz <= VP_BUILD_ID_MAX) {
				memcpy(id, note + name, head.n_descsz);
				return head.n_descsz;
			}
			if (size >= left)
				break;
			note += size;
			left -= size;
		}
	}
	return 0;
}

static int module_write(struct dl_phdr_info *info, size_t size, void *arg)
{
	struct modules *m = arg;
	struct vp_unit head[2], id[3] = { { 0, 0 } };
	uint64_t low = UINT64_MAX, high = 0;
	const char *path = info->dlpi_name;
	char exe[1024];
	size_t n;

	if (size >= offsetof(struct dl_phdr_info, dlpi_adds) + sizeof(info->dlpi_adds)) {
		if (atomic_load_explicit(&modules_seen, memory_order_relaxed) == info->dlpi_adds)
			return 1;
		m->adds = info->dlpi_adds;
	}
	for (int i = 0; i < info->dlpi_phnum; i++) {
		const ElfW(Phdr) *p = &info->dlpi_phdr[i];

		if (p->p_type != PT_LOAD)
			continue;
		if (info->dlpi_addr + p->p_vaddr < low)
			low = info->dlpi_addr + p->p_vaddr;
		if (info->dlpi_addr + p->p_vaddr + p->p_memsz > high)
			high = info->dlpi_addr + p->p_vaddr + p->p_memsz;
	}
	if (low >= high)
		return 0;
	if (!path || !path[0]) {
		long got = syscall(SYS_readlinkat, AT_FDCWD, "/proc/self/exe", exe, sizeof(exe) - 1);

		exe[got > 0 ? got : 0] = '\0';
		path = exe;
	}
	n = strlen(path);
	if (n > VP_PATH_MAX)
		n = VP_PATH_MAX;
	head[0] = (struct vp_unit){ low, VP_W(VP_KIND_MODULE, n) };
	head[1] = (struct vp_unit){ info->dlpi_addr, high };
	rt_write_long(m->th, head, 2, path, n);
	n = build_id(info, &id[1]);
	id[0] = (struct vp_unit){ low, VP_W(VP_KIND_BUILD_ID, n) };
	if (n)
		rt_write(m->th, id, 3);
	return 0;
}

/* A walk over the modules takes the loader's lock, which would stay locked for ever in a child forked meanwhile. So a
 * fork waits until no thread walks, and no walk begins during a fork. Signals are blocked, since a handler may fork. */
static _Atomic int n_walking, n_forking;

void rt_modules_check(struct rt_thread *th)
{
	struct modules m = { th, 0 };
	uint64_t mask = rt_signals_block();

	atomic_fetch_add(&n_walking, 1);
	if (!atomic_load(&n_forking) && dl_iterate_phdr(module_write, &m) == 0 && rt_thread_is_current(th))
		atomic_store_explicit(&modules_seen, m.adds ? m.adds : 1, memory_order_relaxed);
	atomic_fetch_sub(&n_walking, 1);
	rt_signals_restore(mask);
}

void rt_modules_freeze(void)
{
	atomic_fetch_add(&n_forking, 1);
	while (atomic_load(&n_walking))
		sched_yield();
}

void rt_modules_thaw(void)
{
	atomic_fetch_sub(&n_forking, 1);
}

void rt_modules_forget(void)
{
	atomic_store(&modules_seen, 0);
	atomic_store(&n_walking, 0);
	atomic_store(&n_forking, 0);
}

/* Shared memory of the program: other processes use the objects in it, too. The table remembers what the
 * program mapped; when it is full, later mappings count as private. */

static void region_add(void *start, size_t n_bytes)
{
	for (int i = 0; i < N_REGIONS; i++) {
		uintptr_t none = 0;
		int n = atomic_load_explicit(&n_regions, memory_order_relaxed);

		if (!atomic_compare_exchange_strong(&regions[i].start, &none, (uintptr_t)start))
			continue;
		atomic_store(&regions[i].end, (uintptr_t)start + n_bytes);
		while (n <= i && !atomic_compare_exchange_weak(&n_regions, &n, i + 1))
			;
		return;
	}
}

static void region_remove(const void *start)
{
	int n = atomic_load_explicit(&n_regions, memory_order_acquire);

	for (int i = 0; i < n; i++) {
		if (start && atomic_load_explicit(&regions[i].start, memory_order_relaxed) == (uintptr_t)start) {
			atomic_store(&regions[i].end, 0);
			atomic_store(&regions[i].start, 0);
		}
	}
}

RT_HOT bool rt_address_shared(const void *address)
{
	int n = atomic_load_explicit(&n_regions, memory_order_acquire);
	uintptr_t a = (uintptr_t)address;

	for (int i = 0; i < n; i++)
		if (a < atomic_load_explicit(&regions[i].end, memory_order_acquire)) {
			uintptr_t start = atomic_load_explicit(&regions[i].start, memory_order_relaxed);

			if (start && a >= start) /* 0: removed since */
				return true;
		}
	return false;
}

static void *map(void *address, size_t n_bytes, int protection, int flags, int fd, off_t offset)
{
	void *start = (void *)syscall(SYS_mmap, address, n_bytes, protection, flags, fd, offset);

	if (start != MAP_FAILED && (flags & MAP_TYPE) != MAP_PRIVATE && (protection & PROT_WRITE))
		region_add(start, n_bytes);
	return start;
}

RT_EXPORT void *mmap(void *address, size_t n_bytes, int protection, int flags, int fd, off_t offset)
{
	return map(address, n_bytes, protection, flags, fd, offset);
}

RT_EXPORT void *mmap64(void *address, size_t n_bytes, int protection, int flags, int fd, off64_t offset)
{
	return map(address, n_bytes, protection, flags, fd, offset);
}

RT_EXPORT int munmap(void *address, size_t n_bytes)
{
	region_remove(address);
	return (int)syscall(SYS_munmap, address, n_bytes);
}

RT_EXPORT void *shmat(int id, const void *address, int flags)
{
	void *start = (void *)syscall(SYS_shmat, id, address, flags);
	struct shmid_ds ds;

	if (start != MAP_FAILED && syscall(SYS_shmctl, id, IPC_STAT, &ds) == 0)
		region_add(start, ds.shm_segsz);
	return start;
}

RT_EXPORT int shmdt(const void *address)
{
	region_remove(address);
	return (int)syscall(SYS_shmdt, address);
}
