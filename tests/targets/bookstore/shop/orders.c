/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The pages by which a customer buys. Carts and customers are made by the load's data, so that a page needs no other
 * before it. */
#include "pages.h"

static void cart(struct interaction *x)
{
	list(x,
	     "SELECT i_title, scl_qty, i_cost FROM shopping_cart_line JOIN item ON i_id = scl_i_id WHERE scl_sc_id = %lu",
	     x->cart);
}

void page_shopping_cart(struct interaction *x)
{
	ask(x, "INSERT INTO shopping_cart_line VALUES (%lu, %lu, 1) ON DUPLICATE KEY UPDATE scl_qty = scl_qty %% 9 + 1",
	    x->cart, x->item);
	ask(x, "UPDATE shopping_cart SET sc_time = NOW() WHERE sc_id = %lu", x->cart);
	cart(x);
	list(x, "SELECT i_id, i_thumbnail FROM item WHERE i_id = %lu", x->item);
}

void page_customer_registration(struct interaction *x)
{
	list(x, "SELECT c_uname FROM customer WHERE c_id = %lu", x->customer);
	add(x, "<form action=buy_request><input name=name></form>\n");
}

void page_buy_request(struct interaction *x)
{
	list(x, "SELECT c_fname, c_lname, c_discount FROM customer WHERE c_id = %lu", x->customer);
	ask(x, "UPDATE customer SET c_login = NOW() WHERE c_id = %lu", x->customer);
	cart(x);
}

void page_buy_confirm(struct interaction *x)
{
	unsigned long order;

	ask(x, "INSERT INTO orders (o_c_id, o_date, o_total, o_status) VALUES (%lu, NOW(), 30, 'PENDING')",
	    x->customer);
	order = (unsigned long)mysql_insert_id(x->database);
	for (int i = 0; i < 3; i++)
		ask(x, "INSERT INTO order_line VALUES (%lu, %d, %lu, 1)", order, i,
		    (x->item + 17UL * (unsigned)i) % 10000 + 1);
	ask(x, "UPDATE item SET i_stock = IF(i_stock > 10, i_stock - 1, i_stock + 21) WHERE i_id = %lu", x->item);
	ask(x, "INSERT INTO cc_xacts VALUES (%lu, 'VISA', NOW(), 30)", order);
	ask(x, "UPDATE shopping_cart_line SET scl_qty = 1 WHERE scl_sc_id = %lu", x->cart);
	add(x, "<p>Order %lu\n", order);
}

void page_order_inquiry(struct interaction *x)
{
	list(x, "SELECT c_uname FROM customer WHERE c_id = %lu", x->customer);
	add(x, "<form action=order_display><input name=name><input name=password></form>\n");
}

void page_order_display(struct interaction *x)
{
	unsigned long order = number(x, "SELECT MAX(o_id) FROM orders WHERE o_c_id = %lu", x->customer);

	list(x,
	     "SELECT o_date, o_total, o_status, c_fname, c_lname FROM orders JOIN customer ON c_id = o_c_id WHERE o_id = %lu",
	     order);
	list(x, "SELECT i_title, ol_qty, i_cost FROM order_line JOIN item ON i_id = ol_i_id WHERE ol_o_id = %lu",
	     order);
}

const struct page pages[] = {
	{ "home", page_home },
	{ "new_products", page_new_products },
	{ "best_sellers", page_best_sellers },
	{ "product_detail", page_product_detail },
	{ "search_request", page_search_request },
	{ "search_result", page_search_result },
	{ "shopping_cart", page_shopping_cart },
	{ "customer_registration", page_customer_registration },
	{ "buy_request", page_buy_request },
	{ "buy_confirm", page_buy_confirm },
	{ "order_inquiry", page_order_inquiry },
	{ "order_display", page_order_display },
	{ "admin_request", page_admin_request },
	{ "admin_confirm", page_admin_confirm },
};
const size_t n_pages = sizeof pages / sizeof *pages;
