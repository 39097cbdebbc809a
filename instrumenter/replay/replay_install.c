/* SPDX-License-Identifier: GPL-3.0-or-later */
#define _GNU_SOURCE
#include "instrumenter/replay/replay_install.h"

#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "common/files.h"

static int under_ninja(const char *path)
{
	struct vprof_text dir = VPROF_TEXT_INIT;
	int found = 0;

	for (const char *slash = path + strlen(path); slash > path && !found;) {
		while (slash > path && *--slash != '/')
			;
		vprof_text_clear(&dir);
		vprof_text_append(&dir, path, (size_t)(slash - path));
		vprof_text_add(&dir, "/.ninja_log");
		found = !access(dir.s, F_OK);
	}
	vprof_text_release(&dir);
	return found;
}

/* libtool's rules look at NAME.lo, which stands for .libs/NAME.o and for NAME.o. */
static void touch_libtool(const char *output)
{
	const char *slash = strrchr(output, '/'), *dot = strrchr(output, '.');
	size_t folder;
	char *lo = NULL;

	if (!slash || !dot || strcmp(dot, ".o"))
		return;
	folder = (size_t)(slash - output);
	if (folder >= 6 && !strncmp(slash - 6, "/.libs", 6))
		folder -= 6;
	if (asprintf(&lo, "%.*s/%.*s.lo", (int)folder, output, (int)(dot - slash - 1), slash + 1) < 0)
		return;
	utimensat(AT_FDCWD, lo, NULL, 0);
	free(lo);
}

void vprof_object_set_time(const struct vprof_replayer *r, const char *path, const struct timespec *before)
{
	const struct vprof_original *original = vprof_originals_find(&r->originals, path);
	struct timespec times[2] = { { 0, UTIME_OMIT }, { 0, UTIME_NOW } };

	if (original && original->kind != VPROF_ORIGINAL_ABSENT && under_ninja(path)) {
		times[1].tv_sec = before ? before->tv_sec : (time_t)original->mtime_s;
		times[1].tv_nsec = before ? before->tv_nsec : (long)original->mtime_ns;
	} else {
		touch_libtool(path);
	}
	utimensat(AT_FDCWD, path, times, 0);
}

/* Saves what is in the unit's place, unless it is ours or is saved already. */
static int save_original(struct vprof_replayer *r, struct vprof_unit *unit, struct vprof_error *err)
{
	const struct vprof_original *original = vprof_originals_find(&r->originals, unit->output);
	const struct vprof_made *made = vprof_made_find(r->state.objects, r->state.n_objects, unit->output);

	if (unit->compiled)
		return VPROF_OK; /* what the relink put there meanwhile is not an original */
	if (!unit->previous[0])
		return original ? VPROF_OK :
				  vprof_originals_save(&r->originals, unit->output, VPROF_ORIGINAL_ABSENT, err);
	if (vprof_made_has(made, unit->previous))
		return VPROF_OK;
	if (original && !strcmp(original->hash, unit->previous))
		return vprof_originals_secure(&r->originals, unit->output, VPROF_ORIGINAL_OBJECT, err);
	return vprof_originals_save(&r->originals, unit->output, VPROF_ORIGINAL_OBJECT, err);
}

static int install_unit(struct vprof_replayer *r, struct vprof_unit *unit, struct vprof_error *err)
{
	struct vprof_made *made;
	struct stat st;
	int rc, there = !stat(unit->output, &st);

	if (there)
		chmod(unit->made, st.st_mode & 07777);
	rc = vprof_replay_install(unit->made, unit->output, err);
	if (rc)
		return rc;
	vprof_object_set_time(r, unit->output, there ? &st.st_mtim : NULL);
	made = vprof_made_note(&r->state.objects, &r->state.n_objects, unit->output, unit->hash);
	if (!made)
		return vprof_error_no_memory(err);
	if (vprof_replay_changed(r, unit->output, err))
		return VPROF_ERR_NOMEM;
	memcpy(made->fingerprint, unit->fingerprint, sizeof made->fingerprint);
	if (!unit->compiled)
		r->result->n_compiled++;
	unit->compiled = 1;
	unit->action = VPROF_UNIT_KEEP;
	return VPROF_OK;
}

/* All or none: Ctrl-C waits for these renames. */
static int install_made(struct vprof_replayer *r, struct vprof_unit *const *units, size_t n, struct vprof_error *err)
{
	sigset_t deferred, before;
	int rc = VPROF_OK;

	sigemptyset(&deferred);
	sigaddset(&deferred, SIGINT);
	sigaddset(&deferred, SIGTERM);
	sigaddset(&deferred, SIGHUP);
	pthread_sigmask(SIG_BLOCK, &deferred, &before);
	for (size_t i = 0; !rc && i < n; i++)
		rc = install_unit(r, units[i], err);
	if (!rc)
		rc = vprof_state_write(&r->state, err);
	pthread_sigmask(SIG_SETMASK, &before, NULL);
	return rc;
}

int vprof_units_install(struct vprof_replayer *r, struct vprof_unit *const *units, size_t n, struct vprof_error *err)
{
	int rc = VPROF_OK;

	for (size_t i = 0; !rc && i < n; i++)
		rc = save_original(r, units[i], err);
	if (!rc)
		rc = vprof_originals_write(&r->originals, err);
	for (size_t i = 0; !rc && i < n; i++) {
		struct vprof_unit *unit = units[i];
		struct vprof_made *made = NULL;

		rc = vprof_file_hash(unit->made, unit->hash, err);
		if (!rc)
			made = vprof_made_note(&r->state.objects, &r->state.n_objects, unit->output, unit->hash);
		if (made)
			strcpy(made->fingerprint, "?"); /* an interruption compiles it again */
		else if (!rc)
			rc = vprof_error_no_memory(err);
	}
	r->state.relinking = 1; /* from the first rename on, until what is made from them is made again */
	if (!rc)
		rc = vprof_state_write(&r->state, err);
	return rc ? rc : install_made(r, units, n, err);
}
