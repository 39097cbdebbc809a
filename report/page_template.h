/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The pages without their data, made by report/page/bundle.cmake. The data stand where the mark is. */
#ifndef VPROF_PAGE_TEMPLATE_H
#define VPROF_PAGE_TEMPLATE_H

#define VPROF_PAGE_MARK "@VPROF_DATA@"

/* NUL-terminated */
extern const char vprof_page_template[], vprof_waits_page_template[], vprof_latency_page_template[],
	vprof_interval_page_template[], vprof_paths_page_template[];

#endif
