/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The flag is given for compiling only, so that no libtsan is linked. What the two compilers leave out by default is
 * asked for: clang drops a read that is followed by a write of the same place; gcc expands memcpy without telling.
 * Frame pointers say in which function a critical section lies, so no function may end in a jump to another.
 */
#define _GNU_SOURCE
#include "instrumenter/replay/replay_flows.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "common/files.h"
#include "common/process.h"
#include "instrumenter/flow_assembly.h"
#include "instrumenter/replay/replay_command.h"

int vprof_flow_unit_is_wanted(const struct vprof_replayer *r, const struct vprof_unit *unit)
{
	for (size_t i = 0; i < r->o->flows->n_sources; i++)
		if (!strcmp(r->o->flows->sources[i], unit->tu->path))
			return 1;
	return 0;
}

/* The sanitizer that the command asks for, if it and the discovery exclude each other. */
static const char *sanitizer_of(const struct vprof_command *c)
{
	static const char *const others[] = { "address", "thread", "memory", "hwaddress", "kernel" };

	for (size_t i = c->compiler + 1; i < c->n; i++)
		for (size_t k = 0; !strncmp(c->argv[i], "-fsanitize=", 11) && k < sizeof others / sizeof *others; k++)
			if (strstr(c->argv[i] + 11, others[k]))
				return c->argv[i];
	return NULL;
}

int vprof_flow_units_check(const struct vprof_replayer *r, struct vprof_error *err)
{
	for (size_t i = 0; i < r->n_units; i++) {
		const struct vprof_unit *unit = &r->units[i];
		const char *sanitizer = sanitizer_of(&unit->command);

		if (!vprof_flow_unit_is_wanted(r, unit))
			continue;
		if (sanitizer)
			return vprof_error_set(
				err, VPROF_ERR_INPUT,
				"%s is compiled with %s, which watches memory itself: the two exclude each other. Configure a build without it, and run vprof init again",
				vprof_replay_short(r, unit->tu->path), sanitizer);
		if (unit->command.step == VPROF_STEP_LINK)
			return vprof_error_set(
				err, VPROF_ERR_INPUT,
				"%s is compiled and linked by one command; vprof flows needs objects. Compile it with -c and link in a second step, and run vprof init again, or choose others with --units",
				vprof_replay_short(r, unit->tu->path));
	}
	return VPROF_OK;
}

int vprof_flow_unit_is_edited(const struct vprof_replayer *r, const struct vprof_unit *unit, char fingerprint[17])
{
	fingerprint[0] = 0;
	return r->o->flows->has_own_locks && r->edited.facts && vprof_edited_unit(&r->edited, unit->tu, fingerprint);
}

/* Is the unit compiled to assembly, in which atomic instructions of inline assembly are looked for? */
static int is_assembled(const struct vprof_replayer *r, const struct vprof_unit *unit)
{
	int is_likely = 0, compiles = 0;

#if !defined(__x86_64__)
	return 0;
#endif
	for (size_t i = unit->command.compiler + 1; i < unit->command.n; i++)
		compiles |= !strcmp(unit->command.argv[i], "-c");
	for (size_t i = 0; compiles && i < unit->tu->n_files && !is_likely; i++) {
		const struct vprof_facts_file *file = vprof_facts_file(r->facts, unit->tu->files[i]);
		struct vprof_text source = VPROF_TEXT_INIT;

		if (file && file->in_project && !vprof_file_read(file->path, &source, NULL))
			is_likely = source.s && vprof_flow_assembly_is_likely(source.s);
		vprof_text_release(&source);
	}
	return is_likely;
}

char **vprof_flow_command(const struct vprof_replayer *r, const struct vprof_unit *unit, const char *output)
{
	static const char *const both[] = { "-fsanitize=thread",
					    "-fno-lto",
					    "-w",
					    "-U__SANITIZE_THREAD__",
					    "-U_FORTIFY_SOURCE",
					    "-g",
					    "-fno-omit-frame-pointer",
					    "-fno-optimize-sibling-calls" };
	static const char *const gcc[] = { "-fno-builtin-memcpy", "-fno-builtin-memmove",
					   "--param=tsan-instrument-func-entry-exit=0" };
	static const char *const clang[] = { "-mllvm", "-tsan-instrument-read-before-write=1", "-mllvm",
					     "-tsan-instrument-func-entry-exit=0" };
	int is_clangs = vprof_command_is_clang(&unit->command), to_assembly = is_assembled(r, unit);
	const char *const *own = is_clangs ? clang : gcc;
	size_t n = 0, n_both = sizeof both / sizeof *both, n_own = is_clangs ? 4 : 3;
	char edited[17];
	char **argv = vprof_flow_unit_is_edited(r, unit, edited) ? vprof_replay_command(r, unit, output) :
								   vprof_original_command(unit, output);
	char **grown;

	while (argv && argv[n])
		n++;
	grown = argv ? realloc(argv, (n + n_both + n_own + 1) * sizeof *argv) : NULL;
	if (!grown) {
		vprof_words_free(argv);
		return NULL;
	}
	for (size_t i = 0; i < n_both + n_own; i++) {
		grown[n] = strdup(i < n_both ? both[i] : own[i - n_both]);
		if (!grown[n++]) {
			vprof_words_free(grown);
			return NULL;
		}
	}
	grown[n] = NULL;
	for (size_t i = 0; to_assembly && i < n; i++)
		if (!strcmp(grown[i], "-c"))
			grown[i][1] = 'S';
	return grown;
}

static int run(struct vprof_replayer *r, struct vprof_unit *unit, const char *const *argv, struct vprof_error *err)
{
	struct vprof_process p = { .argv = argv, .directory = unit->tu->directory, .captured = &unit->messages };
	struct vprof_process_result result;
	int rc = vprof_process_run(&p, &result, err);

	if (rc || !result.status)
		return rc;
	return vprof_error_set(err, VPROF_ERR_BUILD, "%s cannot be prepared for discovery: %s failed\n%s",
			       vprof_replay_short(r, unit->tu->path), argv[0], unit->messages.s);
}

/* From assembly to an object, in place. */
static int assemble(struct vprof_replayer *r, struct vprof_unit *unit, const char *made, struct vprof_error *err)
{
	struct vprof_text text = VPROF_TEXT_INIT, edited = VPROF_TEXT_INIT, path = VPROF_TEXT_INIT;
	int rc = vprof_file_read(made, &text, err);
	char **argv = NULL;

	vprof_text_addf(&path, "%s.s", made);
	if (!rc && vprof_flow_assembly_edit(&text, &edited))
		vprof_text_add(&unit->messages, "  atomic instructions of its inline assembly are told\n");
	if (!rc && !path.failed && !edited.failed)
		argv = vprof_assemble_command(unit, path.s, made);
	if (!rc && !argv)
		rc = vprof_error_no_memory(err);
	if (!rc)
		rc = vprof_file_write(path.s, edited.s ? edited.s : "", edited.len, err);
	if (!rc)
		rc = run(r, unit, (const char *const *)argv, err);
	if (path.s)
		unlink(path.s);
	vprof_words_free(argv);
	vprof_text_release(&text);
	vprof_text_release(&edited);
	vprof_text_release(&path);
	return rc;
}

int vprof_flow_join(struct vprof_replayer *r, struct vprof_unit *unit, const char *made, struct vprof_error *err)
{
	const char *compiler = unit->command.argv[unit->command.compiler];
	struct vprof_text joined = VPROF_TEXT_INIT;
	const char *const renames[] = { "objcopy", "--redefine-sym=memcpy=vp_flow_memcpy",
					"--redefine-sym=memmove=vp_flow_memmove", made, NULL };
	const char *joins[] = { compiler, "-r", "-nostdlib", "-o", NULL, made, r->o->flows->object, NULL };
	int rc;

	vprof_text_addf(&joined, "%s.joined", made);
	joins[4] = joined.s;
	rc = joined.failed ? vprof_error_no_memory(err) : VPROF_OK;
	if (!rc && is_assembled(r, unit))
		rc = assemble(r, unit, made, err);
	if (!rc)
		rc = run(r, unit, renames, err);
	if (!rc)
		rc = run(r, unit, joins, err);
	if (!rc)
		rc = vprof_replay_install(joined.s, made, err);
	vprof_text_release(&joined);
	return rc;
}
