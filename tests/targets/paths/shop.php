<?php
// SPDX-License-Identifier: GPL-3.0-or-later
// The same application in PHP: one connection to MariaDB for each request that needs it.
const PLANTED_S = 0.3;
const LOCKED_S = 0.05;
$identifier = $_SERVER['HTTP_X_REQUEST_ID'] ?? 'none';
$path = $_SERVER['PATH_INFO'] ?? '/none';
$plant = getenv('SHOP_PLANT');

function note($line) {
	file_put_contents(getenv('SHOP_TRUTH'), $line . "\n", FILE_APPEND);
}

function ask($statement) {
	global $database, $identifier;
	$rows = mysqli_query($database, "$statement /* $identifier */");
	return $rows instanceof mysqli_result ? mysqli_fetch_all($rows) : [];
}

note("$identifier begin 0");
if ($path != '/none') {
	$database = mysqli_connect('127.0.0.1', 'shop', '', 'shop', (int)getenv('SHOP_DATABASE'));
	$host = ask('SELECT host FROM information_schema.processlist WHERE id = connection_id()')[0][0];
	note("$identifier {$database->thread_id} " . explode(':', $host)[1]);
}
switch ($path) {
case '/item':
	ask('SELECT * FROM item WHERE id = ' . rand(0, 999));
	break;
case '/list':
	foreach ([0, 100, 200] as $first)
		ask("SELECT * FROM item WHERE id BETWEEN $first AND $first + 99");
	break;
case '/order':
	ask('BEGIN');
	ask('SELECT * FROM item WHERE id = ' . rand(1, 999));
	ask('UPDATE item SET stock = stock + 1 WHERE id = ' . rand(1, 999));
	ask('COMMIT');
	break;
case '/planted': // a query type, a lock in the database, or the application itself
	if ($plant == 'slow-query') {
		ask('SELECT sleep(' . PLANTED_S . ')');
	} elseif ($plant == 'lock') {
		ask('BEGIN');
		ask('UPDATE item SET stock = stock + 1 WHERE id = 0');
		usleep(LOCKED_S * 1e6);
		ask('COMMIT');
	} else {
		ask('SELECT 1');
		usleep(PLANTED_S * 1e6);
	}
	break;
}
if ($path != '/none')
	mysqli_close($database);
echo str_repeat("done\n", 100);
