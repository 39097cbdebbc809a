/* SPDX-License-Identifier: GPL-3.0-or-later */
/* vprof annotations: what vprof.json says, and whether it is true of the sources. */
#include <cjson/cJSON.h>
#include <stdio.h>
#include <string.h>

#include "annotate/check/check.h"
#include "cli/command.h"
#include "cli/options.h"
#include "cli/print.h"
#include "cli/workspace.h"

static const struct vprof_usage usage = {
	.synopsis = "annotations [--json]",
	.purpose = "Reads vprof.json, checks every function and expression in it against the sources (scanning them\n"
		   "again if they have changed) and lists all annotations. Exit status 1 when one is wrong.",
	.example = "  vprof annotations",
};

static const char *severity_name(enum vprof_severity severity)
{
	return severity == VPROF_FINDING_ERROR ? "error" : severity == VPROF_FINDING_WARNING ? "warning" : "ok";
}

static void print_text(const struct vprof_annotations *a, const struct vprof_findings *findings)
{
	struct vprof_text line = VPROF_TEXT_INIT;

	printf("%s: %zu interval%s, %zu annotation%s\n", vprof_project_shown(a->path), a->n_intervals,
	       a->n_intervals == 1 ? "" : "s", a->n_hooks, a->n_hooks == 1 ? "" : "s");
	for (size_t i = 0; i < a->n_hooks; i++) {
		const struct vprof_hook *h = &a->hooks[i];

		printf("  %-8s %-10s %s at %s", vprof_hook_kind_name(h->kind), h->name, h->function,
		       h->at_exit ? "exit" : "entry");
		if (h->value.text)
			printf(", %s", h->value.text);
		if (h->condition.text)
			printf(", if %s", h->condition.text);
		putchar('\n');
	}
	printf("  build    %s\n  run      %s\n", a->build ? a->build : "(none)", a->run ? a->run : "(none)");
	for (size_t i = 0; i < findings->n; i++) {
		if (findings->items[i].severity == VPROF_FINDING_OK)
			continue;
		vprof_text_clear(&line);
		vprof_finding_format(a, &findings->items[i], &line);
		printf("%s: %s\n", severity_name(findings->items[i].severity), line.s);
	}
	printf("%zu error%s, %zu warning%s\n", findings->n_errors, findings->n_errors == 1 ? "" : "s",
	       findings->n_warnings, findings->n_warnings == 1 ? "" : "s");
	vprof_text_release(&line);
}

static void add_text(cJSON *object, const char *key, const char *value)
{
	if (value && *value)
		cJSON_AddStringToObject(object, key, value);
}

static cJSON *to_json(const struct vprof_annotations *a, const struct vprof_findings *findings)
{
	cJSON *root = cJSON_CreateObject(), *hooks, *list;

	add_text(root, "build", a->build);
	add_text(root, "run", a->run);
	hooks = cJSON_AddArrayToObject(root, "annotations");
	for (size_t i = 0; i < a->n_hooks; i++) {
		const struct vprof_hook *h = &a->hooks[i];
		cJSON *item = cJSON_CreateObject();

		cJSON_AddStringToObject(item, "kind", vprof_hook_kind_name(h->kind));
		add_text(item, "name", h->name);
		add_text(item, "function", h->function);
		cJSON_AddStringToObject(item, "at", h->at_exit ? "exit" : "entry");
		add_text(item, "value", h->value.text);
		add_text(item, "if", h->condition.text);
		cJSON_AddNumberToObject(item, "line", h->function_place.line);
		cJSON_AddItemToArray(hooks, item);
	}
	list = cJSON_AddArrayToObject(root, "findings");
	for (size_t i = 0; i < findings->n; i++) {
		const struct vprof_finding *f = &findings->items[i];
		cJSON *item = cJSON_CreateObject();

		cJSON_AddStringToObject(item, "severity", severity_name(f->severity));
		cJSON_AddNumberToObject(item, "line", f->place.line);
		add_text(item, "key", f->place.key);
		add_text(item, "message", f->message);
		cJSON_AddItemToArray(list, item);
	}
	cJSON_AddNumberToObject(root, "errors", (double)findings->n_errors);
	return root;
}

int vprof_cmd_annotations(int argc, char **argv)
{
	int json = 0;
	const struct vprof_option options[] = {
		{ "json", VPROF_OPTION_FLAG, &json, NULL, "print annotations and findings as JSON" },
		{ NULL },
	};
	struct vprof_findings findings = { 0 };
	struct vprof_error err = { "" };
	struct vprof_operands operands;
	struct vprof_workspace w;
	int rc, status = vprof_options_parse(&usage, options, argc, argv, &operands);

	if (status >= 0)
		return status;
	rc = vprof_workspace_open(&w, NULL, &err);
	if (!rc)
		rc = vprof_workspace_load_facts(&w, &err);
	if (!rc)
		rc = vprof_annotations_check(w.annotations, w.facts, &findings, &err);
	if (!rc && json)
		rc = vprof_print_json(to_json(w.annotations, &findings), &err);
	else if (!rc)
		print_text(w.annotations, &findings);
	status = rc ? vprof_complain(rc, &err) : findings.n_errors ? VPROF_EXIT_FAILED : VPROF_EXIT_OK;
	vprof_findings_release(&findings);
	vprof_workspace_release(&w);
	return status;
}
