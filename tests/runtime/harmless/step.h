/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Between test_harmless_step.c and the code that it steps through, which is built into the program and into a shared
 * library. */
#ifndef VPROF_TESTS_RUNTIME_STEP_H
#define VPROF_TESTS_RUNTIME_STEP_H

#include <stdint.h>

/* Codes of the records. */
#define STEP_OUTER 0x161 /* the worker's own frame, around everything */
#define STEP_CALL 0x162
#define STEP_LEAF 0x163
#define STEP_ROOT 0x164
#define STEP_SITE 0x800165
#define STEP_HANDLER 0x166
#define STEP_FILL 0x167

enum step_phase { STEP_IDLE, STEP_BEGIN, STEP_HANDLED, STEP_END, STEP_DRAIN, STEP_OVER };

enum step_handler { STEP_NOTHING, STEP_PROBES, STEP_FLOOD, STEP_FORK, STEP_JUMP, STEP_N_HANDLERS };

/* of the target and its debugger, VPROF_TEST_SHARED */
struct step_shared {
	_Atomic int phase;
	_Atomic int contend, release;	  /* to the thread that holds the lock */
	_Atomic unsigned long handler_pc; /* where the handler returns to */
	_Atomic uint64_t n_filled, n_handled, n_forked, n_passages, n_bad_states;
	_Atomic uint64_t n_released; /* passages whose children may go on */
};

struct step_passage {
	const char *name;
	void (*prepare)(void); /* may be null */
	void (*run)(void);
	int n_frames;	  /* call records of STEP_CALL, STEP_LEAF, STEP_ROOT and STEP_SITE in one passage */
	int n_others;	  /* records of ENTER, BEGIN, END, TYPE, WORK and ENQUEUE */
	int forks, jumps; /* a handler may do so */
	int own_thread;	  /* a thread that has not met a probe yet */
	int in_library;	  /* has its own code there */
	int contends;
};

/* What the judged code offers; each module has its own thread-local state. */
struct step_code {
	const struct step_passage *passages;
	int n_passages;
	struct step_shared **shared;
	void (*outer)(void (*inside)(void));
	void (*handler_calls)(void);
	void (*fill)(uint64_t n);
	void (*delimit)(uint64_t i); /* a record between two passages: DEQUEUE */
	void (*state)(uint64_t *gate, const void **top);
};
extern const struct step_code step_code;

int step_target(char **argv);

#endif
