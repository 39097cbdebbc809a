/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What vprof keeps between its commands: session, plan, replay's state and originals. The first byte chooses. */
#include <stdlib.h>
#include <string.h>

#include "cli/drilldown/session.h"
#include "common/files.h"
#include "common/plan.h"
#include "instrumenter/restore/originals.h"
#include "instrumenter/restore/replay_state.h"
#include "tests/fuzz/fuzz_file.h"

static void session(const uint8_t *data, size_t n)
{
	const char *path = fuzz_file("session.json", data, n);
	struct vprof_session s;
	struct vprof_error err = { "" };

	if (!vprof_session_load(&s, path, &err)) {
		struct vprof_session again;

		if (!vprof_session_save(&s, path, &err)) {
			if (vprof_session_load(&again, path, &err))
				abort();
			vprof_session_release(&again);
		}
	}
	vprof_session_release(&s);
}

static void plan(const uint8_t *data, size_t n)
{
	const char *path = fuzz_file("plan.json", data, n);
	struct vprof_plan *p = NULL, *again = NULL;
	struct vprof_error err = { "" };

	if (!vprof_plan_read(&p, path, &err) && !vprof_plan_write(p, path, &err) && vprof_plan_read(&again, path, &err))
		abort();
	vprof_plan_free(p);
	vprof_plan_free(again);
}

static void replay(const uint8_t *data, size_t n)
{
	struct vprof_replay_state s = { 0 };
	struct vprof_error err = { "" };

	fuzz_file("state.json", data, n);
	if (!vprof_state_read(&s, fuzz_dir(), &err))
		vprof_state_write(&s, &err);
	vprof_state_release(&s);
}

static void originals(const uint8_t *data, size_t n)
{
	struct vprof_originals o = { 0 };
	struct vprof_error err = { "" };

	fuzz_file("original.json", data, n);
	if (!vprof_originals_read(&o, fuzz_dir(), &err))
		vprof_originals_write(&o, &err);
	vprof_originals_release(&o);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n)
{
	static void (*const all[])(const uint8_t *data, size_t n) = { session, plan, replay, originals };

	if (n)
		all[data[0] % (sizeof all / sizeof *all)](data + 1, n - 1);
	return 0;
}
