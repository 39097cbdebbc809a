/* SPDX-License-Identifier: GPL-3.0-or-later */
#define _GNU_SOURCE
#include "tests/live/live_target.h"

#include <dlfcn.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include "annotate/vprof.h"
#include "tests/live/live_map.h"

#define N_FUNCTIONS 5
#define CHANGES_MEANWHILE 4   /* one each way began and ended for certain */
#define REPLACED_BYTES 0x5000 /* of the library, from its beginning */

static struct live_shared *shared;
static char shared_path[256];

#define FUNCTION(name)                                                                                                 \
	void name(void);                                                                                               \
	static void name##_plain(void) __attribute__((noinline, used));                                                \
	static void name##_twin(void) __attribute__((noinline, used));                                                 \
	__asm__(".pushsection .text.entries,\"ax\"\n.globl " #name "\n.type " #name ",@function\n" #name ":\n"         \
		".byte 0xa9\n.long " #name "_twin - 1f\n1: jmp " #name "_plain\n.popsection")
FUNCTION(handle);
FUNCTION(outer);
FUNCTION(inner);
FUNCTION(leaf);
FUNCTION(job);

static void leaf_plain(void)
{
	__asm__ volatile("" : : : "memory");
}
static void leaf_twin(void)
{
	VP_LIVE_TWIN(LEAF, leaf_twin)
	__asm__ volatile("" : : : "memory");
}

static void inner_plain(void)
{
	leaf();
	leaf();
}
static void inner_twin(void)
{
	VP_LIVE_TWIN(INNER, inner_twin)
	leaf_twin();
	leaf_twin();
}

static void outer_plain(void)
{
	inner();
	inner();
}
static void outer_twin(void)
{
	VP_LIVE_TWIN(OUTER, outer_twin)
	inner_twin();
	inner_twin();
}

static void handle_plain(void)
{
	outer();
}
static void handle_twin(void)
{
	VP_LIVE_TWIN(HANDLE, handle_twin)
	outer_twin();
}

static void job_plain(void)
{
	outer();
	usleep(300);
	outer();
}
static void job_twin(void)
{
	VP_LIVE_TWIN(JOB, job_twin)
	outer_twin();
	usleep(300);
	outer_twin();
}

static void request(uint64_t id)
{
	vprof_begin("request", id);
	handle();
	vprof_end("request", id);
}

static void *worker(void *arg)
{
	uint64_t who = (uint64_t)(uintptr_t)arg, n = 0;

	while (!shared->is_over) {
		uint64_t turn = shared->turn;

		request((uint64_t)getpid() << 40 | who << 32 | n++);
		shared->n_requests++;
		shared->n_inside += turn && turn == shared->turn;
		if (vp_self->gate)
			shared->gates_open |= UINT64_C(1) << who;
		shared->n_looks[who - 1]++;
		usleep(200);
	}
	return NULL;
}

static void *background(void *arg)
{
	while (!shared->is_over)
		job();
	return arg;
}

static int child(void)
{
	for (uint64_t n = 0; n < 30 && !shared->is_over; n++) {
		request((uint64_t)getpid() << 40 | n);
		usleep(300);
	}
	return 0;
}

static void *forker(void *arg)
{
	while (!shared->is_over) {
		int executes = shared->is_executing;

		if (shared->is_forking || executes) {
			pid_t pid = fork();

			if (!pid && executes)
				execl("/proc/self/exe", "target", "target", "child", shared_path, (char *)NULL);
			if (!pid)
				_exit(child());
			shared->n_forks++;
			waitpid(pid, NULL, 0);
			shared->n_execs += executes != 0;
		}
		usleep(1000);
	}
	return arg;
}

/* What is mapped where the library was must stay as it is, while plans change. */
static void replace(void *base)
{
	uint64_t n_changes;
	unsigned char *map = mmap(base, REPLACED_BYTES, PROT_READ | PROT_WRITE,
				  MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED_NOREPLACE, -1, 0);

	if (map == MAP_FAILED)
		return;
	memset(map, 0xa9, REPLACED_BYTES);
	n_changes = shared->n_changes;
	while (shared->n_changes < n_changes + CHANGES_MEANWHILE && !shared->is_over)
		usleep(1000);
	for (size_t i = 0; i < REPLACED_BYTES; i++)
		if (map[i] != 0xa9) {
			shared->failures++;
			break;
		}
	munmap(map, REPLACED_BYTES);
	shared->n_replaced++;
}

static void *loader(void *arg)
{
	Dl_info info;

	while (!shared->is_over) {
		void *module = dlopen(VPROF_TEST_MODULE, RTLD_NOW);
		void (*step)(void) = module ? (void (*)(void))dlsym(module, "module_step") : NULL;

		if (!step) {
			shared->failures++;
			break;
		}
		for (int i = 0; i < 1000 && !shared->is_over; i++) {
			step();
			shared->n_module_steps++;
			usleep(300);
		}
		dladdr(step, &info);
		dlclose(module);
		replace(info.dli_fbase);
	}
	return arg;
}

static struct live_shared *map_shared(const char *path)
{
	int fd = open(path, O_RDWR | O_CLOEXEC);
	void *map = fd < 0 ? MAP_FAILED :
			     mmap(NULL, sizeof(struct live_shared), PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);

	if (map == MAP_FAILED)
		exit(2);
	close(fd);
	snprintf(shared_path, sizeof shared_path, "%s", path);
	return map;
}

/* As programs do that read their own symbols. Where it lies is no loaded module. */
static void map_own_file(void)
{
	int fd = open("/proc/self/exe", O_RDONLY | O_CLOEXEC);

	if (fd < 0 || mmap(NULL, 0x10000, PROT_READ, MAP_PRIVATE, fd, 0) == MAP_FAILED)
		exit(2);
	close(fd);
}

int live_target_main(const char *mode, const char *path)
{
	pthread_t threads[N_WORKERS + 3];
	int n = 0;

	shared = map_shared(path);
	map_own_file();
	if (!strcmp(mode, "child"))
		return child();
	for (; n < N_WORKERS; n++)
		pthread_create(&threads[n], NULL, worker, (void *)(uintptr_t)(n + 1));
	pthread_create(&threads[n++], NULL, background, NULL);
	if (!strcmp(mode, "processes")) {
		pthread_create(&threads[n++], NULL, forker, NULL);
		pthread_create(&threads[n++], NULL, loader, NULL);
	}
	while (n--)
		pthread_join(threads[n], NULL);
	return 0;
}

/* The map. */

const struct vprof_probe_map *live_target_map(void)
{
	static void (*const functions[])(void) = { handle, outer, inner, leaf, job };
	static struct live_function known[N_FUNCTIONS];
	static uint64_t site, entry;
	static char id[64];
	static struct vprof_probe_copy copies[N_FUNCTIONS + 1];
	static struct vprof_probe_module modules[2] = { { NULL, NULL }, { VPROF_TEST_MODULE, id } };
	static struct vprof_probe_map map = { modules, 2, copies, N_FUNCTIONS + 1 };
	const struct vprof_probe_map *program;
	void *module = dlopen(VPROF_TEST_MODULE, RTLD_NOW);
	void (*places)(uint64_t *, uint64_t *) = (void (*)(uint64_t *, uint64_t *))dlsym(module, "module_places");
	uint64_t bias = live_map_bias((uint64_t)places);

	for (int i = 0; i < N_FUNCTIONS; i++)
		known[i] = (struct live_function){ (uint32_t)(HANDLE + i), (uint64_t)functions[i] };
	program = live_map_of_program(known, N_FUNCTIONS);
	modules[0] = program->modules[0];
	memcpy(copies, program->copies, N_FUNCTIONS * sizeof *copies);
	live_map_read_id(bias, id);
	places(&site, &entry);
	site -= bias;
	entry -= bias;
	copies[N_FUNCTIONS] = (struct vprof_probe_copy){ MODULE_STEP, 1, &site, &entry, 1, 1 };
	dlclose(module);
	return &map;
}

static int parent_of(int code)
{
	return code == OUTER ? HANDLE : code == INNER ? OUTER : code == LEAF ? INNER : 0;
}

struct vprof_plan *live_target_plan(uint32_t number, uint32_t broken_down)
{
	static const char *const names[] = { "handle", "outer", "inner", "leaf", "job", "module_step" };
	struct vprof_plan *plan = vprof_plan_new("/");

	plan->number = number;
	for (int code = HANDLE; code < N_CODES_END; code++) {
		int is_root = !parent_of(code), is_down = broken_down >> (code - HANDLE) & 1;
		struct vprof_probe probe = { .code = (uint32_t)code,
					     .kind = VPROF_PROBE_FUNCTION,
					     .fact_id = (uint32_t)(code - 0x100),
					     .context = is_down ? VPROF_CONTEXT_FIRST + code - HANDLE :
								  VPROF_CONTEXT_LEAF,
					     .is_root = is_root,
					     .broken_down = is_down,
					     .n_children = 1,
					     .name = names[code - HANDLE],
					     .display = names[code - HANDLE],
					     .file = "live_target.c",
					     .line = 1,
					     .caller = "" };

		if (is_root)
			probe.mask = VPROF_MASK_ANY;
		else if (broken_down >> (parent_of(code) - HANDLE) & 1)
			probe.mask = UINT64_C(1) << (VPROF_CONTEXT_FIRST + parent_of(code) - HANDLE);
		else
			continue;
		if (code == OUTER && broken_down >> (JOB - HANDLE) & 1)
			probe.mask |= UINT64_C(1) << (VPROF_CONTEXT_FIRST + JOB - HANDLE);
		if (vprof_plan_add(plan, &probe))
			exit(2);
	}
	return plan;
}
