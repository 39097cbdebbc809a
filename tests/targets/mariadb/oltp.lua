-- SPDX-License-Identifier: GPL-3.0-or-later
-- The statements of sysbench's oltp_read_write in one stored procedure: a client sends a transaction as one CALL, so that its own time
-- between the statements is no part of the transaction.
require("oltp_common")

local body = [[
CREATE PROCEDURE transaction%d(size INT)
BEGIN
	DECLARE i, n INT DEFAULT 0;
	DECLARE number BIGINT;
	DECLARE text CHAR(120);
	START TRANSACTION;
	WHILE i < 10 DO
		SET n = 1 + FLOOR(RAND() * size), i = i + 1;
		SELECT c INTO text FROM sbtest%d WHERE id = n;
	END WHILE;
	SET n = 1 + FLOOR(RAND() * (size - 100));
	SELECT COUNT(c) INTO number FROM sbtest%d WHERE id BETWEEN n AND n + 99;
	SET n = 1 + FLOOR(RAND() * (size - 100));
	SELECT SUM(k) INTO number FROM sbtest%d WHERE id BETWEEN n AND n + 99;
	SET n = 1 + FLOOR(RAND() * (size - 100));
	SELECT c INTO text FROM sbtest%d WHERE id BETWEEN n AND n + 99 ORDER BY c LIMIT 1;
	SET n = 1 + FLOOR(RAND() * (size - 100));
	SELECT COUNT(DISTINCT c) INTO number FROM sbtest%d WHERE id BETWEEN n AND n + 99;
	SET n = 1 + FLOOR(RAND() * size);
	UPDATE sbtest%d SET k = k + 1 WHERE id = n;
	SET n = 1 + FLOOR(RAND() * size);
	UPDATE sbtest%d SET c = REVERSE(c) WHERE id = n;
	SET n = 1 + FLOOR(RAND() * size);
	DELETE FROM sbtest%d WHERE id = n;
	INSERT INTO sbtest%d (id, k, c, pad) VALUES (n, i, REPEAT('c', 119), REPEAT('p', 59));
	COMMIT;
END]]

local function cmd_procedure()
	local con = sysbench.sql.driver():connect()
	for t = 1, sysbench.opt.tables do
		con:query("DROP PROCEDURE IF EXISTS transaction" .. t)
		con:query((body:gsub("%%d", t)))
	end
end
sysbench.cmdline.commands.procedure = { cmd_procedure }

function thread_init()
	con = sysbench.sql.driver():connect()
end

function thread_done()
	con:disconnect()
end

function event()
	con:query(string.format("CALL transaction%d(%d)", sysbench.rand.uniform(1, sysbench.opt.tables), sysbench.opt.table_size))
end
