/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "live/process_list.h"

#include <dirent.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "common/text.h"

#define NAMED_MAX 8 /* processes that a message lists */
#define COMM_MAX 15 /* characters that the kernel keeps of a name */

int vprof_process_user(pid_t pid, uid_t *user)
{
	char path[64], line[256];
	unsigned id = 0;
	int is_known = 0;
	FILE *status;

	snprintf(path, sizeof path, "/proc/%d/status", (int)pid);
	status = fopen(path, "re");
	while (status && !is_known && fgets(line, sizeof line, status))
		is_known = sscanf(line, "Uid: %*u %u", &id) == 1;
	if (status)
		fclose(status);
	*user = id;
	return is_known ? 0 : -1;
}

/* Its parent and when it began; the parent is -1 when it has ended. */
static struct vprof_process_entry read_entry(pid_t pid)
{
	struct vprof_process_entry entry = { .pid = pid, .parent = -1 };
	char path[64], text[1024], *at;
	size_t n = 0;
	FILE *stat;

	snprintf(path, sizeof path, "/proc/%d/stat", (int)pid);
	stat = fopen(path, "re");
	if (stat) {
		n = fread(text, 1, sizeof text - 1, stat);
		fclose(stat);
	}
	text[n] = 0;
	at = strrchr(text, ')'); /* the name may hold anything */
	if (at)
		sscanf(at, ") %*c %d %*d %*d %*d %*d %*u %*u %*u %*u %*u %*u %*u %*d %*d %*d %*d %*d %*d %llu",
		       &entry.parent, &entry.start_time);
	return entry;
}

static int by_pid(const void *a, const void *b)
{
	const struct vprof_process_entry *x = a, *y = b;

	return (x->pid > y->pid) - (x->pid < y->pid);
}

int vprof_process_list_read(struct vprof_process_list *all)
{
	DIR *proc = opendir("/proc");
	struct dirent *e;

	*all = (struct vprof_process_list){ { 0 } };
	while (proc && (e = readdir(proc))) {
		char *end;
		long pid = strtol(e->d_name, &end, 10);
		struct vprof_process_entry *slot;

		if (*end || pid <= 0)
			continue;
		slot = VPROF_PUSH(&all->v);
		if (!slot) {
			closedir(proc);
			return VPROF_ERR_NOMEM;
		}
		*slot = read_entry((pid_t)pid);
	}
	if (proc)
		closedir(proc);
	if (all->v.n)
		qsort(all->v.v, all->v.n, sizeof *all->v.v, by_pid);
	return VPROF_OK;
}

struct vprof_process_entry *vprof_process_list_find(const struct vprof_process_list *list, pid_t pid)
{
	const struct vprof_process_entry wanted = { .pid = pid };

	return list->v.n ? bsearch(&wanted, list->v.v, list->v.n, sizeof wanted, by_pid) : NULL;
}

void vprof_process_list_release(struct vprof_process_list *list)
{
	VPROF_ARRAY_RELEASE(&list->v);
}

static int is_named(pid_t pid, const char *name)
{
	char path[64], text[PATH_MAX], *base;
	ssize_t n;
	FILE *file;

	snprintf(path, sizeof path, "/proc/%d/comm", (int)pid);
	file = fopen(path, "re");
	n = file && fgets(text, sizeof text, file) ? (ssize_t)strcspn(text, "\n") : 0;
	if (file)
		fclose(file);
	text[n] = 0;
	if (n && (!strcmp(text, name) || (n == COMM_MAX && !strncmp(text, name, COMM_MAX))))
		return 1;
	snprintf(path, sizeof path, "/proc/%d/exe", (int)pid);
	n = readlink(path, text, sizeof text - 1);
	text[n > 0 ? n : 0] = 0;
	base = strrchr(text, '/');
	return base && !strcmp(base + 1, name);
}

/* Does it descend from another one that is inside? */
static int has_ancestor(const struct vprof_process_list *list, const struct vprof_process_entry *e)
{
	const struct vprof_process_entry *at = vprof_process_list_find(list, e->parent);

	for (size_t i = 0; at && i < list->v.n; i++, at = vprof_process_list_find(list, at->parent))
		if (at->is_inside)
			return 1;
	return 0;
}

int vprof_process_named(const char *name, pid_t *pid, struct vprof_error *err)
{
	struct vprof_text pids = VPROF_TEXT_INIT;
	struct vprof_process_list all;
	int rc = vprof_process_list_read(&all) ? vprof_error_no_memory(err) : VPROF_OK;
	size_t n = 0;

	for (size_t i = 0; !rc && i < all.v.n; i++)
		all.v.v[i].is_inside = all.v.v[i].pid != getpid() && is_named(all.v.v[i].pid, name);
	for (size_t i = 0; !rc && i < all.v.n; i++) {
		const struct vprof_process_entry *e = &all.v.v[i];

		if (!e->is_inside || has_ancestor(&all, e))
			continue;
		*pid = e->pid;
		if (n++ < NAMED_MAX)
			vprof_text_addf(&pids, "%s%d", n > 1 ? ", " : "", (int)e->pid);
	}
	if (!rc && !n)
		rc = vprof_error_set(err, VPROF_ERR_MISSING, "there is no process called \"%s\" (ps -e lists them)",
				     name);
	else if (!rc && n > 1)
		rc = vprof_error_set(err, VPROF_ERR_INPUT, "%zu processes are called \"%s\": %s%s; choose one with -p",
				     n, name, pids.failed ? "" : pids.s, n > NAMED_MAX ? ", ..." : "");
	vprof_text_release(&pids);
	vprof_process_list_release(&all);
	return rc;
}
