/* SPDX-License-Identifier: GPL-3.0-or-later */
#define _GNU_SOURCE
#include "cli/doctor/checkup.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include <cjson/cJSON.h>

#include "cli/command.h"
#include "cli/doctor/live_checkup.h"
#include "cli/run/run_target.h"
#include "common/facts/facts.h"
#include "common/files.h"
#include "common/process.h"
#include "common/text.h"
#include "instrumenter/instrument.h"
#include "recorder/requirements.h"

#define SHM_WANTED_MIB 512
#define ROWS_MAX 32
#define NO_ROOM "Free some space in /tmp, or set TMPDIR to a folder that can be written"

static void set(struct vprof_checkup *row, enum vprof_health health, const char *advice, const char *fmt, ...)
	__attribute__((format(printf, 4, 5)));

static void set(struct vprof_checkup *row, enum vprof_health health, const char *advice, const char *fmt, ...)
{
	va_list ap;

	row->health = health;
	snprintf(row->advice, sizeof row->advice, "%s", advice);
	va_start(ap, fmt);
	vsnprintf(row->detail, sizeof row->detail, fmt, ap);
	va_end(ap);
	row->detail[strcspn(row->detail, "\n")] = 0;
}

/* Runs argv; 0 when it ended with status 0. Its output is left in `out`. */
static int try(const char *const *argv, struct vprof_text *out)
{
	struct vprof_process process = { .argv = argv, .captured = out };
	struct vprof_process_result result;
	struct vprof_error err = { "" };
	int rc = vprof_process_run(&process, &result, &err);

	if (rc) {
		vprof_text_add(out, err.message);
		return rc;
	}
	return result.status == 0 && !result.signal ? 0 : VPROF_ERR_FAILED;
}

static void check_tool(struct vprof_checkup *row, const char *program, const char *version_option,
		       enum vprof_health without, const char *advice)
{
	const char *argv[] = { program, version_option, NULL };
	struct vprof_text out = VPROF_TEXT_INIT;

	if (try(argv, &out))
		set(row, without, advice, "does not run: %s", out.len ? out.s : "it ended with an error");
	else
		set(row, VPROF_HEALTH_OK, "", "%s", out.s);
	vprof_text_release(&out);
}

static int write_text(const char *folder, const char *name, const char *text)
{
	char *path = vprof_path_join(folder, name);
	int rc = path ? vprof_file_write(path, text, strlen(text), NULL) : VPROF_ERR_NOMEM;

	free(path);
	return rc;
}

/* A compilation database of one unit, try.c. */
static void describe_unit(struct vprof_text *database, const char *folder)
{
	static const char *const arguments[] = { "gcc", "-c", "try.c", "-o", "try.o" };
	char *file = vprof_path_join(folder, "try.c"), *output = vprof_path_join(folder, "try.o"), *text;
	cJSON *list = cJSON_CreateArray(), *unit = cJSON_CreateObject();

	cJSON_AddItemToArray(list, unit);
	cJSON_AddStringToObject(unit, "directory", folder);
	cJSON_AddStringToObject(unit, "file", file ? file : "");
	cJSON_AddStringToObject(unit, "output", output ? output : "");
	cJSON_AddItemToObject(unit, "arguments",
			      cJSON_CreateStringArray(arguments, sizeof arguments / sizeof *arguments));
	text = cJSON_Print(list);
	vprof_text_add(database, text ? text : "");
	cJSON_free(text);
	cJSON_Delete(list);
	free(file);
	free(output);
}

/* Scans one file with a system header: finds a scanner without Clang's own headers. */
static void check_scan(struct vprof_checkup *row, const struct vprof_project *p, const char *folder)
{
	const char *advice = "Install vprof again, with clang-19's headers: apt install libclang-common-19-dev";
	struct vprof_text database = VPROF_TEXT_INIT;
	char *list = vprof_path_join(folder, "compile_commands.json"), *facts = vprof_path_join(folder, "facts.db");
	struct vprof_error err = { "" };
	struct vprof_facts *found = NULL;
	int rc;

	if (access(p->scanner, X_OK)) {
		set(row, VPROF_HEALTH_BROKEN, advice, "cannot run %s: %s", p->scanner, strerror(errno));
		goto out;
	}
	describe_unit(&database, folder);
	if (!list || !facts ||
	    write_text(folder, "try.c",
		       "#include <stddef.h>\n#include <stdio.h>\n"
		       "int main(void) { return puts(\"\") == EOF; }\n") ||
	    write_text(folder, "compile_commands.json", database.s)) {
		set(row, VPROF_HEALTH_BROKEN, NO_ROOM, "cannot write to %s", folder);
		goto out;
	}
	rc = vprof_scan(p->scanner, list, folder, facts, 1, NULL, NULL, &err);
	if (!rc)
		rc = vprof_facts_open(&found, facts, &err);
	row->reason = err.reason;
	if (rc)
		set(row, VPROF_HEALTH_BROKEN, advice, "%.240s", err.message);
	else if (found->n_tus != 1 || found->tus[0].status != VPROF_TU_OK || found->n_functions != 1)
		set(row, VPROF_HEALTH_BROKEN, advice, "a one-line program could not be scanned: %.180s",
		    found->n_tus ? found->tus[0].diagnostics : "no unit");
	else
		set(row, VPROF_HEALTH_OK, "", "%s", p->scanner);
out:
	vprof_facts_free(found);
	vprof_text_release(&database);
	free(list);
	free(facts);
}

/* Compiles a program with a probe, runs it under the collector and looks for its records. */
static void check_preload(struct vprof_checkup *row, const struct vprof_project *p, const char *folder,
			  struct vprof_collector_stats *stats)
{
	char *source = vprof_path_join(folder, "probe.c"), *program = vprof_path_join(folder, "probe");
	char *trace = vprof_path_join(folder, "trace"), *log = vprof_path_join(folder, "run.log");
	const char *argv[] = { "gcc", "-include", p->probe_header, "-I", p->include_dir, "-o", program, source, NULL };
	struct vprof_text out = VPROF_TEXT_INIT;
	struct vprof_run_request request = { .command = "./probe",
					     .directory = folder,
					     .trace_dir = trace,
					     .log_path = log,
					     .library = p->library,
					     .memory_bytes = 16 << 20 };
	struct vprof_run_outcome outcome = { 0 };
	struct vprof_error err = { "" };

	if (!source || !program || !trace || !log ||
	    write_text(folder, "probe.c",
		       "#include <vprof.h>\nint main(void)\n{\n\tvprof_begin(\"try\", 1);\n"
		       "\tvprof_end(\"try\", 1);\n\treturn 0;\n}\n"))
		set(row, VPROF_HEALTH_BROKEN, NO_ROOM, "cannot write to %s", folder);
	else if (try(argv, &out))
		set(row, VPROF_HEALTH_BROKEN, "Install vprof again, or set VPROF_LIBDIR",
		    "a program with a probe does "
		    "not compile: %.180s",
		    out.s);
	else if (vprof_run_target(&request, &outcome, &err))
		set(row, VPROF_HEALTH_BROKEN, "See docs/troubleshooting.md", "%.240s", err.message);
	else if (outcome.status)
		set(row, VPROF_HEALTH_BROKEN, "See docs/troubleshooting.md",
		    "a program with a probe fails when it runs with %s", p->library);
	else if (!outcome.stats.n_threads)
		set(row, VPROF_HEALTH_BROKEN,
		    "Is LD_PRELOAD allowed here? A sandbox or a hardened loader may ignore it",
		    "a program with a probe recorded nothing");
	else
		set(row, VPROF_HEALTH_OK, "", "%s records", p->library);
	row->reason = err.reason;
	*stats = outcome.stats;
	vprof_text_release(&out);
	free(source);
	free(program);
	free(trace);
	free(log);
}

static int read_line_with(const char *path, const char *word, char *line, size_t size)
{
	FILE *file = fopen(path, "re");
	int found = 0;

	while (file && !found && fgets(line, (int)size, file))
		found = strstr(line, word) != NULL;
	if (file)
		fclose(file);
	return found;
}

static void check_clock(struct vprof_checkup *row)
{
#if defined(__x86_64__)
	char line[8192];

	if (read_line_with("/proc/cpuinfo", "constant_tsc", line, sizeof line) && strstr(line, "nonstop_tsc"))
		set(row, VPROF_HEALTH_OK, "", "invariant TSC");
	else
		set(row, VPROF_HEALTH_WARNING, "Probes cost about twice as much; choose fewer factors per round (--k)",
		    "no invariant TSC, clock_gettime is used");
#elif defined(__aarch64__)
	set(row, VPROF_HEALTH_OK, "", "cntvct");
#else
	set(row, VPROF_HEALTH_WARNING, "Probes cost more on this CPU", "clock_gettime is used");
#endif
}

static void check_shm(struct vprof_checkup *row)
{
	struct statvfs fs;
	unsigned long long mib;

	if (statvfs("/dev/shm", &fs) || access("/dev/shm", W_OK)) {
		set(row, VPROF_HEALTH_BROKEN, "Mount it: mount -t tmpfs tmpfs /dev/shm", "cannot write to /dev/shm: %s",
		    strerror(errno));
		return;
	}
	mib = (unsigned long long)fs.f_bavail * fs.f_frsize >> 20;
	if (mib < SHM_WANTED_MIB)
		set(row, VPROF_HEALTH_WARNING,
		    "Give it more (mount -o remount,size=1g /dev/shm; docker run "
		    "--shm-size=1g), or use less: vprof run --memory 64",
		    "%llu MiB free, records need up to 256", mib);
	else
		set(row, VPROF_HEALTH_OK, "", "%llu MiB free", mib);
}

/* Whether the run of check_preload had its threads' switches recorded. */
static void check_perf(struct vprof_checkup *row, const struct vprof_collector_stats *stats)
{
	if (stats->has_switches && stats->n_switches)
		set(row, VPROF_HEALTH_OK, "", "context switches are recorded: preempted time is known");
	else
		set(row, VPROF_HEALTH_WARNING, "Preempted time is counted as running; nothing else is affected", "%s",
		    *stats->no_switches ? stats->no_switches : "no context switch was recorded");
}

/* Whether vprof record works. */
static void check_kernel(struct vprof_checkup *row)
{
	struct vprof_requirement needs[VPROF_REQUIREMENTS_MAX];
	size_t n = vprof_recorder_requirements(needs), worst = 0;

	for (size_t i = 1; i < n; i++)
		if (needs[i].state > needs[worst].state)
			worst = i;
	if (needs[worst].state == VPROF_REQUIREMENT_MET)
		set(row, VPROF_HEALTH_OK, "", "vprof record can record the kernel's events: waits, latency, paths");
	else
		set(row, VPROF_HEALTH_WARNING, needs[worst].advice, "%s%s", needs[worst].detail,
		    needs[worst].state == VPROF_REQUIREMENT_UNMET ? ": vprof record needs it, nothing else does" : "");
}

/* Whether probes can be opened in running processes: those that vprof starts, and others. */
static void check_live(struct vprof_checkup *row, int is_attach)
{
#if defined(__x86_64__)
	struct vprof_error err = { "" };

	if (vprof_try_live(is_attach, &err))
		set(row, VPROF_HEALTH_WARNING,
		    is_attach ?
			    "For vprof live: run it as root, or allow it: sysctl kernel.yama.ptrace_scope=0; nothing else "
			    "needs it" :
			    "A sandbox forbids it? vprof iterate without --live rebuilds instead, and works here",
		    "%.240s", err.message);
	else if (is_attach)
		set(row, VPROF_HEALTH_OK, "", "vprof live can attach to %s processes",
		    geteuid() ? "this user's" : "all");
	else
		set(row, VPROF_HEALTH_OK, "", "vprof iterate --live can open probes in what it starts");
#else
	set(row, VPROF_HEALTH_WARNING, "vprof iterate without --live rebuilds instead, and works here",
	    "%s switches probes in running programs on x86-64 only", is_attach ? "vprof live" : "vprof iterate --live");
#endif
}

static void check_permissions(struct vprof_checkup *row, const struct vprof_project *p)
{
	const char *folder = access(p->vprof_dir, F_OK) ? p->directory : p->vprof_dir;

	row->reason = VPROF_REASON_NOT_WRITABLE;
	if (access(folder, R_OK | W_OK | X_OK))
		set(row, VPROF_HEALTH_BROKEN, "Change its owner or permissions", "cannot write to %s: %s", folder,
		    strerror(errno));
	else
		set(row, VPROF_HEALTH_OK, "", "%s can be written", folder);
}

/* A new folder for what is tried, its path without links and dots; NULL, and `why`, where there can be none. */
static char *make_folder(char *why, size_t size)
{
	const char *tmp = getenv("TMPDIR");
	char *base = realpath(tmp && *tmp ? tmp : "/tmp", NULL),
	     *folder = base ? vprof_path_join(base, "vprof-doctor-XXXXXX") : NULL;

	if (!folder || !mkdtemp(folder)) {
		snprintf(why, size, "cannot write to %.180s: %s", tmp && *tmp ? tmp : "/tmp", strerror(errno));
		free(folder);
		folder = NULL;
	}
	free(base);
	return folder;
}

size_t vprof_checkup_all(const struct vprof_project *p, struct vprof_checkup *rows, size_t max)
{
	static const char *const names[] = { "gcc", "g++",  "make",   "bear",	"scan", "preload", "clock",
					     "shm", "perf", "folder", "kernel", "live", "attach" };
	struct vprof_collector_stats stats = { 0 };
	char *folder, why[256];
	size_t n = sizeof names / sizeof *names;

	if (n > max)
		return 0;
	memset(rows, 0, n * sizeof *rows);
	for (size_t i = 0; i < n; i++)
		rows[i].name = names[i];
	check_tool(&rows[0], "gcc", "--version", VPROF_HEALTH_BROKEN, "apt install gcc");
	check_tool(&rows[1], "g++", "--version", VPROF_HEALTH_WARNING, "apt install g++ (only C++ programs need it)");
	check_tool(&rows[2], "make", "--version", VPROF_HEALTH_WARNING, "apt install make (if your build needs it)");
	check_tool(&rows[3], "bear", "--version", VPROF_HEALTH_WARNING,
		   "apt install bear, or give vprof init a database: --compile-commands FILE");
	folder = make_folder(why, sizeof why);
	if (folder) {
		check_scan(&rows[4], p, folder);
		check_preload(&rows[5], p, folder, &stats);
		vprof_dir_remove(folder, NULL);
	} else {
		set(&rows[4], VPROF_HEALTH_BROKEN, NO_ROOM, "%s", why);
		set(&rows[5], VPROF_HEALTH_BROKEN, NO_ROOM, "%s", why);
	}
	free(folder);
	check_clock(&rows[6]);
	check_shm(&rows[7]);
	check_perf(&rows[8], &stats);
	check_permissions(&rows[9], p);
	check_kernel(&rows[10]);
	check_live(&rows[11], 0);
	check_live(&rows[12], 1);
	return n;
}

void vprof_checkup_tell_broken(const struct vprof_project *p, enum vprof_error_reason reason)
{
	struct vprof_checkup rows[ROWS_MAX];
	size_t n = vprof_checkup_all(p, rows, ROWS_MAX);

	for (size_t i = 0; i < n; i++)
		if (rows[i].health == VPROF_HEALTH_BROKEN && (!reason || rows[i].reason != reason))
			vprof_tell("%s: %s. %s", rows[i].name, rows[i].detail, rows[i].advice);
}
