/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Preloaded into the ranks of an analysis: KILL_RANK dies by SIGKILL as it comes to its KILL_AT-th gather. The others
 * wait for it there, so nothing of what happens next depends on who is fast. Ranks that live tell how many gathers
 * there were. */
#include <mpi.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

static int n_gathers;

int MPI_Allgather(const void *mine, int n_mine, MPI_Datatype type_mine, void *all, int n_all, MPI_Datatype type_all,
		  MPI_Comm comm)
{
	const char *at = getenv("KILL_AT"), *victim = getenv("KILL_RANK"), *rank = getenv("OMPI_COMM_WORLD_RANK");

	n_gathers++;
	if (at && victim && rank && atoi(victim) == atoi(rank) && n_gathers == atoi(at))
		kill(getpid(), SIGKILL);
	return PMPI_Allgather(mine, n_mine, type_mine, all, n_all, type_all, comm);
}

int MPI_Finalize(void)
{
	const char *rank = getenv("OMPI_COMM_WORLD_RANK");

	fprintf(stderr, "rank %s: %d gathers\n", rank ? rank : "?", n_gathers);
	return PMPI_Finalize();
}
