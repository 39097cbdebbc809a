/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Stands for the recorder in a vprof that was built without the tools for it: nothing can be opened. */
#include <stdio.h>
#include <string.h>

#include "recorder/recorder.h"
#include "recorder/requirements.h"

#define ABSENT "this vprof was built without its kernel recorder"
#define ADVICE "Install clang-19, bpftool and libbpf-dev, and build vprof again (./setup does both)"

size_t vprof_recorder_requirements(struct vprof_requirement rows[VPROF_REQUIREMENTS_MAX])
{
	rows[0] = (struct vprof_requirement){ .name = "recorder", .state = VPROF_REQUIREMENT_UNMET };
	snprintf(rows[0].detail, sizeof rows[0].detail, "%s", ABSENT);
	snprintf(rows[0].advice, sizeof rows[0].advice, "%s", ADVICE);
	return 1;
}

int vprof_recorder_require(struct vprof_error *err)
{
	return vprof_error_set(err, VPROF_ERR_MISSING, "%s. %s", ABSENT, ADVICE);
}

int vprof_recorder_has_tracepoint(const char *name)
{
	(void)name;
	return 0;
}

int vprof_recorder_open(struct vprof_recorder **out, const struct vprof_recorder_options *o, struct vprof_error *err)
{
	(void)o;
	*out = NULL;
	return vprof_recorder_require(err);
}

int vprof_recorder_add(struct vprof_recorder *r, pid_t pid, struct vprof_error *err)
{
	(void)r, (void)pid;
	return vprof_recorder_require(err);
}

size_t vprof_recorder_drain(struct vprof_recorder *r)
{
	(void)r;
	return 0;
}

long vprof_recorder_pause_ns(const struct vprof_recorder *r, size_t n)
{
	(void)r, (void)n;
	return 0;
}

void vprof_recorder_flush(struct vprof_recorder *r)
{
	(void)r;
}

int vprof_recorder_has_followed(const struct vprof_recorder *r)
{
	(void)r;
	return 0;
}

int vprof_recorder_has_targets(const struct vprof_recorder *r)
{
	(void)r;
	return 0;
}

void vprof_recorder_look(const struct vprof_recorder *r, struct vprof_recorder_state *state)
{
	(void)r;
	memset(state, 0, sizeof *state);
}

void vprof_recorder_stop(struct vprof_recorder *r)
{
	(void)r;
}

void vprof_recorder_close(struct vprof_recorder *r)
{
	(void)r;
}
