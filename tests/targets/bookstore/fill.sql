-- SPDX-License-Identifier: GPL-3.0-or-later
-- The shop's tables: 10,000 books, 2,880 customers, 10,000 orders of three lines. ENGINE is replaced. The same rows each time.
CREATE DATABASE shop;
USE shop;
SET max_recursive_iterations = 100000;
CREATE TABLE author (a_id INT PRIMARY KEY, a_fname VARCHAR(20), a_lname VARCHAR(20), a_bio TEXT, KEY (a_lname)) ENGINE=ENGINE;
CREATE TABLE item (
	i_id INT PRIMARY KEY, i_title VARCHAR(60), i_a_id INT, i_pub_date DATE, i_publisher VARCHAR(60), i_subject INT,
	i_desc TEXT, i_related1 INT, i_related2 INT, i_related3 INT, i_related4 INT, i_related5 INT,
	i_thumbnail VARCHAR(60), i_image VARCHAR(60), i_cost DOUBLE, i_stock INT,
	KEY (i_title), KEY (i_subject), KEY (i_a_id)) ENGINE=ENGINE;
CREATE TABLE customer (c_id INT PRIMARY KEY, c_uname VARCHAR(20), c_fname VARCHAR(20), c_lname VARCHAR(20), c_login DATETIME,
	c_discount DOUBLE, UNIQUE KEY (c_uname)) ENGINE=ENGINE;
CREATE TABLE orders (o_id INT PRIMARY KEY AUTO_INCREMENT, o_c_id INT, o_date DATETIME, o_total DOUBLE, o_status VARCHAR(15),
	KEY (o_c_id)) ENGINE=ENGINE;
CREATE TABLE order_line (ol_o_id INT, ol_id INT, ol_i_id INT, ol_qty INT, PRIMARY KEY (ol_o_id, ol_id), KEY (ol_i_id)) ENGINE=ENGINE;
CREATE TABLE cc_xacts (cx_o_id INT PRIMARY KEY, cx_type VARCHAR(10), cx_time DATETIME, cx_amount DOUBLE) ENGINE=ENGINE;
CREATE TABLE shopping_cart (sc_id INT PRIMARY KEY, sc_time DATETIME) ENGINE=ENGINE;
CREATE TABLE shopping_cart_line (scl_sc_id INT, scl_i_id INT, scl_qty INT, PRIMARY KEY (scl_sc_id, scl_i_id)) ENGINE=ENGINE;

INSERT INTO author WITH RECURSIVE n AS (SELECT 1 AS i UNION ALL SELECT i + 1 FROM n WHERE i < 2500)
	SELECT i, CONCAT('first', i % 70), CONCAT('last', i), REPEAT('bio ', 100) FROM n;
INSERT INTO item WITH RECURSIVE n AS (SELECT 1 AS i UNION ALL SELECT i + 1 FROM n WHERE i < 10000)
	SELECT i, CONCAT('a word', i * 7919 % 500, ' of book ', i), i % 2500 + 1, DATE_ADD('1990-01-01', INTERVAL i * 31 % 9000 DAY),
		CONCAT('publisher ', i % 40), i * 13 % 24, REPEAT('described ', 40), i * 3 % 10000 + 1, i * 5 % 10000 + 1, i * 7 % 10000 + 1,
		i * 11 % 10000 + 1, i * 17 % 10000 + 1, CONCAT('thumb_', i, '.gif'), CONCAT('image_', i, '.gif'), 5 + i % 80, 10 + i % 20
	FROM n;
INSERT INTO customer WITH RECURSIVE n AS (SELECT 1 AS i UNION ALL SELECT i + 1 FROM n WHERE i < 2880)
	SELECT i, CONCAT('user', i), CONCAT('first', i), CONCAT('last', i), NOW(), i % 50 / 100 FROM n;
INSERT INTO orders WITH RECURSIVE n AS (SELECT 1 AS i UNION ALL SELECT i + 1 FROM n WHERE i < 10000)
	SELECT i, i * 7 % 2880 + 1, DATE_ADD('2006-01-01', INTERVAL i MINUTE), 30 + i % 70, 'SHIPPED' FROM n;
INSERT INTO order_line WITH RECURSIVE n AS (SELECT 1 AS i UNION ALL SELECT i + 1 FROM n WHERE i < 30000)
	SELECT (i - 1) DIV 3 + 1, i % 3, i * i % 9973 + 1, i % 5 + 1 FROM n;
INSERT INTO cc_xacts WITH RECURSIVE n AS (SELECT 1 AS i UNION ALL SELECT i + 1 FROM n WHERE i < 10000)
	SELECT i, 'VISA', NOW(), 30 FROM n;
INSERT INTO shopping_cart WITH RECURSIVE n AS (SELECT 1 AS i UNION ALL SELECT i + 1 FROM n WHERE i < 200) SELECT i, NOW() FROM n;
INSERT INTO shopping_cart_line WITH RECURSIVE n AS (SELECT 1 AS i UNION ALL SELECT i + 1 FROM n WHERE i < 600)
	SELECT (i - 1) DIV 3 + 1, i * 37 % 10000 + 1, 1 FROM n;
