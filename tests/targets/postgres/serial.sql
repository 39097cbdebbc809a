-- SPDX-License-Identifier: GPL-3.0-or-later
\set aid random(1, 100000 * :scale - 400)
\set rows random(1, 400)
\set other random(1, 100000 * :scale)
\set delta random(-5000, 5000)
BEGIN ISOLATION LEVEL SERIALIZABLE\;
SELECT sum(abalance) FROM pgbench_accounts WHERE aid BETWEEN :aid AND :aid + :rows\;
UPDATE pgbench_accounts SET abalance = abalance + :delta WHERE aid = :other\;
END;
