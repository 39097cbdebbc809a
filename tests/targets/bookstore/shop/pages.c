/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The pages by which a customer looks for books, and those of the shop's keeper. Which tables a page reads and writes
 * is as TPC-W says. */
#include "pages.h"

#define OF_ITEM "i_id, i_title, a_fname, a_lname, i_cost"

static void promotions(struct interaction *x)
{
	list(x,
	     "SELECT r.i_id, r.i_thumbnail FROM item i JOIN item r ON r.i_id IN "
	     "(i.i_related1, i.i_related2, i.i_related3, i.i_related4, i.i_related5) WHERE i.i_id = %lu",
	     x->item);
}

void page_home(struct interaction *x)
{
	list(x, "SELECT c_fname, c_lname FROM customer WHERE c_id = %lu", x->customer);
	promotions(x);
}

void page_new_products(struct interaction *x)
{
	list(x,
	     "SELECT " OF_ITEM " FROM item JOIN author ON a_id = i_a_id WHERE i_subject = %lu "
	     "ORDER BY i_pub_date DESC, i_title LIMIT 50",
	     x->subject);
}

/* The books of a subject of which most were sold in the last 3,333 orders. */
void page_best_sellers(struct interaction *x)
{
	unsigned long last = number(x, "SELECT MAX(o_id) FROM orders");

	list(x,
	     "SELECT " OF_ITEM ", SUM(ol_qty) AS sold FROM order_line JOIN item ON i_id = ol_i_id "
	     "JOIN author ON a_id = i_a_id WHERE ol_o_id > %lu AND i_subject = %lu "
	     "GROUP BY i_id, i_title, a_fname, a_lname, i_cost ORDER BY sold DESC LIMIT 50",
	     last > 3333 ? last - 3333 : 0, x->subject);
}

void page_product_detail(struct interaction *x)
{
	list(x,
	     "SELECT " OF_ITEM ", i_desc, i_publisher, i_pub_date, i_stock, i_image FROM item "
	     "JOIN author ON a_id = i_a_id WHERE i_id = %lu",
	     x->item);
}

void page_search_request(struct interaction *x)
{
	promotions(x);
	add(x, "<form action=search_result><input name=word></form>\n");
}

/* By a word of the title: no index helps. */
void page_search_result(struct interaction *x)
{
	list(x,
	     "SELECT " OF_ITEM " FROM item JOIN author ON a_id = i_a_id WHERE i_title LIKE '%%word%lu %%' "
	     "ORDER BY i_title LIMIT 50",
	     x->word);
}

void page_admin_request(struct interaction *x)
{
	list(x, "SELECT " OF_ITEM ", i_image, i_thumbnail FROM item JOIN author ON a_id = i_a_id WHERE i_id = %lu",
	     x->item);
}

/* Sets a book's price, and the five that those who bought it bought most often. */
void page_admin_confirm(struct interaction *x)
{
	unsigned long related[5] = { 1, 2, 3, 4, 5 }, last = number(x, "SELECT MAX(o_id) FROM orders");
	MYSQL_RES *rows;
	MYSQL_ROW row;

	rows = ask(x,
		   "SELECT o.ol_i_id, SUM(o.ol_qty) AS sold FROM order_line b JOIN orders p ON p.o_id = b.ol_o_id "
		   "JOIN orders q ON q.o_c_id = p.o_c_id JOIN order_line o ON o.ol_o_id = q.o_id "
		   "WHERE b.ol_i_id = %lu AND b.ol_o_id > %lu AND o.ol_i_id <> b.ol_i_id GROUP BY o.ol_i_id "
		   "ORDER BY sold DESC LIMIT 5",
		   x->item, last > 10000 ? last - 10000 : 0);
	for (int i = 0; rows && i < 5 && (row = mysql_fetch_row(rows)) && row[0]; i++)
		related[i] = strtoul(row[0], NULL, 10);
	if (rows)
		mysql_free_result(rows);
	ask(x,
	    "UPDATE item SET i_cost = i_cost * 0.99 + 0.1, i_pub_date = CURRENT_DATE, i_related1 = %lu, i_related2 = %lu, "
	    "i_related3 = %lu, i_related4 = %lu, i_related5 = %lu WHERE i_id = %lu",
	    related[0], related[1], related[2], related[3], related[4], x->item);
	list(x, "SELECT " OF_ITEM ", i_image FROM item JOIN author ON a_id = i_a_id WHERE i_id = %lu", x->item);
}
