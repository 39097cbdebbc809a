/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef PAGES_H
#define PAGES_H

#include <stdlib.h>

#include "shop.h"

void page_home(struct interaction *x);
void page_new_products(struct interaction *x);
void page_best_sellers(struct interaction *x);
void page_product_detail(struct interaction *x);
void page_search_request(struct interaction *x);
void page_search_result(struct interaction *x);
void page_shopping_cart(struct interaction *x);
void page_customer_registration(struct interaction *x);
void page_buy_request(struct interaction *x);
void page_buy_confirm(struct interaction *x);
void page_order_inquiry(struct interaction *x);
void page_order_display(struct interaction *x);
void page_admin_request(struct interaction *x);
void page_admin_confirm(struct interaction *x);

#endif
