/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "analysis/requests/requests.h"

int vprof_requests_find(struct vprof_requests *r, struct vprof_socket_history *h, struct vprof_error *err)
{
	int ret;

	memset(r, 0, sizeof *r);
	r->history = h;
	ret = vprof_socket_history_check(h, err);
	if (ret)
		return ret;
	ret = vprof_socket_history_sort(h) ? VPROF_ERR_NOMEM : VPROF_OK;
	if (!ret)
		ret = vprof_connections_find(&r->connections, h);
	if (!ret)
		ret = vprof_connections_leave_out_inside(&r->connections, h);
	if (!ret)
		ret = vprof_connections_settle_sends(&r->connections, h);
	if (!ret)
		ret = vprof_exchanges_find(&r->exchanges, h, &r->connections);
	if (!ret)
		ret = vprof_causality_find(&r->causality, h, &r->connections, &r->exchanges);
	if (!ret)
		ret = vprof_request_trees_build(&r->trees, &r->exchanges, h, &r->causality);
	if (!ret)
		ret = vprof_socket_clocks_find(&r->clocks, h, &r->connections);
	return ret ? vprof_error_no_memory(err) : VPROF_OK;
}

void vprof_requests_release(struct vprof_requests *r)
{
	vprof_connections_release(&r->connections);
	vprof_exchanges_release(&r->exchanges);
	vprof_causality_release(&r->causality);
	vprof_request_trees_release(&r->trees);
	vprof_host_clocks_release(&r->clocks);
}
