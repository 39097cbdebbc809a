/* SPDX-License-Identifier: GPL-3.0-or-later */
// (h) Methods, templates, overrides, early returns, exceptions and RAII. The cause is Table<Key>::rebuild, a method of
// a class template, on the way to which half of the requests leave early or throw. Annotated by calls in the code.
#ifndef CATALOG_H
#define CATALOG_H

#include <cstdint>
#include <memory>
#include <stdexcept>
#include <string>

#include "annotate_or_not.h"
#include "plant.h"

namespace catalog
{

enum { REQUEST, HANDLE, PARSE, FIND, RENDER, LOOKUP, RECOVER, PROBE, REBUILD, N_FACTORS };

struct Request {
	uint64_t id = 0;
	bool cached = false, missing = false;
	uint32_t ns[N_FACTORS] = {};
	plant_time took[N_FACTORS] = {};
};

class NotFound : public std::runtime_error
{
      public:
	explicit NotFound(const std::string &what) : std::runtime_error(what)
	{
	}
};

// Counts the requests inside; leaves on every path.
class Guard
{
      public:
	explicit Guard(int &inside) : inside_(inside)
	{
		++inside_;
	}
	~Guard()
	{
		--inside_;
	}
	Guard(const Guard &) = delete;
	Guard &operator=(const Guard &) = delete;

      private:
	int &inside_;
};

template <typename Key> class Table
{
      public:
	NOINLINE void lookup(Request &r, const Key &key)
	{
		Guard guard(inside_);

		PLANT_CALL(r.took[PROBE], probe(r));
		if (r.cached)
			return;
		if (r.missing)
			throw NotFound("no row for " + std::to_string(key));
		PLANT_CALL(r.took[REBUILD], rebuild(r));
	}
	int inside() const
	{
		return inside_;
	}

      private:
	NOINLINE void probe(Request &r)
	{
		PLANT_SPIN(r.ns[PROBE], r.took[PROBE]);
	}
	NOINLINE void rebuild(Request &r)
	{
		PLANT_SPIN(r.ns[REBUILD], r.took[REBUILD]);
	}

	int inside_ = 0;
};

class Renderer
{
      public:
	virtual ~Renderer() = default;
	virtual void render(Request &r) = 0;
};

std::unique_ptr<Renderer> make_renderer();

class Service
{
      public:
	Service() : renderer_(make_renderer())
	{
	}
	void handle(Request &r);
	bool idle() const
	{
		return table_.inside() == 0;
	}

      private:
	void parse(Request &r);
	void recover(Request &r);
	bool find(Request &r);

	Table<uint64_t> table_;
	std::unique_ptr<Renderer> renderer_;
};

} // namespace catalog

#endif
