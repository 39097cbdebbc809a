/* SPDX-License-Identifier: GPL-3.0-or-later */
#define _GNU_SOURCE
#include "cli/project.h"

#include <dirent.h>
#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "common/files.h"
#include "common/text.h"

static int exists(const char *path)
{
	struct stat st;

	return stat(path, &st) == 0;
}

static char *current_directory(void)
{
	char *cwd = getcwd(NULL, 0);

	return cwd;
}

/* The nearest folder at or above `start` that holds vprof.json, else `start`. Heap string. */
static char *search_upwards(const char *start)
{
	char *folder = strdup(start);

	while (folder) {
		char *config = vprof_path_join(folder, "vprof.json"), *slash;
		int found = config && exists(config);

		free(config);
		if (found)
			return folder;
		slash = strrchr(folder, '/');
		if (!slash || slash == folder)
			break;
		*slash = 0;
	}
	free(folder);
	return strdup(start);
}

/* The folder of libvprof.so: as in a build, or as installed (VPROF_LIB_FROM_BIN), both as seen from the binary's
 * folder, so that a tree may be moved whole. Heap string. */
static char *find_library_dir(const char *bin)
{
	static const char *const places[] = { "../lib/vprof", VPROF_LIB_FROM_BIN };
	char *first = NULL;

	for (size_t i = 0; i < sizeof places / sizeof *places; i++) {
		char *dir = vprof_path_absolute(bin, places[i]);
		char *library = dir ? vprof_path_join(dir, "libvprof.so") : NULL;
		int found = library && exists(library);

		free(library);
		if (found || !first) {
			free(first);
			first = dir;
		} else {
			free(dir);
		}
		if (found)
			break;
	}
	return first;
}

static int locate_parts(struct vprof_project *p, struct vprof_error *err)
{
	char self[PATH_MAX], *slash, *lib, *scanner;
	const char *chosen = getenv("VPROF_LIBDIR");
	ssize_t n = readlink("/proc/self/exe", self, sizeof self - 1);

	if (n <= 0)
		return vprof_error_set(err, VPROF_ERR_FAILED, "cannot find the running binary: /proc/self/exe: %s",
				       strerror(errno));
	self[n] = 0;
	slash = strrchr(self, '/');
	*slash = 0;
	lib = chosen && *chosen ? vprof_path_absolute(p->directory, chosen) : find_library_dir(self);
	p->scanner = vprof_path_join(self, "vprof-scan");
	scanner = lib ? vprof_path_join(lib, "vprof-scan") : NULL;
	if (scanner && exists(scanner) && !(p->scanner && exists(p->scanner))) {
		free(p->scanner);
		p->scanner = scanner;
	} else {
		free(scanner);
	}
	p->library = lib ? vprof_path_join(lib, "libvprof.so") : NULL;
	p->library_dir = lib ? strdup(lib) : NULL;
	p->include_dir = lib ? vprof_path_join(lib, "include") : NULL;
	p->probe_header = p->include_dir ? vprof_path_join(p->include_dir, "probe.h") : NULL;
	free(lib);
	return VPROF_OK;
}

int vprof_project_open(struct vprof_project *p, const char *directory, struct vprof_error *err)
{
	char *cwd = current_directory();
	int rc;

	memset(p, 0, sizeof *p);
	if (!cwd)
		return vprof_error_set(err, VPROF_ERR_FAILED, "cannot determine the current folder: %s",
				       strerror(errno));
	p->directory = directory ? vprof_path_absolute(cwd, directory) : search_upwards(cwd);
	free(cwd);
	if (!p->directory)
		return vprof_error_no_memory(err);
	if (!exists(p->directory))
		return vprof_error_set(err, VPROF_ERR_INPUT, "there is no folder %s", p->directory);
	rc = locate_parts(p, err);
	if (rc)
		return rc;
	p->config = vprof_path_join(p->directory, "vprof.json");
	p->vprof_dir = vprof_path_join(p->directory, ".vprof");
	if (p->vprof_dir) {
		p->facts = vprof_path_join(p->vprof_dir, "facts.db");
		p->session = vprof_path_join(p->vprof_dir, "session.json");
		p->verdicts = vprof_path_join(p->vprof_dir, "verdicts.json");
		p->plan = vprof_path_join(p->vprof_dir, "plan.json");
		p->build_log = vprof_path_join(p->vprof_dir, "build.log");
		p->shadow = vprof_path_join(p->vprof_dir, "src");
		p->runs = vprof_path_join(p->vprof_dir, "runs");
	}
	if (!p->config || !p->facts || !p->session || !p->verdicts || !p->plan || !p->build_log || !p->shadow ||
	    !p->runs || !p->scanner || !p->library || !p->library_dir || !p->probe_header)
		return vprof_error_no_memory(err);
	p->has_config = exists(p->config);
	return VPROF_OK;
}

void vprof_project_release(struct vprof_project *p)
{
	char *all[] = { p->directory, p->config,  p->vprof_dir,	  p->facts,	  p->session,
			p->verdicts,  p->plan,	  p->build_log,	  p->shadow,	  p->runs,
			p->scanner,   p->library, p->library_dir, p->include_dir, p->probe_header };

	for (size_t i = 0; i < sizeof all / sizeof *all; i++)
		free(all[i]);
	if (p->lock > 0)
		close(p->lock);
	memset(p, 0, sizeof *p);
}

int vprof_project_need_config(const struct vprof_project *p, struct vprof_error *err)
{
	if (p->has_config)
		return VPROF_OK;
	return vprof_error_set(err, VPROF_ERR_MISSING,
			       "no vprof.json in %s or above it. Draft one with: vprof init -- YOUR BUILD COMMAND",
			       p->directory);
}

int vprof_project_make_dir(const struct vprof_project *p, struct vprof_error *err)
{
	char *ignore;
	int rc = vprof_dir_make(p->vprof_dir, err);

	if (rc)
		return rc;
	if (access(p->vprof_dir, W_OK | X_OK))
		return vprof_error_because(err, VPROF_ERR_FAILED, VPROF_REASON_NOT_WRITABLE,
					   "cannot write to %s: %s. Change its owner or permissions, or remove it",
					   p->vprof_dir, strerror(errno));
	ignore = vprof_path_join(p->vprof_dir, ".gitignore");
	if (!ignore)
		return vprof_error_no_memory(err);
	rc = exists(ignore) ? VPROF_OK : vprof_file_write(ignore, "*\n", 2, err);
	free(ignore);
	return rc;
}

char *vprof_project_run_path(const struct vprof_project *p, const char *run, const char *file)
{
	struct vprof_text t = VPROF_TEXT_INIT;

	vprof_text_addf(&t, "%s/%s%s%s", p->runs, run, *file ? "/" : "", file);
	return t.failed ? NULL : vprof_text_detach(&t);
}

unsigned vprof_project_run_number(const char *name)
{
	size_t n = strspn(name, "0123456789");

	return n && n <= 8 && !name[n] ? (unsigned)strtoul(name, NULL, 10) : 0;
}

/* The largest run number whose folder holds `file` (NULL: any), 0 when there is none. */
static unsigned latest_run(const struct vprof_project *p, const char *file)
{
	DIR *dir = opendir(p->runs);
	struct dirent *entry;
	unsigned latest = 0;

	while (dir && (entry = readdir(dir))) {
		unsigned number = vprof_project_run_number(entry->d_name);
		char *path;

		if (number <= latest)
			continue;
		path = file ? vprof_project_run_path(p, entry->d_name, file) : NULL;
		if (!file || (path && exists(path)))
			latest = number;
		free(path);
	}
	if (dir)
		closedir(dir);
	return latest;
}

int vprof_project_new_run(const struct vprof_project *p, struct vprof_run_name *name, struct vprof_error *err)
{
	unsigned number = latest_run(p, NULL);
	int made = 0, rc = vprof_dir_make(p->runs, err);

	while (!rc && !made) { /* two recordings may begin at once */
		char *path;

		snprintf(name->s, sizeof name->s, "%04u", ++number);
		if (!vprof_project_run_number(name->s))
			return vprof_error_set(err, VPROF_ERR_FAILED, "%s has no number left: remove its last run",
					       vprof_project_shown(p->runs));
		path = vprof_project_run_path(p, name->s, "");
		if (!path)
			return vprof_error_no_memory(err);
		made = !mkdir(path, 0777);
		if (!made && errno != EEXIST)
			rc = vprof_error_set(err, VPROF_ERR_FAILED, "cannot create folder %s: %s", path,
					     strerror(errno));
		free(path);
	}
	return rc;
}

int vprof_project_find_run(const struct vprof_project *p, const char *wanted, const char *file, const char *otherwise,
			   struct vprof_run_name *name, struct vprof_error *err)
{
	unsigned number = wanted ? vprof_project_run_number(wanted) : latest_run(p, file);
	char *path;
	int found;

	if (wanted && !number)
		return vprof_error_set(err, VPROF_ERR_INPUT, "\"%s\" is not a run; runs are numbered, as in %s/0001",
				       wanted, vprof_project_shown(p->runs));
	snprintf(name->s, sizeof name->s, "%04u", number);
	path = vprof_project_run_path(p, name->s, file);
	if (!path)
		return vprof_error_no_memory(err);
	found = number && exists(path);
	free(path);
	if (found)
		return VPROF_OK;
	if (!p->has_config && !exists(p->vprof_dir))
		return vprof_error_set(err, VPROF_ERR_MISSING,
				       "there is neither vprof.json nor .vprof in %s or above it: go to the "
				       "project's folder, or start there with: vprof init -- YOUR BUILD COMMAND",
				       p->directory);
	if (wanted)
		return vprof_error_set(err, VPROF_ERR_MISSING, "run %s has no %s in %s; %s", name->s, file,
				       vprof_project_shown(p->runs), otherwise);
	return vprof_error_set(err, VPROF_ERR_MISSING, "no run with %s in %s; %s", file, vprof_project_shown(p->runs),
			       otherwise);
}

int vprof_project_run_folder(const char *wanted, const char *file, const char *otherwise, struct vprof_run_name *name,
			     char **folder, struct vprof_error *err)
{
	struct vprof_project p;
	int rc;

	*folder = NULL;
	*name = (struct vprof_run_name){ "" };
	if (wanted && wanted[strspn(wanted, "0123456789")] && exists(wanted)) {
		*folder = strdup(wanted);
		return *folder ? VPROF_OK : vprof_error_no_memory(err);
	}
	rc = vprof_project_open(&p, NULL, err);
	if (!rc)
		rc = vprof_project_find_run(&p, wanted, file, otherwise, name, err);
	if (!rc) {
		*folder = vprof_project_run_path(&p, name->s, "");
		rc = *folder ? VPROF_OK : vprof_error_no_memory(err);
	}
	vprof_project_release(&p);
	return rc;
}

const char *vprof_project_shown(const char *path)
{
	char *cwd = current_directory();
	size_t n = cwd ? strlen(cwd) : 0;

	if (n > 1 && !strncmp(path, cwd, n) && path[n] == '/')
		path += n + 1;
	free(cwd);
	return path;
}
