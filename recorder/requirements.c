/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "recorder/requirements.h"

#include <bpf/bpf.h>
#include <bpf/btf.h>
#include <bpf/libbpf.h>
#include <errno.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/utsname.h>
#include <unistd.h>

#define INITIAL_PID_NAMESPACE 0xeffffffcu /* its inode, the same in all kernels */
#define CAP_SYS_ADMIN_BIT 21
#define CAP_PERFMON_BIT 38
#define CAP_BPF_BIT 39
#define RING_CHECKED_BYTES (4u << 20)
#define SWITCH_PARAMETERS 5 /* with the state, which Linux 5.18 added */

/* NULL without BTF; kept for the process's life. */
static const struct btf *kernel_types(void)
{
	static struct btf *types;
	static int looked;

	if (!looked) {
		looked = 1;
		types = btf__load_vmlinux_btf();
		if (libbpf_get_error(types))
			types = NULL;
	}
	return types;
}

/* How many parameters a tracepoint's programs have (one more than the tracepoint), 0: there is none. */
static unsigned int tracepoint_parameters(const char *name)
{
	const struct btf *types = kernel_types();
	const struct btf_type *t;
	char full[128];
	int id;

	if (!types)
		return 0;
	snprintf(full, sizeof full, "btf_trace_%s", name);
	id = btf__find_by_name_kind(types, full, BTF_KIND_TYPEDEF);
	t = id > 0 ? btf__type_by_id(types, (uint32_t)id) : NULL;
	t = t ? btf__type_by_id(types, t->type) : NULL;			 /* pointer */
	t = t && btf_is_ptr(t) ? btf__type_by_id(types, t->type) : NULL; /* function */
	return t && btf_is_func_proto(t) ? btf_vlen(t) : 0;
}

int vprof_recorder_has_tracepoint(const char *name)
{
	return tracepoint_parameters(name) > 0;
}

static void say(struct vprof_requirement *r, enum vprof_requirement_state state, const char *detail, const char *advice)
{
	r->state = state;
	snprintf(r->detail, sizeof r->detail, "%s", detail);
	snprintf(r->advice, sizeof r->advice, "%s", state == VPROF_REQUIREMENT_MET ? "" : advice);
}

static void check_types(struct vprof_requirement *r)
{
	r->name = "kernel types";
	if (kernel_types())
		say(r, VPROF_REQUIREMENT_MET, "BTF in /sys/kernel/btf/vmlinux", "");
	else if (access("/sys/kernel/btf/vmlinux", F_OK))
		say(r, VPROF_REQUIREMENT_UNMET, "this kernel has no type information (BTF)",
		    "Run a kernel built with CONFIG_DEBUG_INFO_BTF=y, as those of Debian 11 and later are; in a container, mount "
		    "/sys");
	else
		say(r, VPROF_REQUIREMENT_UNMET, "/sys/kernel/btf/vmlinux cannot be read as BTF",
		    "Run as root; if that does not help, this libbpf is older than the kernel's format");
}

static void check_kernel(struct vprof_requirement *r)
{
	struct utsname name;
	char detail[160];

	uname(&name);
	r->name = "kernel version";
	snprintf(detail, sizeof detail, "Linux %.60s", name.release);
	if (!vprof_recorder_has_tracepoint("sched_switch") || /* told with the tracepoints */
	    tracepoint_parameters("sched_switch") >= SWITCH_PARAMETERS) {
		say(r, VPROF_REQUIREMENT_MET, detail, "");
		return;
	}
	snprintf(detail, sizeof detail,
		 "Linux %.60s is too old: sched_switch does not tell why a thread stopped running", name.release);
	say(r, VPROF_REQUIREMENT_UNMET, detail, "Run Linux 5.18 or later");
}

static uint64_t effective_capabilities(void)
{
	FILE *f = fopen("/proc/self/status", "re");
	unsigned long long caps = 0;
	char line[256];

	while (f && fgets(line, sizeof line, f))
		if (sscanf(line, "CapEff: %llx", &caps) == 1)
			break;
	if (f)
		fclose(f);
	return caps;
}

static void check_rights(struct vprof_requirement *r)
{
	uint64_t caps = effective_capabilities();
	int admin = (caps >> CAP_SYS_ADMIN_BIT & 1) != 0, bpf = (caps >> CAP_BPF_BIT & 1) != 0,
	    perfmon = (caps >> CAP_PERFMON_BIT & 1) != 0;
	char detail[160];
	int fd;

	r->name = "rights";
	if (!admin && !(bpf && perfmon)) {
		snprintf(detail, sizeof detail, "this process lacks %s%s%s", bpf ? "" : "CAP_BPF",
			 bpf || perfmon ? "" : " and ", perfmon ? "" : "CAP_PERFMON");
		say(r, VPROF_REQUIREMENT_UNMET, detail,
		    "Run as root, or give the program the rights: setcap cap_bpf,cap_perfmon+ep \"$(command -v vprof)\"; "
		    "in a container: --cap-add BPF --cap-add PERFMON");
		return;
	}
	fd = bpf_map_create(BPF_MAP_TYPE_ARRAY, "vprof_check", 4, 4, 1, NULL);
	if (fd < 0) {
		snprintf(detail, sizeof detail, "the kernel refuses BPF: %s", strerror(errno));
		say(r, VPROF_REQUIREMENT_UNMET, detail,
		    "A sandbox or container forbids the bpf system call (docker run --security-opt seccomp=unconfined)");
		return;
	}
	close(fd);
	say(r, VPROF_REQUIREMENT_MET, admin ? "CAP_SYS_ADMIN" : "CAP_BPF and CAP_PERFMON", "");
}

static void check_lockdown(struct vprof_requirement *r)
{
	FILE *f = fopen("/sys/kernel/security/lockdown", "re");
	char line[128] = "";

	r->name = "lockdown";
	if (f && !fgets(line, sizeof line, f))
		line[0] = 0;
	if (f)
		fclose(f);
	if (strstr(line, "[confidentiality]"))
		say(r, VPROF_REQUIREMENT_UNMET, "the kernel is locked down: programs may not read its memory",
		    "Boot without lockdown=confidentiality");
	else
		say(r, VPROF_REQUIREMENT_MET, "none that matters", "");
}

static void check_namespace(struct vprof_requirement *r)
{
	struct stat st;

	r->name = "pid namespace";
	if (stat("/proc/self/ns/pid", &st) || st.st_ino == INITIAL_PID_NAMESPACE)
		say(r, VPROF_REQUIREMENT_MET, "the machine's", "");
	else
		say(r, VPROF_REQUIREMENT_UNMET,
		    "this container has process numbers of its own, which the kernel's events do not use",
		    "Run vprof record on the host, or start the container with --pid host");
}

/* A buffer as the recorder has one for each CPU. Kernels before 5.11 take it from what a process may lock; later ones
 * from what its control group may have. */
static void check_memory(struct vprof_requirement *r)
{
	int fd = bpf_map_create(BPF_MAP_TYPE_RINGBUF, "vprof_check", 0, 0, RING_CHECKED_BYTES, NULL);
	int error = errno;
	char detail[160];

	r->name = "memory";
	if (fd >= 0) {
		close(fd);
		say(r, VPROF_REQUIREMENT_MET, "there is some for a CPU's buffer", "");
		return;
	}
	snprintf(detail, sizeof detail, "the kernel gives no memory for a CPU's buffer (4 MiB): %s", strerror(error));
	say(r, VPROF_REQUIREMENT_UNMET, detail,
	    error == EPERM ?
		    "Let it lock memory: ulimit -l unlimited, or LimitMEMLOCK=infinity in a service" :
		    "Give its control group more memory (memory.max; docker run --memory), or free some; 64 MiB are enough for "
		    "a few CPUs");
}

static void check_tracepoints(struct vprof_requirement *r)
{
	static const char *const needed[] = { "sched_switch", "sched_waking", "sched_process_fork",
					      "sched_process_exec", "sched_process_exit" };
	static const char *const wanted[] = {
		"task_rename",	    "irq_handler_entry",    "irq_handler_exit",	   "softirq_entry",
		"softirq_exit",	    "hrtimer_expire_entry", "hrtimer_expire_exit", "block_rq_insert",
		"block_rq_issue",   "block_rq_complete",    "netif_receive_skb",   "net_dev_xmit",
		"sock_send_length", "sock_recv_length",	    "inet_sock_set_state", "sys_enter",
		"sys_exit",	    "tcp_rcv_space_adjust",
#ifdef __x86_64__
		"page_fault_user",
#endif
	};
	enum vprof_requirement_state state = VPROF_REQUIREMENT_MET;
	char detail[200] = "";
	size_t at = 0;

	r->name = "tracepoints";
	for (size_t i = 0; i < sizeof needed / sizeof *needed; i++)
		if (!vprof_recorder_has_tracepoint(needed[i])) {
			state = VPROF_REQUIREMENT_UNMET;
			at += (size_t)snprintf(detail + at, sizeof detail - at, " %s", needed[i]);
		}
	for (size_t i = 0; i < sizeof wanted / sizeof *wanted && at < sizeof detail / 2; i++)
		if (!vprof_recorder_has_tracepoint(wanted[i])) {
			state = state == VPROF_REQUIREMENT_MET ? VPROF_REQUIREMENT_PARTLY : state;
			at += (size_t)snprintf(detail + at, sizeof detail - at, " %s", wanted[i]);
		}
	if (state == VPROF_REQUIREMENT_MET) {
		say(r, state, "all", "");
		return;
	}
	memmove(detail + 13, detail, sizeof detail - 13);
	memcpy(detail, "not there are", 13);
	detail[sizeof detail - 1] = 0;
	say(r, state, detail,
	    "The kernel was built without them (CONFIG_TRACEPOINTS, CONFIG_BLOCK, CONFIG_NET, CONFIG_HIGH_RES_TIMERS); run a "
	    "distribution's kernel");
}

size_t vprof_recorder_requirements(struct vprof_requirement rows[VPROF_REQUIREMENTS_MAX])
{
	static void (*const checks[])(struct vprof_requirement *) = { check_types,	check_kernel, check_namespace,
								      check_lockdown,	check_rights, check_memory,
								      check_tracepoints };
	size_t n = sizeof checks / sizeof *checks;

	libbpf_set_print(NULL);
	for (size_t i = 0; i < n; i++)
		checks[i](&rows[i]);
	if (!kernel_types())
		n--; /* without types no tracepoint is found */
	return n;
}

int vprof_recorder_require(struct vprof_error *err)
{
	struct vprof_requirement rows[VPROF_REQUIREMENTS_MAX];
	size_t n = vprof_recorder_requirements(rows);

	for (size_t i = 0; i < n; i++)
		if (rows[i].state == VPROF_REQUIREMENT_UNMET)
			return vprof_error_set(err, VPROF_ERR_MISSING, "the kernel's events cannot be recorded: %s. %s",
					       rows[i].detail, rows[i].advice);
	return VPROF_OK;
}
