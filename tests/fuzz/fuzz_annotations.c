/* SPDX-License-Identifier: GPL-3.0-or-later */
/* vprof.json, which a person writes. */
#include "annotate/check/annotations.h"
#include "tests/fuzz/fuzz_file.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n)
{
	struct vprof_annotations *a = NULL;
	struct vprof_error err = { "" };

	vprof_annotations_read(&a, fuzz_file("vprof.json", data, n), &err);
	vprof_annotations_free(a);
	return 0;
}
