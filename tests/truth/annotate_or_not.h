/* SPDX-License-Identifier: GPL-3.0-or-later */
/* vprof.h where vprof builds the program, nothing where it is built alone. */
#ifndef ANNOTATE_OR_NOT_H
#define ANNOTATE_OR_NOT_H

#if defined(__has_include)
#if __has_include(<vprof.h>)
#include <vprof.h>
#define HAVE_VPROF_H 1
#endif
#endif

#ifndef HAVE_VPROF_H
#define vprof_begin(name, id) ((void)(id))
#define vprof_resume(name, id) ((void)(id))
#define vprof_suspend(name, id) ((void)(id))
#define vprof_end(name, id) ((void)(id))
#define vprof_enqueue(item) ((void)(item))
#define vprof_dequeue(item) ((void)(item))
#endif

#endif
