/* serve.c in C++; its headers are in the precompiled one. */
namespace {

void parse(request &r)
{
	r.key = r.number * 7;
}

void answer(request &r)
{
	r.result = mix(store_lookup(r.key), static_cast<unsigned>(r.number));
}

} // namespace

void serve(request *r)
{
	parse(*r);
	answer(*r);
}
/* SPDX-License-Identifier: GPL-3.0-or-later */
