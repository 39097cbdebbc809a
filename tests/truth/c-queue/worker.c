/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "render.h"

static NOINLINE void load_template(struct request *r, struct plant_log *log)
{
	PLANT_STRETCH(log, r->ns[LOAD_TEMPLATE]);
}

static NOINLINE void render_page(struct request *r, struct plant_log *log)
{
	PLANT_STRETCH(log, r->ns[RENDER_PAGE]);
}

static NOINLINE void serve(struct request *r, struct worker *w)
{
	r->resumed.low = PLANT_NOW();
	vprof_resume("request", r->id);
	r->resumed.high = PLANT_NOW();
	PLANT_LOG(&w->templates, PLANT_CALL(r->took[LOAD_TEMPLATE], load_template(r, &w->templates)));
	PLANT_LOG(&w->pages, PLANT_CALL(r->took[RENDER_PAGE], render_page(r, &w->pages)));
	plant_log_last(&w->templates, &r->took[LOAD_TEMPLATE]);
	plant_log_last(&w->pages, &r->took[RENDER_PAGE]);
	r->worker = w->number;
	r->at.to = PLANT_NOW();
	vprof_end("request", r->id);
	r->at.after = PLANT_NOW();
}

void *worker_main(void *arg)
{
	struct worker *w = arg;
	struct request *r;

	while ((r = queue_pop(w->queue)))
		serve(r, w);
	return NULL;
}
