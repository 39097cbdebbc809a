/* SPDX-License-Identifier: GPL-3.0-or-later */
/* .vprof/state.json: for each file of ours its fingerprint and the hashes of all that we ever put there.
 *
 * Invariant: the hash of what replaces a file is in state.json before the file is replaced; so an interrupted replay
 * can always tell an original from our own output.
 */
#ifndef VPROF_REPLAY_STATE_H
#define VPROF_REPLAY_STATE_H

#include <stddef.h>

#include "common/error.h"

struct vprof_made {		     /* a file that we put somewhere */
	char *path, fingerprint[17]; /* empty: not edited now; "?": being replaced */
	char (*hashes)[17];	     /* all that we ever put there, the last one last */
	size_t n_hashes;
};

struct vprof_replay_state {
	char *vprof_dir;
	struct vprof_made *objects, *artefacts;
	size_t n_objects, n_artefacts;
	int relinking;	   /* a relink began and did not end */
	int direct_link;   /* the build command recompiles everything: run the recorded link commands instead */
	int links_library; /* programs are linked with libvprof.so, which the build command knows nothing of */
};

/* Without state.json: an empty state. CORRUPT when it is damaged. Release it also after an error. */
int vprof_state_read(struct vprof_replay_state *s, const char *vprof_dir, struct vprof_error *err);
int vprof_state_write(const struct vprof_replay_state *s, struct vprof_error *err);
void vprof_state_release(struct vprof_replay_state *s);
struct vprof_made *vprof_made_find(struct vprof_made *list, size_t n, const char *path);
/* Finds or adds; remembers the hash (NULL: none) as the last one put there. NULL when out of memory. */
struct vprof_made *vprof_made_note(struct vprof_made **list, size_t *n, const char *path, const char *hash);
int vprof_made_has(const struct vprof_made *made, const char *hash);

#endif
