/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The page without its data, made by report/page/bundle.cmake. The data stand where the mark is. */
#ifndef VPROF_PAGE_TEMPLATE_H
#define VPROF_PAGE_TEMPLATE_H

#define VPROF_PAGE_MARK "@VPROF_DATA@"

extern const char vprof_page_template[]; /* NUL-terminated */

#endif
