/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The names of disks and network interfaces, as KERNEL_DEVICE records. */
#ifndef VPROF_RECORDER_DEVICE_NAMES_H
#define VPROF_RECORDER_DEVICE_NAMES_H

#include "recorder/gather.h"

/* Adds a record for each disk and interface that the machine has now. Returns how many. */
size_t vprof_devices_add(struct vprof_gather *table);

#endif
