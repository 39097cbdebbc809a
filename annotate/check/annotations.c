/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The reader of vprof.json: first the shape (keys and types, against annotation_keys.c), then the meaning.
 *
 * All errors of a stage are collected, one line each, so that they can be fixed in one go.
 */
#include "annotate/check/annotations.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "annotate/check/annotation_keys.h"
#include "common/arena.h"
#include "annotate/check/expression.h"
#include "common/json_places.h"
#include "common/files.h"
#include "common/nearest.h"

#define ERRORS_MAX 20
#define BYTES_MAX (8 << 20)

struct vprof_annotations_private {
	struct vprof_arena arena;
};

struct stage {
	struct vprof_annotations *a;
	struct vprof_arena *arena;
	const char *path;
	struct vprof_text errors;
	int n_errors;
};

static const char *const hook_kind_names[] = {
	[VPROF_HOOK_BEGIN] = "begin",	  [VPROF_HOOK_RESUME] = "resume",   [VPROF_HOOK_SUSPEND] = "suspend",
	[VPROF_HOOK_END] = "end",	  [VPROF_HOOK_TYPE] = "type",	    [VPROF_HOOK_WORK] = "work",
	[VPROF_HOOK_ACQUIRE] = "acquire", [VPROF_HOOK_RELEASE] = "release", [VPROF_HOOK_ENQUEUE] = "enqueue",
	[VPROF_HOOK_DEQUEUE] = "dequeue",
};

const char *vprof_hook_kind_name(enum vprof_hook_kind kind)
{
	return hook_kind_names[kind];
}

__attribute__((format(printf, 4, 5))) static void fault(struct stage *s, int line, const char *key, const char *fmt,
							...)
{
	va_list ap;

	if (s->n_errors++ >= ERRORS_MAX)
		return;
	if (s->errors.len)
		vprof_text_add(&s->errors, "\n");
	vprof_text_addf(&s->errors, "%s:%d: %s: ", s->path, line, key);
	va_start(ap, fmt);
	vprof_text_vaddf(&s->errors, fmt, ap);
	va_end(ap);
}

static int stage_end(struct stage *s, struct vprof_error *err)
{
	if (s->arena->failed || s->errors.failed)
		return vprof_error_set(err, VPROF_ERR_NOMEM, "%s: out of memory while reading it", s->path);
	if (!s->n_errors)
		return 0;
	if (s->n_errors > ERRORS_MAX)
		return vprof_error_set(err, VPROF_ERR_INPUT, "%s\n(and %d more)", s->errors.s,
				       s->n_errors - ERRORS_MAX);
	return vprof_error_set(err, VPROF_ERR_INPUT, "%s", s->errors.s);
}

/* --- shape --- */

static void unknown_key(struct stage *s, const struct vprof_json *member, const struct vprof_annotation_object *object)
{
	struct vprof_text known = VPROF_TEXT_INIT;
	const char *path = vprof_json_path(s->arena, member);
	struct vprof_nearest nearest;
	size_t i;

	vprof_nearest_begin(&nearest, member->key, strlen(member->key) / 2 + 1);
	for (i = 0; i < object->n_keys; i++) {
		vprof_nearest_offer(&nearest, object->keys[i].name);
		vprof_text_addf(&known, "%s%s", i ? ", " : "", object->keys[i].name);
	}
	if (nearest.best)
		fault(s, member->key_line, path, "unknown key; did you mean \"%s\"?", nearest.best);
	else
		fault(s, member->key_line, path, "unknown key; known here: %s", known.s);
	vprof_text_release(&known);
}

static void check_object(struct stage *s, const struct vprof_json *node, enum vprof_key_object kind);

static void wrong_type(struct stage *s, const struct vprof_json *node, const char *wanted)
{
	fault(s, node->line, vprof_json_path(s->arena, node), "this is %s; write %s", vprof_json_type_name(node->type),
	      wanted);
}

static void check_member(struct stage *s, const struct vprof_json *node, const struct vprof_annotation_key *key)
{
	const struct vprof_json *child;

	if (key->shape == VPROF_KEY_STRING) {
		if (node->type != VPROF_JSON_STRING)
			wrong_type(s, node, key->wanted);
		return;
	}
	if (key->shape == VPROF_KEY_OBJECT_OR_ARRAY && node->type == VPROF_JSON_OBJECT) {
		check_object(s, node, key->object);
		return;
	}
	if (node->type != VPROF_JSON_ARRAY) {
		wrong_type(s, node, key->wanted);
		return;
	}
	for (child = node->first; child; child = child->next) {
		if (key->shape == VPROF_KEY_STRINGS && child->type != VPROF_JSON_STRING)
			wrong_type(s, child, "a function's name in double quotes");
		else if (key->shape != VPROF_KEY_STRINGS && child->type != VPROF_JSON_OBJECT)
			wrong_type(s, child, "an object");
		else if (key->shape != VPROF_KEY_STRINGS)
			check_object(s, child, key->object);
	}
}

static void check_object(struct stage *s, const struct vprof_json *node, enum vprof_key_object kind)
{
	const struct vprof_annotation_object *object = &vprof_annotation_objects[kind];
	const struct vprof_json *m;
	size_t i;

	for (m = node->first; m; m = m->next) {
		if (m->key[0] == '_' || !strcmp(m->key, "$schema"))
			continue;
		for (i = 0; i < object->n_keys && strcmp(m->key, object->keys[i].name); i++)
			;
		if (i < object->n_keys)
			check_member(s, m, &object->keys[i]);
		else
			unknown_key(s, m, object);
	}
	for (i = 0; i < object->n_keys; i++)
		if (object->keys[i].required && !vprof_json_get(node, object->keys[i].name))
			fault(s, node->line, vprof_json_path(s->arena, node), "key \"%s\" is missing; give %s",
			      object->keys[i].name, object->keys[i].wanted);
}

/* --- meaning --- */

static struct vprof_place place_of(struct stage *s, const struct vprof_json *node)
{
	return (struct vprof_place){ node->line, vprof_json_path(s->arena, node) };
}

/* Names end up in C string literals and reports. */
static const char *read_name(struct stage *s, const struct vprof_json *node)
{
	const char *p;

	if (!node->string[0])
		fault(s, node->line, vprof_json_path(s->arena, node), "the name is empty; give one, like \"request\"");
	else if (strlen(node->string) > 63)
		fault(s, node->line, vprof_json_path(s->arena, node), "the name is longer than 63 bytes; shorten it");
	for (p = node->string; *p; p++) {
		if ((unsigned char)*p < 0x20 || *p == '"' || *p == '\\' || *p == 0x7f) {
			fault(s, node->line, vprof_json_path(s->arena, node),
			      "a name must not contain quotes, backslashes or control characters; use letters and digits");
			break;
		}
	}
	return node->string;
}

static const char *read_function(struct stage *s, const struct vprof_json *node, int glob)
{
	const char *p = node->string;

	if (!*p) {
		fault(s, node->line, vprof_json_path(s->arena, node), "the function's name is empty");
		return p;
	}
	for (; *p; p++) {
		if ((unsigned char)*p < 0x20 || *p == '"' || *p == '\\' || *p == ';' || *p == '{') {
			fault(s, node->line, vprof_json_path(s->arena, node),
			      "\"%s\" is not a function name; write name, ns::Class::method or name@file.c",
			      node->string);
			break;
		}
	}
	if (!glob && p > node->string + 2 && !strcmp(p - 2, "()"))
		fault(s, node->line, vprof_json_path(s->arena, node), "leave out the \"()\": only the name is wanted");
	return node->string;
}

static struct vprof_expr read_expr(struct stage *s, const struct vprof_json *object, const char *key)
{
	const struct vprof_json *node = vprof_json_get(object, key);
	struct vprof_expr e = { 0 };
	const char *wrong;

	if (!node)
		return e;
	e.text = node->string;
	e.place = place_of(s, node);
	wrong = vprof_expression_fault(e.text);
	if (wrong)
		fault(s, e.place.line, e.place.key, "%s", wrong);
	return e;
}

/* 1 exit, 0 entry, -1 when "at" is absent. */
static int read_at(struct stage *s, const struct vprof_json *object)
{
	const struct vprof_json *node = vprof_json_get(object, "at");

	if (!node)
		return -1;
	if (!strcmp(node->string, "exit"))
		return 1;
	if (strcmp(node->string, "entry"))
		fault(s, node->line, vprof_json_path(s->arena, node),
		      "\"%s\" is not known; write \"entry\" or \"exit\"", node->string);
	return 0;
}

static void check_return(struct stage *s, const struct vprof_hook *h, const struct vprof_expr *e)
{
	if (h->at_exit || !vprof_expression_uses_return(e->text))
		return;
	if (h->kind == VPROF_HOOK_ACQUIRE || h->kind == VPROF_HOOK_RELEASE)
		fault(s, e->place.line, e->place.key,
		      "$return is not available here: %s is recorded when the function is entered; use its parameters",
		      vprof_hook_kind_name(h->kind));
	else
		fault(s, e->place.line, e->place.key, "$return exists only at exit; add \"at\": \"exit\"");
}

/* "$traceparent(EXPRESSION)" is an id that both ends of a request read from its header: to the probes a function. */
static void read_traceparent(struct stage *s, struct vprof_hook *h, const char *value_key)
{
	static const char word[] = "$traceparent";

	if (!h->value.text || strncmp(h->value.text, word, sizeof word - 1))
		return;
	if (strcmp(value_key, "id") || h->value.text[sizeof word - 1] != '(')
		fault(s, h->value.place.line, h->value.place.key,
		      "$traceparent(TEXT) is an id of begin, resume, suspend and end only: TEXT is what the header says");
	h->value.text = vprof_arena_printf(s->arena, "vp_traceparent%s", h->value.text + sizeof word - 1);
}

/* One hook: `function_key` names the member that holds the function, `value_key` the one that holds the
 * value. */
static void read_hook(struct stage *s, const struct vprof_json *object, enum vprof_hook_kind kind,
		      const char *function_key, const char *value_key, const char *name)
{
	const struct vprof_json *function = vprof_json_get(object, function_key);
	struct vprof_hook *h = vprof_arena_push(s->arena, &s->a->hooks, &s->a->n_hooks, sizeof *h);
	int at = read_at(s, object);

	if (!h)
		return;
	*h = (struct vprof_hook){ .kind = kind, .name = name };
	h->function = read_function(s, function, 0);
	h->function_place = place_of(s, function);
	h->value = read_expr(s, object, value_key);
	h->condition = read_expr(s, object, "if");
	h->mode = read_expr(s, object, "mode");
	if (kind == VPROF_HOOK_ENQUEUE || kind == VPROF_HOOK_DEQUEUE)
		h->at_exit = at >= 0 ? at : vprof_expression_uses_return(h->value.text);
	else
		h->at_exit = at > 0;
	if (h->value.text && !strcmp(h->value.text, "$received")) {
		if (kind != VPROF_HOOK_RESUME && kind != VPROF_HOOK_SUSPEND && kind != VPROF_HOOK_END)
			fault(s, h->value.place.line, h->value.place.key,
			      "$received is an id of resume, suspend and end only: the interval that what the thread "
			      "received was sent for");
		h->value.text = VPROF_ID_RECEIVED;
	}
	read_traceparent(s, h, value_key);
	check_return(s, h, &h->value);
	check_return(s, h, &h->condition);
	check_return(s, h, &h->mode);
}

static void read_marks(struct stage *s, const struct vprof_json *interval, enum vprof_hook_kind kind,
		       const char *interval_name)
{
	const struct vprof_json *node = vprof_json_get(interval, vprof_hook_kind_name(kind));
	const struct vprof_json *one = node && node->type == VPROF_JSON_ARRAY ? node->first : node;
	const char *value = kind == VPROF_HOOK_TYPE || kind == VPROF_HOOK_WORK ? "value" : "id", *name;

	while (one) {
		name = kind == VPROF_HOOK_WORK ? read_name(s, vprof_json_get(one, "name")) : interval_name;
		read_hook(s, one, kind, "function", value, name);
		one = one == node ? NULL : one->next;
	}
}

static void read_interval(struct stage *s, const struct vprof_json *interval)
{
	const struct vprof_json *name_node = vprof_json_get(interval, "name");
	const char *name = read_name(s, name_node), **slot;
	enum vprof_hook_kind kind;
	size_t i;

	for (i = 0; i < s->a->n_intervals; i++)
		if (!strcmp(s->a->interval_names[i], name))
			fault(s, name_node->line, vprof_json_path(s->arena, name_node),
			      "interval \"%s\" is defined twice; rename one, or give the first one arrays for \"begin\" and \"end\"",
			      name);
	slot = vprof_arena_push(s->arena, &s->a->interval_names, &s->a->n_intervals, sizeof *slot);
	if (slot)
		*slot = name;
	for (kind = VPROF_HOOK_BEGIN; kind <= VPROF_HOOK_WORK; kind++)
		read_marks(s, interval, kind, name);
}

static void read_pair(struct stage *s, const struct vprof_json *object, enum vprof_hook_kind first, const char *value)
{
	const struct vprof_json *one;
	enum vprof_hook_kind second = first + 1, kind;
	int n = 0;

	for (kind = first; kind <= second; kind++) {
		one = vprof_json_get(object, vprof_hook_kind_name(kind));
		if (!one)
			continue;
		n++;
		read_hook(s, object, kind, one->key, value, "");
	}
	if (!n)
		fault(s, object->line, vprof_json_path(s->arena, object),
		      "key \"%s\" or \"%s\" is missing; name the function", vprof_hook_kind_name(first),
		      vprof_hook_kind_name(second));
	else if (n == 2 && first == VPROF_HOOK_ENQUEUE)
		fault(s, object->line, vprof_json_path(s->arena, object),
		      "write \"enqueue\" and \"dequeue\" as two objects: their items are different expressions");
}

static void read_names(struct stage *s, const struct vprof_json *array, const char ***names, size_t *n,
		       struct vprof_place **places, int glob)
{
	const struct vprof_json *one;
	size_t i = 0;

	if (!array || !array->n)
		return;
	*names = vprof_arena_alloc(s->arena, array->n * sizeof **names);
	*places = vprof_arena_alloc(s->arena, array->n * sizeof **places);
	if (!*names || !*places)
		return;
	for (one = array->first; one; one = one->next, i++) {
		(*names)[i] = read_function(s, one, glob);
		(*places)[i] = place_of(s, one);
	}
	*n = array->n;
}

/* A path relative to the folder of vprof.json, made absolute; NULL for no path. */
static const char *read_path(struct stage *s, const struct vprof_json *node, const char *folder)
{
	char *absolute;
	const char *copy;

	if (!node)
		return NULL;
	if (!node->string[0]) {
		fault(s, node->line, vprof_json_path(s->arena, node), "the path is empty; leave out the key instead");
		return NULL;
	}
	absolute = vprof_path_absolute(folder, node->string);
	if (!absolute) {
		s->arena->failed = 1;
		return NULL;
	}
	copy = vprof_arena_copy(s->arena, absolute, strlen(absolute));
	free(absolute);
	return copy;
}

static const char *read_command(const struct vprof_json *node)
{
	return node && node->string[strspn(node->string, " \t\n")] ? node->string : NULL;
}

static void read_meaning(struct stage *s, const struct vprof_json *top, const char *folder)
{
	const struct vprof_json *list, *one;
	struct vprof_annotations *a = s->a;

	a->build = read_command(vprof_json_get(top, "build"));
	a->run = read_command(vprof_json_get(top, "run"));
	a->directory = read_path(s, vprof_json_get(top, "directory"), folder);
	if (!a->directory)
		a->directory = vprof_arena_copy(s->arena, folder, strlen(folder));
	a->compile_commands = read_path(s, vprof_json_get(top, "compile_commands"), folder);
	for (one = vprof_json_get(top, "intervals")->first; one; one = one->next)
		read_interval(s, one);
	list = vprof_json_get(top, "sync");
	for (one = list ? list->first : NULL; one; one = one->next)
		read_pair(s, one, VPROF_HOOK_ACQUIRE, "object");
	list = vprof_json_get(top, "queues");
	for (one = list ? list->first : NULL; one; one = one->next)
		read_pair(s, one, VPROF_HOOK_ENQUEUE, "item");
	read_names(s, vprof_json_get(top, "roots"), &a->roots, &a->n_roots, &a->root_places, 0);
	read_names(s, vprof_json_get(top, "measure_first"), &a->measure_first, &a->n_measure_first, &a->first_places,
		   0);
	read_names(s, vprof_json_get(top, "exclude"), &a->exclude, &a->n_exclude, &a->exclude_places, 1);
}

/* The folder that holds `path`, absolute, on the heap. */
static char *folder_of(const char *path)
{
	char *cwd = getcwd(NULL, 0), *absolute = cwd ? vprof_path_absolute(cwd, path) : NULL, *slash;

	free(cwd);
	if (!absolute)
		return NULL;
	slash = strrchr(absolute, '/');
	if (slash)
		slash[slash == absolute] = 0;
	return absolute;
}

static struct vprof_annotations *annotations_new(const char *path)
{
	struct vprof_annotations *a = calloc(1, sizeof *a);

	if (!a)
		return NULL;
	a->private = calloc(1, sizeof *a->private);
	if (!a->private) {
		free(a);
		return NULL;
	}
	a->path = vprof_arena_copy(&a->private->arena, path, strlen(path));
	return a;
}

static int read_text(struct vprof_annotations *a, const struct vprof_text *text, const char *folder,
		     struct vprof_error *err)
{
	struct stage s = { a, &a->private->arena, a->path, VPROF_TEXT_INIT, 0 };
	struct vprof_json *top;
	int rc;

	if (text->len > BYTES_MAX)
		return vprof_error_set(err, VPROF_ERR_INPUT, "%s: larger than 8 MiB; is this really vprof.json?",
				       a->path);
	rc = vprof_json_parse(&top, s.arena, a->path, text->s, text->len, err);
	if (rc)
		return rc;
	if (top->type != VPROF_JSON_OBJECT)
		return vprof_error_set(err, VPROF_ERR_INPUT,
				       "%s:%d: (top): this is %s; write an object: {\"intervals\": [...]}", a->path,
				       top->line, vprof_json_type_name(top->type));
	check_object(&s, top, VPROF_KEYS_TOP);
	rc = stage_end(&s, err);
	if (!rc) {
		read_meaning(&s, top, folder);
		rc = stage_end(&s, err);
	}
	vprof_text_release(&s.errors);
	return rc;
}

int vprof_annotations_read(struct vprof_annotations **out, const char *path, struct vprof_error *err)
{
	struct vprof_annotations *a = annotations_new(path);
	struct vprof_text text = VPROF_TEXT_INIT;
	char *folder = folder_of(path);
	int rc;

	*out = NULL;
	if (!a || !folder)
		rc = vprof_error_set(err, VPROF_ERR_NOMEM, "%s: out of memory while reading it", path);
	else if (access(path, F_OK))
		rc = vprof_error_set(err, VPROF_ERR_MISSING, "%s: not found; `vprof init` drafts one", path);
	else
		rc = vprof_file_read(path, &text, err);
	if (!rc)
		rc = read_text(a, &text, folder, err);
	vprof_text_release(&text);
	free(folder);
	if (rc) {
		vprof_annotations_free(a);
		return rc;
	}
	*out = a;
	return 0;
}

void vprof_annotations_free(struct vprof_annotations *a)
{
	if (!a)
		return;
	vprof_arena_release(&a->private->arena);
	free(a->private);
	free(a);
}
