// Methods, constructors, destructors, virtual calls, operators.
#include <cstring>
namespace shop {
struct Base {
  Base() {}
  virtual ~Base() { clear(); }
  virtual int price() const { return 1; }
  void clear() { count = 0; }
  int count = 0;
};
struct Item final : Base {
  int price() const override { return Base::price() + 2; }
};
struct Gift : Base {
  explicit Gift(int n) : Base(), size(n) {}
  int price() const override { return 0; }
  Gift operator+(const Gift &o) const { return Gift(size + o.size); }
  Gift(const Gift &) = default;
  int size;
};
int total(const Base &b, const Item &i) { return b.price() + i.price(); }
int &reference(int &a) { return a; }
} // namespace shop
// expect function shop::Base::price reason= `signature=int (void)` exits=1 editable=1
// expect function shop::Base::Base reason=
// expect function shop::Base::~Base reason=
// expect function shop::Gift::Gift count=1
// expect function shop::reference kind=reference
// expect call shop::total price kind=virtual text=b.price() form=value
// expect call shop::total price kind=direct text=i.price()
// expect call shop::Item::price price kind=direct text=Base::price()
// expect edge shop::total shop::Base::price
// expect edge shop::total shop::Item::price
// expect edge shop::total shop::Gift::price
// expect edge shop::Base::~Base shop::Base::clear
// expect edge shop::Gift::Gift shop::Base::Base
// expect edge shop::Gift::operator+ shop::Gift::Gift
void use(shop::Gift *g, char *to) {
  shop::Item item;
  memset(to, 0, 3);
  // expect call use memset wrappable=1 `text=memset(to, 0, 3)`
  shop::Gift sum = *g + *g;
  // expect call use operator+ kind=direct form=scope `text=*g + *g`
  delete g;
  // expect call use ~Base count=0
}
/* SPDX-License-Identifier: GPL-3.0-or-later */
