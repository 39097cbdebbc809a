/* SPDX-License-Identifier: GPL-3.0-or-later */
#define _GNU_SOURCE
#include "cli/verdicts/verdicts.h"

#include <cjson/cJSON.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <time.h>
#include <unistd.h>

#include "cli/project.h"
#include "common/files.h"

#define VERDICTS_VERSION 1

/* The members of a review and their keys in the file; all are strings but the verdict. */
static const struct {
	const char *key;
	size_t at;
	int required, is_verdict;
} fields[] = {
	{ "interval", offsetof(struct vprof_review, interval), 1 },
	{ "key", offsetof(struct vprof_review, key), 1 },
	{ "name", offsetof(struct vprof_review, name), 1 },
	{ "verdict", offsetof(struct vprof_review, verdict), 1, 1 },
	{ "note", offsetof(struct vprof_review, note), 0 },
	{ "run", offsetof(struct vprof_review, run), 0 },
	{ "date", offsetof(struct vprof_review, date), 0 },
};

#define N_FIELDS (sizeof fields / sizeof *fields)

static char **field(struct vprof_review *review, size_t i)
{
	return (char **)((char *)review + fields[i].at);
}

static void release_one(struct vprof_review *review)
{
	for (size_t i = 0; i < N_FIELDS; i++)
		if (!fields[i].is_verdict)
			free(*field(review, i));
}

void vprof_reviews_release(struct vprof_reviews *r)
{
	for (size_t i = 0; i < r->n; i++)
		release_one(&r->items[i]);
	free(r->items);
	*r = (struct vprof_reviews){ 0 };
}

/* A copy at the list's end. */
static int append(struct vprof_reviews *r, const struct vprof_review *review)
{
	struct vprof_review *grown = realloc(r->items, (r->n + 1) * sizeof *grown), *new;
	int rc = VPROF_OK;

	if (!grown)
		return VPROF_ERR_NOMEM;
	r->items = grown;
	new = &grown[r->n];
	new->verdict = review->verdict;
	for (size_t i = 0; i < N_FIELDS; i++) {
		const char *text;

		if (fields[i].is_verdict)
			continue;
		text = *field((struct vprof_review *)review, i);
		*field(new, i) = strdup(text ? text : "");
		if (!*field(new, i))
			rc = VPROF_ERR_NOMEM;
	}
	if (rc)
		release_one(new);
	else
		r->n++;
	return rc;
}

/* NULL, or what is wrong with the item. */
static const char *read_item(const cJSON *item, struct vprof_review *review)
{
	for (size_t i = 0; i < N_FIELDS; i++) {
		const cJSON *value = cJSON_GetObjectItemCaseSensitive(item, fields[i].key);

		if (!cJSON_IsString(value) && (value || fields[i].required))
			return fields[i].key;
		if (!fields[i].is_verdict)
			*field(review, i) = value ? value->valuestring : NULL; /* borrowed */
		else if (vprof_verdict_parse(value->valuestring, &review->verdict) ||
			 review->verdict < VPROF_VERDICT_CULPRIT || review->verdict > VPROF_VERDICT_TODO)
			return fields[i].key;
	}
	if (!*review->key)
		return "key";
	return review->note && strlen(review->note) > VPROF_NOTE_BYTES_MAX ? "note" : NULL;
}

static int damaged(const char *path, struct vprof_error *err, const char *fmt, size_t item, const char *key)
{
	struct vprof_text what = VPROF_TEXT_INIT;

	vprof_text_addf(&what, fmt, item, key);
	vprof_error_set(err, VPROF_ERR_CORRUPT,
			"%s is damaged: %s. Correct it, or move it away and give the verdicts "
			"again with: vprof review",
			vprof_project_shown(path), what.s);
	vprof_text_release(&what);
	return VPROF_ERR_CORRUPT;
}

static int read_list(struct vprof_reviews *r, const cJSON *root, const char *path, struct vprof_error *err)
{
	const cJSON *version = cJSON_GetObjectItemCaseSensitive(root, "version"), *item;
	const cJSON *list = cJSON_GetObjectItemCaseSensitive(root, "verdicts");
	size_t n = 0;

	if (!root)
		return damaged(path, err, "it is no JSON", 0, "");
	if (!cJSON_IsNumber(version) || version->valuedouble != VERDICTS_VERSION || !cJSON_IsArray(list))
		return damaged(path, err, "it holds no verdicts of this version of vprof", 0, "");
	cJSON_ArrayForEach(item, list)
	{
		struct vprof_review review;
		const char *wrong = read_item(item, &review);

		if (wrong)
			return damaged(path, err, "verdict %zu has no valid \"%s\"", n + 1, wrong);
		if (append(r, &review))
			return vprof_error_set(err, VPROF_ERR_NOMEM, "out of memory reading %s", path);
		n++;
	}
	return VPROF_OK;
}

int vprof_reviews_load(struct vprof_reviews *r, const char *path, struct vprof_error *err)
{
	struct vprof_text text = VPROF_TEXT_INIT;
	cJSON *root;
	int rc;

	*r = (struct vprof_reviews){ 0 };
	if (access(path, F_OK) && errno == ENOENT)
		return VPROF_OK;
	rc = vprof_file_read(path, &text, err);
	if (!rc) {
		root = cJSON_ParseWithLength(text.s, text.len);
		rc = read_list(r, root, path, err);
		cJSON_Delete(root);
	}
	vprof_text_release(&text);
	if (rc)
		vprof_reviews_release(r);
	return rc;
}

static int is_of(const struct vprof_review *review, const char *interval, const char *key)
{
	return !strcmp(review->key, key) && (!interval || !*interval || !strcmp(review->interval, interval));
}

const struct vprof_review *vprof_reviews_find(const struct vprof_reviews *r, const char *interval, const char *key)
{
	for (size_t i = 0; i < r->n; i++)
		if (is_of(&r->items[i], interval, key))
			return &r->items[i];
	return NULL;
}

/* The text of the file, to be freed; NULL: out of memory. */
static char *to_json(const struct vprof_reviews *r)
{
	cJSON *root = cJSON_CreateObject(), *list;
	char *text;

	cJSON_AddNumberToObject(root, "version", VERDICTS_VERSION);
	list = cJSON_AddArrayToObject(root, "verdicts");
	for (size_t i = 0; i < r->n; i++) {
		cJSON *item = cJSON_CreateObject();

		for (size_t k = 0; k < N_FIELDS; k++)
			cJSON_AddStringToObject(item, fields[k].key,
						fields[k].is_verdict ? vprof_verdict_names[r->items[i].verdict] :
								       *field(&r->items[i], k));
		cJSON_AddItemToArray(list, item);
	}
	text = cJSON_Print(root);
	cJSON_Delete(root);
	return text;
}

static int write_list(const struct vprof_reviews *r, const char *path, struct vprof_error *err)
{
	char *text = to_json(r);
	int rc = text ? vprof_file_write(path, text, strlen(text), err) :
			vprof_error_set(err, VPROF_ERR_NOMEM, "out of memory saving %s", path);

	free(text);
	return rc;
}

/* All of them among the first n: in a file written by hand there may be several. */
static void drop(struct vprof_reviews *r, size_t n, const char *interval, const char *key)
{
	for (size_t i = n; i-- > 0;) {
		if (!is_of(&r->items[i], interval, key))
			continue;
		release_one(&r->items[i]);
		memmove(&r->items[i], &r->items[i + 1], (r->n - i - 1) * sizeof *r->items);
		r->n--;
	}
}

/* The lock is on the folder: the file itself is replaced. Where there are no locks the change is made without. */
static int lock_folder(const char *path)
{
	char *folder = strdup(path), *slash = folder ? strrchr(folder, '/') : NULL;
	int fd = -1;

	if (slash) {
		*slash = 0;
		fd = open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	}
	while (fd >= 0 && flock(fd, LOCK_EX) && errno == EINTR)
		;
	free(folder);
	return fd;
}

/* The new one is added before the older ones are dropped, whose note it may have. */
static int replace(struct vprof_reviews *r, const struct vprof_review *review)
{
	const struct vprof_review *old = vprof_reviews_find(r, review->interval, review->key);
	struct vprof_review dated = *review;
	time_t now = time(NULL);
	size_t n = r->n;
	char date[32];
	struct tm utc;

	strftime(date, sizeof date, "%Y-%m-%dT%H:%M:%SZ", gmtime_r(&now, &utc));
	dated.date = date;
	if (!dated.note && old)
		dated.note = old->note;
	if (review->verdict && append(r, &dated))
		return VPROF_ERR_NOMEM;
	drop(r, n, review->interval, review->key);
	return VPROF_OK;
}

int vprof_reviews_set(struct vprof_reviews *r, const char *path, const struct vprof_review *review,
		      struct vprof_error *err)
{
	struct vprof_reviews reviews;
	int fd, rc;

	if (!*review->key) /* the file would count as damaged */
		return vprof_error_set(err, VPROF_ERR_INPUT,
				       "this has no key to keep a verdict by: results.json is damaged; "
				       "analyse the run again (vprof analyze)");
	fd = lock_folder(path);
	rc = vprof_reviews_load(&reviews, path, err);
	if (!rc && replace(&reviews, review))
		rc = vprof_error_no_memory(err);
	if (!rc)
		rc = write_list(&reviews, path, err);
	if (fd >= 0)
		close(fd);
	if (rc) {
		vprof_reviews_release(&reviews);
		return rc;
	}
	vprof_reviews_release(r);
	*r = reviews;
	return VPROF_OK;
}
