/* SPDX-License-Identifier: GPL-3.0-or-later */
/* vprof doctor: what is missing on this machine, what is odd about the last run, and which functions of this project
 * cannot be measured. */
#include <cjson/cJSON.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "annotate/check/annotations.h"
#include "cli/doctor/checkup.h"
#include "cli/command.h"
#include "cli/commands/facts_list.h"
#include "cli/options.h"
#include "cli/print.h"
#include "cli/progress.h"
#include "cli/drilldown/session.h"
#include "cli/doctor/symptoms.h"
#include "common/facts/facts.h"
#include "report/format_value.h"

#define MAX_CHECKS 32
#define MAX_FILES 2
#define MAX_SIGNS 32
#define ADVICE_COLUMN 26
#define WIDTH 100

static const struct vprof_usage usage = {
	.synopsis = "doctor [--facts | --symptoms] [--json]",
	.purpose =
		"Checks compilers, the scanner, bear, the clock, preloading, shared memory, permissions, the kernel's\n"
		"events and writing to other processes by using them, and says what to install; then reads this\n"
		"project's files and says what is empty or odd about its last run and what to do next. Exit status 1 if\n"
		"something that vprof needs is missing or damaged.",
	.example = "  vprof doctor",
};

static const char *health_name(enum vprof_health health)
{
	return health == VPROF_HEALTH_OK ? "ok" : health == VPROF_HEALTH_WARNING ? "warning" : "broken";
}

static void print_advice(const char *advice)
{
	struct vprof_text text = VPROF_TEXT_INIT;

	vprof_text_addf(&text, "%*s", ADVICE_COLUMN, "");
	vprof_format_wrap(&text, advice, ADVICE_COLUMN, ADVICE_COLUMN, WIDTH);
	fputs(text.len ? text.s : advice, stdout);
	vprof_text_release(&text);
}

static void print_checks(const struct vprof_checkup *rows, size_t n)
{
	int colour = vprof_progress_colour(1);
	static const char *const inks[] = { "\033[32m", "\033[33m", "\033[31m" };

	for (size_t i = 0; i < n; i++) {
		printf("%-17s%s%-8s%s %s\n", rows[i].name, colour ? inks[rows[i].health] : "",
		       health_name(rows[i].health), colour ? "\033[0m" : "", rows[i].detail);
		if (*rows[i].advice)
			print_advice(rows[i].advice);
	}
}

static cJSON *checks_json(const struct vprof_checkup *rows, size_t n)
{
	cJSON *array = cJSON_CreateArray();

	for (size_t i = 0; i < n; i++) {
		cJSON *row = cJSON_CreateObject();

		cJSON_AddStringToObject(row, "check", rows[i].name);
		cJSON_AddStringToObject(row, "health", health_name(rows[i].health));
		vprof_print_add_string(row, "detail", rows[i].detail);
		if (*rows[i].advice)
			cJSON_AddStringToObject(row, "advice", rows[i].advice);
		cJSON_AddItemToArray(array, row);
	}
	return array;
}

static int doctor_facts(const struct vprof_project *p, int json, struct vprof_error *err)
{
	struct vprof_facts *facts = NULL;
	struct vprof_resident *resident = NULL;
	char *path = vprof_resident_path(p->vprof_dir);
	int rc = path ? vprof_facts_open(&facts, p->facts, err) : vprof_error_no_memory(err);

	if (rc == VPROF_ERR_MISSING)
		vprof_error_set(err, rc, "the sources have not been scanned yet: vprof init -- YOUR BUILD COMMAND");
	if (!rc && !access(path, F_OK))
		rc = vprof_resident_read(&resident, path, err);
	free(path);
	if (!rc && json)
		rc = vprof_print_json(vprof_facts_list_json(facts, resident), err);
	else if (!rc)
		rc = vprof_facts_list_print(facts, resident, err);
	vprof_resident_free(resident);
	vprof_facts_free(facts);
	return rc;
}

static void set_row(struct vprof_checkup *row, const char *name, enum vprof_health health, const char *detail,
		    const char *advice)
{
	row->name = name;
	row->health = health;
	snprintf(row->detail, sizeof row->detail, "%.*s", (int)sizeof row->detail - 1, detail);
	row->detail[strcspn(row->detail, "\n")] = 0;
	snprintf(row->advice, sizeof row->advice, "%s", advice);
}

/* The project's own files, as more rows: nothing where there are none yet. */
static size_t add_files(const struct vprof_project *p, struct vprof_checkup *rows)
{
	struct vprof_annotations *annotations = NULL;
	struct vprof_session session;
	struct vprof_error err = { "" };
	size_t n = 0;
	int rc;

	if (p->has_config && vprof_annotations_read(&annotations, p->config, &err))
		set_row(&rows[n++], "vprof.json", VPROF_HEALTH_BROKEN, err.message,
			"Correct it; vprof annotations checks it");
	else if (p->has_config)
		set_row(&rows[n++], "vprof.json", VPROF_HEALTH_OK, vprof_project_shown(p->config), "");
	vprof_annotations_free(annotations);
	vprof_session_init(&session);
	rc = vprof_session_open(&session, p, &err);
	if (rc && rc != VPROF_ERR_MISSING)
		set_row(&rows[n++], "session", VPROF_HEALTH_BROKEN, err.message, "");
	vprof_session_release(&session);
	return n;
}

/* The signs of the last run, as more rows. */
static size_t add_signs(const struct vprof_project *p, struct vprof_checkup *rows, size_t max)
{
	struct vprof_sign signs[MAX_SIGNS];
	size_t n = vprof_symptoms_of_last_run(p, signs, MAX_SIGNS < max ? MAX_SIGNS : max);

	for (size_t i = 0; i < n; i++)
		set_row(&rows[i], signs[i].symptom->name, VPROF_HEALTH_WARNING, signs[i].detail,
			signs[i].symptom->advice);
	return n;
}

static int doctor_symptoms(int json, struct vprof_error *err)
{
	cJSON *array = json ? cJSON_CreateArray() : NULL;

	for (size_t i = 0; i < vprof_n_symptoms; i++) {
		cJSON *row = json ? cJSON_CreateObject() : NULL;

		if (!json) {
			printf("%s\n", vprof_symptoms[i].name);
			print_advice(vprof_symptoms[i].advice);
			continue;
		}
		cJSON_AddStringToObject(row, "symptom", vprof_symptoms[i].name);
		cJSON_AddStringToObject(row, "advice", vprof_symptoms[i].advice);
		cJSON_AddItemToArray(array, row);
	}
	return json ? vprof_print_json(array, err) : VPROF_OK;
}

static int doctor_machine(const struct vprof_project *p, int json, struct vprof_error *err)
{
	struct vprof_checkup rows[MAX_CHECKS + MAX_FILES + MAX_SIGNS];
	size_t n = vprof_checkup_all(p, rows, MAX_CHECKS), n_broken = 0;
	int rc = VPROF_OK;

	n += add_files(p, rows + n);
	for (size_t i = 0; i < n; i++)
		n_broken += rows[i].health == VPROF_HEALTH_BROKEN;
	n += add_signs(p, rows + n, MAX_SIGNS);
	if (json)
		rc = vprof_print_json(checks_json(rows, n), err);
	else
		print_checks(rows, n);
	if (!rc && n_broken)
		rc = vprof_error_set(err, VPROF_ERR_MISSING, "%zu check%s failed; see the advice above", n_broken,
				     n_broken == 1 ? "" : "s");
	return rc;
}

int vprof_cmd_doctor(int argc, char **argv)
{
	int json = 0, facts = 0, symptoms = 0;
	const struct vprof_option options[] = {
		{ "facts", VPROF_OPTION_FLAG, &facts, NULL,
		  "list the functions that cannot be instrumented, with reasons, by file and unit" },
		{ "symptoms", VPROF_OPTION_FLAG, &symptoms, NULL, "list all known symptoms, with advice" },
		{ "json", VPROF_OPTION_FLAG, &json, NULL, "print JSON" },
		{ NULL },
	};
	struct vprof_error err = { "" };
	struct vprof_operands operands;
	struct vprof_project p;
	int rc, status = vprof_options_parse(&usage, options, argc, argv, &operands);

	if (status >= 0)
		return status;
	if (facts && symptoms)
		return vprof_options_misused(&usage, "give --facts or --symptoms, not both");
	rc = vprof_project_open(&p, NULL, &err);
	if (!rc && symptoms)
		rc = doctor_symptoms(json, &err);
	else if (!rc)
		rc = facts ? doctor_facts(&p, json, &err) : doctor_machine(&p, json, &err);
	status = rc ? vprof_complain(rc, &err) : VPROF_EXIT_OK;
	vprof_project_release(&p);
	return status;
}
