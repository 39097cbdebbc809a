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
	try {
		table_.lookup(r, r.id);
		return true;
	} catch (const NotFound &) {
		recover(r);
		return false;
	}
}

NOINLINE void Service::handle(Request &r)
{
	parse(r);
	if (!find(r))
		return;
	renderer_->render(r);
}

} // namespace catalog
