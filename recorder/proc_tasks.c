/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "recorder/proc_tasks.h"

#include <ctype.h>
#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define PF_KTHREAD 0x00200000u

int vprof_proc_read(uint32_t pid, uint32_t tid, struct vprof_proc_task *task)
{
	char path[64], line[512], *open, *close;
	unsigned int parent, flags;
	size_t n;
	FILE *f;

	snprintf(path, sizeof path, "/proc/%u/task/%u/stat", pid, tid);
	f = fopen(path, "re");
	if (!f)
		return 0;
	n = fread(line, 1, sizeof line - 1, f);
	fclose(f);
	line[n] = 0;
	/* tid (name) state parent group session tty tty-group flags; the name may hold anything, also ") " */
	open = strchr(line, '(');
	close = strrchr(line, ')');
	if (!open || !close || close < open || sscanf(close + 1, " %*c %u %*d %*d %*d %*d %u", &parent, &flags) != 2)
		return 0;
	*task = (struct vprof_proc_task){
		.tid = tid, .pid = pid, .parent_pid = parent, .is_kernel = (flags & PF_KTHREAD) != 0
	};
	n = (size_t)(close - open) - 1;
	memcpy(task->comm, open + 1, n < sizeof task->comm - 1 ? n : sizeof task->comm - 1);
	return 1;
}

/* pid 0: the entries are processes */
static int list(const char *path, uint32_t pid, int (*found)(void *arg, const struct vprof_proc_task *task), void *arg)
{
	DIR *dir = opendir(path);
	struct dirent *entry;
	int ret = 0;

	while (dir && !ret && (entry = readdir(dir))) {
		struct vprof_proc_task task;
		uint32_t tid;

		if (!isdigit((unsigned char)entry->d_name[0]))
			continue;
		tid = (uint32_t)strtoul(entry->d_name, NULL, 10);
		if (vprof_proc_read(pid ? pid : tid, tid, &task))
			ret = found(arg, &task);
	}
	if (dir)
		closedir(dir);
	return ret;
}

int vprof_proc_processes(int (*found)(void *arg, const struct vprof_proc_task *task), void *arg)
{
	return list("/proc", 0, found, arg);
}

int vprof_proc_threads(uint32_t pid, int (*found)(void *arg, const struct vprof_proc_task *task), void *arg)
{
	char path[64];

	snprintf(path, sizeof path, "/proc/%u/task", pid);
	return list(path, pid, found, arg);
}
