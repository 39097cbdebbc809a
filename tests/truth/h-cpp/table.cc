/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "catalog.h"

namespace catalog
{
namespace
{

class HtmlRenderer final : public Renderer
{
      public:
	NOINLINE void render(Request &r) override
	{
		PLANT_SPIN(r.ns[RENDER], r.took[RENDER]);
	}
};

} // namespace

std::unique_ptr<Renderer> make_renderer()
{
	return std::make_unique<HtmlRenderer>();
}

} // namespace catalog
