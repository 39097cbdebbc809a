/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "render.h"

static NOINLINE void load_template(struct request *r)
{
	PLANT_SPIN(r->ns[LOAD_TEMPLATE], r->took[LOAD_TEMPLATE]);
}

static NOINLINE void render_page(struct request *r)
{
	PLANT_SPIN(r->ns[RENDER_PAGE], r->took[RENDER_PAGE]);
}

static NOINLINE void serve(struct request *r)
{
	vprof_resume("request", r->id);
	r->took[QUEUED] = PLANT_NOW() - r->enqueued;
	load_template(r);
	render_page(r);
	r->end = PLANT_NOW();
	vprof_end("request", r->id);
}

void *worker_main(void *queue)
{
	struct request *r;

	while ((r = queue_pop(queue)))
		serve(r);
	return NULL;
}
