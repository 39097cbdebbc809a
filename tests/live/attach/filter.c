/* SPDX-License-Identifier: GPL-3.0-or-later */
/* filter only|CALL COMMAND...: runs it with a filter of system calls that ends it for any but those that it makes
 * itself and those of a session (only), or for one (mremap, perf_event_open). */
#include <fcntl.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <signal.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "live/session_calls.h"

#define NUMBER(name, ...) SYS_##name,
static const uint32_t numbers[] = {
	VPROF_SESSION_CALLS(NUMBER)
	/* of the loader, libc and server.c */
	SYS_execve,
	SYS_brk,
	SYS_arch_prctl,
	SYS_set_tid_address,
	SYS_set_robust_list,
	SYS_rseq,
	SYS_prlimit64,
	SYS_getrandom,
	SYS_pread64,
	SYS_read,
	SYS_write,
	SYS_access,
	SYS_clone,
	SYS_clone3,
	SYS_clock_nanosleep,
	SYS_wait4,
	SYS_exit,
	SYS_exit_group,
	SYS_rt_sigaction,
	SYS_rt_sigreturn,
	SYS_prctl,
	SYS_restart_syscall,
	SYS_uname,
	SYS_mlockall,
};

int main(int argc, char **argv)
{
	struct sock_filter filter[128];
	struct sock_fprog program = { 0, filter };
	unsigned short n = 0;

	if (argc < 3) {
		fputs("usage: filter only|mremap|perf_event_open COMMAND...\n", stderr);
		return 2;
	}
	filter[n++] = (struct sock_filter)BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr));
	if (!strcmp(argv[1], "only")) {
		for (size_t i = 0; i < sizeof numbers / sizeof *numbers; i++) {
			filter[n++] = (struct sock_filter)BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, numbers[i], 0, 1);
			filter[n++] = (struct sock_filter)BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW);
		}
		filter[n++] = (struct sock_filter)BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_KILL_PROCESS);
	} else {
		uint32_t number = strcmp(argv[1], "mremap") ? SYS_perf_event_open : SYS_mremap;

		filter[n++] = (struct sock_filter)BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, number, 0, 1);
		filter[n++] = (struct sock_filter)BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_KILL_PROCESS);
		filter[n++] = (struct sock_filter)BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW);
	}
	program.len = n;
	if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) || prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program)) {
		perror("filter: prctl");
		return 2;
	}
	execvp(argv[2], argv + 2);
	perror(argv[2]);
	return 127;
}
