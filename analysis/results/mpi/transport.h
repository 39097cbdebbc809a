/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What vprof-mpi.so exports. `vprof analyze --mpi` loads it at run time, so that vprof runs where there is no MPI. */
#ifndef VPROF_MPI_TRANSPORT_H
#define VPROF_MPI_TRANSPORT_H

#include "analysis/results/exchange.h"

#define VPROF_MPI_VERSION 1 /* of these functions and of struct vprof_transport */

/* Joins the other ranks that mpirun started. 0, or -1 with a message. */
typedef int vprof_mpi_begin_fn(struct vprof_transport *transport, int version, char *message, size_t n_bytes);
/* Leaves them, when all ranks are through. */
typedef void vprof_mpi_end_fn(struct vprof_transport *transport);

#define VPROF_MPI_BEGIN "vprof_mpi_begin"
#define VPROF_MPI_END "vprof_mpi_end"

#endif
