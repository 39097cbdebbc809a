/* SPDX-License-Identifier: Apache-2.0 */
/* Where vprof asks a running process to record, and learns what it answered (docs/design/attach.md).
 *
 * The door lies in the library's own writable memory. vprof finds it by the note below, in the memory of the process,
 * and writes into it through /proc/PID/mem, which only the process's own user and root may do: first the path, then
 * `invited`. A thread that comes by a mark of an interval, or by an open probe, sees that `invited` differs from
 * `answered`, maps the file if it is the right one, and answers.
 */
#ifndef VPROF_RUNTIME_DOOR_H
#define VPROF_RUNTIME_DOOR_H

#include <stdatomic.h>
#include <stdint.h>

#define VP_DOOR_MAGIC UINT64_C(0x31726f6f645056) /* "VPdoor1"; changes with the layout */
#define VP_DOOR_NOTE "vprof"			 /* the note's name: 6 bytes with its end */
#define VP_DOOR_NOTE_TYPE 1u			 /* desc: int64_t, from its own address to the door */
#define VP_DOOR_PATH 64u

enum vp_door_answer {
	VP_DOOR_NONE,
	VP_DOOR_JOINED,
	VP_DOOR_NO_FILE, /* it cannot be opened: `error` */
	VP_DOOR_FOREIGN, /* it belongs to another user, or others may write to it */
	VP_DOOR_OVER,	 /* the session has ended, or its collector has died */
	VP_DOOR_OTHER,	 /* not the memory that was meant: damaged, or of another version */
	VP_DOOR_NO_ROOM	 /* no address space, or more than the process has room for: `error` */
};

struct vp_door {
	uint64_t magic;
	uint64_t shm_magic; /* VP_SHM_MAGIC and VP_FORMAT_VERSION of this library */
	uint32_t format;
	_Atomic uint8_t invited;  /* by vprof: 1 .. 255, another number for each invitation; 0: none yet */
	_Atomic uint8_t answered; /* by the process: the invitation that it has answered last */
	_Atomic uint8_t answer;	  /* enum vp_door_answer, before `answered` */
	uint8_t unused;
	_Atomic int32_t error;	 /* an errno */
	_Atomic uint32_t n_left; /* sessions that it took part in and has left */
	_Atomic uint64_t nonce;	 /* by vprof: that of the memory */
	_Atomic uint64_t joined; /* by the process: of the session in which it takes part; 0: it rests */
	char path[VP_DOOR_PATH];
};

#endif
