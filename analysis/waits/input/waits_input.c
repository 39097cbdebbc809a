/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "analysis/waits/input/input.h"

uint32_t vprof_waits_input_add_stack(struct vprof_waits_input *input, uint64_t ids, const char *text)
{
	uint64_t *added = VPROF_PUSH(&input->stack_ids);
	const char **slot = added ? VPROF_PUSH(&input->history.stacks) : NULL;

	if (!slot)
		return VPROF_NONE;
	*added = ids;
	*slot = text;
	return (uint32_t)(input->history.stacks.n - 1);
}

int vprof_waits_input_stack_of_name(struct vprof_waits_input *input, const char *name, uint32_t *number)
{
	const char *text;
	uint32_t added;

	if (*number)
		return VPROF_OK;
	text = vprof_strings_keep(&input->strings, name);
	added = text ? vprof_waits_input_add_stack(input, 0, text) : VPROF_NONE;
	if (added == VPROF_NONE)
		return VPROF_ERR_NOMEM;
	*number = added;
	return VPROF_OK;
}

void vprof_waits_input_release(struct vprof_waits_input *input)
{
	vprof_waits_history_release(&input->history);
	vprof_strings_release(&input->strings);
	vprof_kernel_tables_release(&input->tables);
	VPROF_ARRAY_RELEASE(&input->stack_ids);
}
