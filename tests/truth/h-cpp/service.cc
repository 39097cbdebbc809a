/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "catalog.h"

namespace catalog
{

NOINLINE void Service::parse(Request &r)
{
	PLANT_SPIN(r.ns[PARSE], r.took[PARSE]);
}

NOINLINE void Service::recover(Request &r)
{
	PLANT_SPIN(r.ns[RECOVER], r.took[RECOVER]);
}

NOINLINE bool Service::find(Request &r)
{
	uint64_t before = PLANT_NOW();

	try {
		table_.lookup(r, r.id);
		r.took[LOOKUP].high = PLANT_NOW() - before;
		return true;
	} catch (const NotFound &) {
		// Its time ends on the way here, while the exception is in flight.
		r.took[LOOKUP].high = PLANT_NOW() - before;
		PLANT_CALL(r.took[RECOVER], recover(r));
		return false;
	}
}

NOINLINE void Service::handle(Request &r)
{
	bool found;

	PLANT_CALL(r.took[PARSE], parse(r));
	PLANT_CALL(r.took[FIND], found = find(r));
	if (!found)
		return;
	PLANT_CALL(r.took[RENDER], renderer_->render(r));
}

} // namespace catalog
