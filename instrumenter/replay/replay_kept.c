/* SPDX-License-Identifier: GPL-3.0-or-later */
#define _GNU_SOURCE
#include "instrumenter/replay/replay_kept.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "common/files.h"
#include "common/process.h"
#include "instrumenter/replay/replay_command.h"
#include "instrumenter/replay/replay_deps.h"

#define KEY_DIGITS 16

/* ---- what an object was made from ---- */

struct stamp {
	uint64_t hash;
	int64_t newest_ns; /* when the last of them changed, as the kernel recorded it: no program can set that time */
	int folder;	   /* relative paths start here */
	int failed;
};

static void stamp_stat(struct stamp *s, const char *path, int flags)
{
	struct stat st;
	int64_t numbers[5];

	if (fstatat(s->folder, path, &st, flags)) {
		s->failed = 1;
		return;
	}
	numbers[0] = (int64_t)st.st_ino;
	numbers[1] = st.st_size;
	numbers[2] = (int64_t)st.st_mode;
	numbers[3] = (int64_t)st.st_mtim.tv_sec * 1000000000 + st.st_mtim.tv_nsec;
	numbers[4] = (int64_t)st.st_ctim.tv_sec * 1000000000 + st.st_ctim.tv_nsec;
	s->hash = vprof_hash(s->hash, numbers, sizeof numbers);
	if (numbers[4] > s->newest_ns)
		s->newest_ns = numbers[4];
}

/* The path itself, too: in the shadow tree a link to an original takes the place of an edited file, and the reverse. */
static void stamp_path(void *arg, const char *path)
{
	struct stamp *s = arg;

	s->hash = vprof_hash(s->hash, path, strlen(path) + 1);
	stamp_stat(s, path, 0);
	stamp_stat(s, path, AT_SYMLINK_NOFOLLOW);
}

/* Files that the command itself names: response files, profiles, plugins. */
static void stamp_words(struct stamp *s, const struct vprof_command *c)
{
	for (size_t i = c->compiler + 1; i < c->n; i++) {
		const char *word = c->argv[i], *equals = strchr(word, '=');
		const char *path = word[0] == '@' ? word + 1 : word[0] == '-' && equals ? equals + 1 : word;
		struct stat st;

		if (vprof_option_takes_word(word))
			i++; /* what it writes, or includes: the compiler's list names those */
		if (word[0] == '-' && !equals)
			continue;
		if (*path && !fstatat(s->folder, path, &st, 0) && S_ISREG(st.st_mode))
			stamp_path(s, path);
	}
}

static int stamp_unit(struct stamp *s, const struct vprof_unit *unit, const char *made)
{
	s->hash = VPROF_HASH_SEED;
	s->folder = open(unit->tu->directory, O_PATH | O_DIRECTORY | O_CLOEXEC);
	if (s->folder < 0)
		return -1;
	stamp_words(s, &unit->command);
	if (vprof_deps_each(made, stamp_path, s))
		s->failed = 1;
	close(s->folder);
	return s->failed ? -1 : 0;
}

int64_t vprof_kept_now(void)
{
	struct timespec now;

	clock_gettime(CLOCK_REALTIME_COARSE, &now); /* the clock that the kernel stamps files with */
	return (int64_t)now.tv_sec * 1000000000 + now.tv_nsec;
}

/* ---- keys ---- */

static uint64_t hash_compiler(uint64_t h, const struct vprof_command *c)
{
	static const char *const variables[] = { "CPATH",	    "C_INCLUDE_PATH", "CPLUS_INCLUDE_PATH",
						 "GCC_EXEC_PREFIX", "COMPILER_PATH",  "SOURCE_DATE_EPOCH" };
	struct stamp s = { .hash = h, .folder = AT_FDCWD };

	for (size_t i = 0; i < sizeof variables / sizeof *variables; i++) {
		const char *value = getenv(variables[i]);

		s.hash = vprof_hash_text(s.hash, value ? value : "");
	}
	for (size_t i = 0; i <= c->compiler; i++) { /* the wrapper and what it wraps */
		char *path = vprof_process_find(c->argv[i]);

		if (path)
			stamp_path(&s, path);
		free(path);
	}
	return s.hash;
}

static int make_key(const struct vprof_replayer *r, struct vprof_unit *unit)
{
	char **argv = vprof_replay_command(r, unit, "/made");
	uint64_t h = vprof_hash_text(vprof_hash_text(VPROF_HASH_SEED, unit->output), unit->fingerprint);

	if (!argv)
		return -1;
	h = vprof_hash_text(h, unit->tu->directory);
	for (size_t i = 0; argv[i]; i++)
		h = vprof_hash_text(h, argv[i]);
	vprof_words_free(argv);
	snprintf(unit->key, sizeof unit->key, "%016" PRIx64, hash_compiler(h, &unit->command));
	return 0;
}

/* ---- the folder ---- */

static char *in_folder(const struct vprof_replayer *r, const char *folder, const char *name)
{
	struct vprof_text path = VPROF_TEXT_INIT;

	vprof_text_addf(&path, "%s/%s%s%s", r->tmp_dir, folder, name ? "/" : "", name ? name : "");
	return path.failed ? NULL : vprof_text_detach(&path);
}

static int is_key(const char *name)
{
	return strlen(name) == KEY_DIGITS && strspn(name, "0123456789abcdef") == KEY_DIGITS;
}

static int by_key(const void *a, const void *b)
{
	return strcmp((*(struct vprof_unit *const *)a)->key, (*(struct vprof_unit *const *)b)->key);
}

static int is_wanted(const char *name, struct vprof_unit *const *units, size_t n)
{
	size_t low = 0;

	while (low < n) {
		size_t middle = low + (n - low) / 2;
		int order = strcmp(units[middle]->key, name);

		if (!order)
			return 1;
		if (order < 0)
			low = middle + 1;
		else
			n = middle;
	}
	return 0;
}

int vprof_kept_clear(const char *tmp_dir, struct vprof_unit *const *wanted, size_t n, struct vprof_error *err)
{
	DIR *dir = opendir(tmp_dir);
	int rc = VPROF_OK;

	if (!dir)
		return errno == ENOENT ?
			       VPROF_OK :
			       vprof_error_set(err, VPROF_ERR_FAILED, "cannot read %s: %s", tmp_dir, strerror(errno));
	for (struct dirent *e; !rc && (e = readdir(dir));) {
		char *path;

		if (!strcmp(e->d_name, ".") || !strcmp(e->d_name, "..") ||
		    (is_key(e->d_name) && (!wanted || is_wanted(e->d_name, wanted, n))))
			continue;
		path = vprof_path_join(tmp_dir, e->d_name);
		rc = path ? vprof_dir_remove(path, err) : vprof_error_no_memory(err);
		free(path);
	}
	closedir(dir);
	return rc;
}

/* What was written in this tick of the clock cannot be distinguished from what is written while compilers run. */
static void await_tick(void)
{
	int64_t began_ns = vprof_kept_now();

	for (int i = 0; i < 100 && vprof_kept_now() == began_ns; i++)
		nanosleep(&(struct timespec){ 0, 1000000 }, NULL);
}

/* ---- taking and keeping ---- */

/* 1: `made` is the object that .kept describes, or a copy of what the interrupted replay had already put in its place.
 */
static int is_whole(const struct vprof_unit *unit, const char *made, const char *hash)
{
	char now[17];

	if (access(made, F_OK) && (vprof_file_hash(unit->output, now, NULL) || strcmp(now, hash) ||
				   vprof_file_copy(unit->output, made, NULL)))
		return 0;
	return !vprof_file_hash(made, now, NULL) && !strcmp(now, hash);
}

static int take(const struct vprof_replayer *r, struct vprof_unit *unit)
{
	struct vprof_text text = VPROF_TEXT_INIT;
	char *note = in_folder(r, unit->key, ".kept"), *made = in_folder(r, unit->key, strrchr(unit->output, '/') + 1);
	char hash[17], stamped[17], now[17];
	struct stamp s = { 0 };

	if (note && made && !access(note, F_OK) && !vprof_file_read(note, &text, NULL) && text.len == 34 &&
	    sscanf(text.s, "%16[0-9a-f] %16[0-9a-f]", hash, stamped) == 2 && !stamp_unit(&s, unit, made)) {
		snprintf(now, sizeof now, "%016" PRIx64, s.hash);
		if (!strcmp(now, stamped) && is_whole(unit, made, hash)) {
			unit->made = made;
			made = NULL;
		}
	}
	vprof_text_release(&text);
	free(note);
	free(made);
	return unit->made != NULL;
}

int vprof_kept_take(struct vprof_replayer *r, struct vprof_unit *const *units, size_t n, size_t *n_taken,
		    struct vprof_error *err)
{
	struct vprof_unit **sorted = calloc(n + 1, sizeof *sorted);
	int rc = VPROF_OK;

	*n_taken = 0;
	if (!sorted)
		return vprof_error_no_memory(err);
	for (size_t i = 0; i < n; i++) {
		units[i]->key[0] = 0;
		free(units[i]->made);
		units[i]->made = NULL;
		if (units[i]->command.step == VPROF_STEP_COMPILE && make_key(r, units[i]))
			rc = vprof_error_no_memory(err);
		sorted[i] = units[i];
	}
	if (n)
		qsort(sorted, n, sizeof *sorted, by_key);
	if (!rc)
		rc = vprof_kept_clear(r->tmp_dir, sorted, n, err);
	for (size_t i = 0; !rc && i < n; i++) {
		/* the same command twice: they would write into one folder */
		if (i && sorted[i]->key[0] && !strcmp(sorted[i]->key, sorted[i - 1]->key))
			sorted[i - 1]->key[0] = 0;
	}
	for (size_t i = 0; !rc && i < n; i++)
		if (units[i]->key[0] && take(r, units[i])) {
			vprof_replay_log(r, NULL, "compiled by an earlier replay: %s\n",
					 vprof_replay_short(r, units[i]->output));
			++*n_taken;
		}
	free(sorted);
	await_tick();
	return rc;
}

void vprof_kept_keep(const struct vprof_replayer *r, struct vprof_unit *unit, int64_t began_ns)
{
	char *folder = in_folder(r, unit->key, NULL), *made = in_folder(r, unit->key, strrchr(unit->output, '/') + 1);
	char *old = strndup(unit->made, (size_t)(strrchr(unit->made, '/') - unit->made));
	char *note = old ? vprof_path_join(old, ".kept") : NULL, hash[17], text[40];
	struct stamp s = { 0 };

	if (unit->key[0] && folder && made && note && !stamp_unit(&s, unit, unit->made) && s.newest_ns < began_ns &&
	    !vprof_file_hash(unit->made, hash, NULL)) {
		snprintf(text, sizeof text, "%s %016" PRIx64 "\n", hash, s.hash);
		/* an earlier object of this key went into its place, and the build replaced it there */
		if (!vprof_file_write(note, text, strlen(text), NULL) && !vprof_dir_remove(folder, NULL) &&
		    !rename(old, folder)) {
			free(unit->made);
			unit->made = made;
			made = NULL;
		}
	}
	free(folder);
	free(made);
	free(old);
	free(note);
}
