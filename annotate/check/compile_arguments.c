/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The part of a recorded command that decides what the code means. An allow-list: clang rejects many of gcc's other
 * options, and none of them changes whether an expression compiles. */
#include "annotate/check/compile_arguments.h"

#include <string.h>
#include <unistd.h>

#include "common/json_places.h"

static int is_one_of(const char *s, const char *const *list, size_t n)
{
	size_t i;

	for (i = 0; i < n; i++)
		if (!strcmp(s, list[i]))
			return 1;
	return 0;
}

static int starts_with_one_of(const char *s, const char *const *list, size_t n)
{
	size_t i;

	for (i = 0; i < n; i++)
		if (!strncmp(s, list[i], strlen(list[i])))
			return 1;
	return 0;
}

#define LENGTH(a) (sizeof(a) / sizeof(a)[0])

/* The value is the next argument when the option stands alone. */
static int takes_next(const char *arg)
{
	static const char *const list[] = {
		"-D",	    "-U",	 "-I",	      "-isystem", "-iquote",	  "-idirafter",		"-include",
		"-imacros", "-isysroot", "--sysroot", "-iprefix", "-iwithprefix", "-iwithprefixbefore", "-x"
	};

	return is_one_of(arg, list, LENGTH(list));
}

static int is_semantic(const char *arg)
{
	static const char *const prefixes[] = { "-D",		"-U",		"-I",
						"-isystem",	"-iquote",	"-idirafter",
						"-include",	"-imacros",	"--sysroot=",
						"-iprefix",	"-iwithprefix", "-std=",
						"-O",		"-march=",	"-msse",
						"-mavx",	"-mno-sse",	"-mno-avx",
						"-mbmi",	"-x",		"-fsigned-",
						"-funsigned-",	"-fno-signed-", "-fno-unsigned-",
						"-fsanitize=",	"-fvisibility", "-ftemplate-depth",
						"-fconstexpr-", "-fabi-version" };
	static const char *const exact[] = { "-pthread",
					     "-ansi",
					     "-m32",
					     "-m64",
					     "-maes",
					     "-mpclmul",
					     "-mpopcnt",
					     "-mcrc32",
					     "-mfma",
					     "-mlzcnt",
					     "-mgeneral-regs-only",
					     "-nostdinc",
					     "-nostdinc++",
					     "-nostdlibinc",
					     "-fPIC",
					     "-fpic",
					     "-fPIE",
					     "-fpie",
					     "-fshort-enums",
					     "-fno-short-enums",
					     "-fshort-wchar",
					     "-fms-extensions",
					     "-fpack-struct",
					     "-fgnu89-inline",
					     "-fopenmp",
					     "-fno-exceptions",
					     "-fexceptions",
					     "-fno-rtti",
					     "-frtti",
					     "-fwrapv",
					     "-fno-builtin",
					     "-ffreestanding",
					     "-fhosted",
					     "-fpermissive",
					     "-fcoroutines",
					     "-fchar8_t",
					     "-fno-char8_t",
					     "-fno-threadsafe-statics",
					     "-fblocks",
					     "-fno-operator-names" };

	return starts_with_one_of(arg, prefixes, LENGTH(prefixes)) || is_one_of(arg, exact, LENGTH(exact));
}

static int push(struct vprof_arena *arena, const char ***argv, size_t *n, const char *arg)
{
	const char **slot = vprof_arena_push(arena, argv, n, sizeof *slot);

	if (!slot)
		return -1;
	*slot = arg;
	return 0;
}

int vprof_compile_arguments(const struct vprof_facts_tu *tu, struct vprof_arena *arena, const char ***argv, int *argc,
			    struct vprof_error *err)
{
	static const char *const skipped[] = { "-include-pch", "-Xclang" }; /* with their value */
	struct vprof_json *list, *one;
	size_t n = 0;
	int rc = vprof_json_parse(&list, arena, tu->path, tu->arguments, strlen(tu->arguments), err);

	*argv = NULL;
	if (rc)
		return vprof_error_prefix(err, VPROF_ERR_CORRUPT, "facts.db has no usable command");
	for (one = list->first; one && !rc; one = one->next) {
		if (one->type != VPROF_JSON_STRING || (one == list->first && one->string[0] != '-'))
			continue;
		if (is_one_of(one->string, skipped, LENGTH(skipped))) {
			if (!(one = one->next))
				break;
		} else if (takes_next(one->string)) {
			if (!one->next || one->next->type != VPROF_JSON_STRING)
				break;
			/* past the driver, which would take a precompiled header that lies beside this one */
			if (!strcmp(one->string, "-include"))
				rc = push(arena, argv, &n, "-Xclang") || push(arena, argv, &n, "-include") ||
				     push(arena, argv, &n, "-Xclang") || push(arena, argv, &n, one->next->string);
			else
				rc = push(arena, argv, &n, one->string) || push(arena, argv, &n, one->next->string);
			one = one->next;
		} else if (is_semantic(one->string)) {
			rc = push(arena, argv, &n, one->string);
		}
	}
	rc = rc || push(arena, argv, &n, "-DVPROF_SCAN") || push(arena, argv, &n, "-w") ||
	     push(arena, argv, &n, "-ferror-limit=0") || push(arena, argv, &n, "-fspell-checking") ||
	     push(arena, argv, &n, vprof_arena_printf(arena, "-working-directory=%s", tu->directory));
	if (!access(VPROF_CLANG_RESOURCE_DIR "/include/stddef.h", R_OK))
		rc = rc || push(arena, argv, &n, "-resource-dir") || push(arena, argv, &n, VPROF_CLANG_RESOURCE_DIR);
	rc = rc || push(arena, argv, &n, NULL);
	if (rc || arena->failed)
		return vprof_error_set(err, VPROF_ERR_NOMEM, "%s: out of memory", tu->path);
	*argc = (int)n - 1;
	return 0;
}
