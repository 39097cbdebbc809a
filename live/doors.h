/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The door of a running process (runtime/join/door.h), from outside: found in its memory, knocked at, looked at. */
#ifndef VPROF_DOORS_H
#define VPROF_DOORS_H

#include "live/process_memory.h"
#include "runtime/join/door.h"

struct vprof_door {
	struct vprof_process_memory memory;
	uint64_t address;  /* 0: none */
	uint8_t invited;   /* the number of our invitation, 0: none */
	uint64_t nonce;	   /* of the memory that it is invited to */
	uint64_t image[2]; /* device and inode of the program: it has another door after an exec */
};

/* Opens the process's memory, finds its door, and locks it against other vprofs until it is closed; waits at most
 * wait_s for another's lock. MISSING: it has ended, or executes a program; INPUT: it has no door; FAILED: it may not be
 * written to, or has one of another version, or another vprof has it. */
int vprof_door_open(struct vprof_door *d, pid_t pid, double wait_s, struct vprof_error *err);
void vprof_door_close(struct vprof_door *d);

/* Invites it to the shared memory at `path`. MISSING or FAILED as writing its memory. */
int vprof_door_invite(struct vprof_door *d, const char *path, uint64_t nonce, struct vprof_error *err);
/* OK with *joined 1 (it takes part), 0 (it has not come by yet, or it had to wait); FAILED with the reason it gave. */
int vprof_door_look(struct vprof_door *d, int *joined, struct vprof_error *err);
/* Of a door that is closed, too: does the process run another program than when it was opened? */
int vprof_door_is_other_program(const struct vprof_door *d);
/* Takes an invitation back that was not answered. */
void vprof_door_withdraw(struct vprof_door *d);

#endif
