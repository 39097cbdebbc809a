/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The transport of an analysis over MPI: two collective operations. Called by one thread only. */
#include "analysis/results/mpi/transport.h"

#include <mpi.h>
#include <stdio.h>

#define PIECE ((size_t)1 << 30) /* MPI counts in ints */

#define EXPORTED __attribute__((visibility("default")))
EXPORTED vprof_mpi_begin_fn vprof_mpi_begin;
EXPORTED vprof_mpi_end_fn vprof_mpi_end;

static int all_gather(struct vprof_transport *t, const void *mine, size_t n_bytes, void *all)
{
	(void)t;
	return MPI_Allgather(mine, (int)n_bytes, MPI_BYTE, all, (int)n_bytes, MPI_BYTE, MPI_COMM_WORLD) == MPI_SUCCESS ?
		       0 :
		       VPROF_ERR_FAILED;
}

static int broadcast(struct vprof_transport *t, void *bytes, size_t n_bytes, int from)
{
	(void)t;
	for (size_t at = 0; at < n_bytes; at += PIECE) {
		size_t n = n_bytes - at < PIECE ? n_bytes - at : PIECE;

		if (MPI_Bcast((char *)bytes + at, (int)n, MPI_BYTE, from, MPI_COMM_WORLD) != MPI_SUCCESS)
			return VPROF_ERR_FAILED;
	}
	return 0;
}

int vprof_mpi_begin(struct vprof_transport *t, int version, char *message, size_t n_bytes)
{
	int has;

	if (version != VPROF_MPI_VERSION) {
		snprintf(message, n_bytes,
			 "vprof-mpi.so belongs to another version of vprof: install the same version of both");
		return -1;
	}
	if (MPI_Init_thread(NULL, NULL, MPI_THREAD_FUNNELED, &has) != MPI_SUCCESS || has < MPI_THREAD_FUNNELED) {
		snprintf(message, n_bytes, "this MPI does not support multithreaded programs");
		return -1;
	}
	MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
	MPI_Comm_rank(MPI_COMM_WORLD, &t->rank);
	MPI_Comm_size(MPI_COMM_WORLD, &t->n_ranks);
	t->all_gather = all_gather;
	t->broadcast = broadcast;
	return 0;
}

void vprof_mpi_end(struct vprof_transport *t)
{
	(void)t;
	MPI_Finalize();
}
