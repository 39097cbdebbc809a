-- SPDX-License-Identifier: GPL-3.0-or-later
-- For wrk: requests for a web server's files, page/CLASS/NUMBER of 10 * 10^CLASS * NUMBER bytes, each as often as in SPECweb99. Every
-- fifth asks to close its connection. Ends after REQUESTS of them.
local of_class = { 0.35, 0.85, 0.99, 1 }
local of_number = { 0.039, 0.098, 0.186, 0.364, 0.717, 0.835, 0.906, 0.956, 1 }
local rest, n = tonumber(os.getenv("REQUESTS") or "60000"), 0
math.randomseed(1)

local function draw(sums)
	local r = math.random()
	for i, sum in ipairs(sums) do
		if r < sum then
			return i
		end
	end
	return #sums
end

function request()
	local headers = {}
	n = n + 1
	if n % 5 == 0 then
		headers["Connection"] = "close"
	end
	return wrk.format("GET", string.format("/%d/%d", draw(of_class), draw(of_number)), headers)
end

function response(status)
	if status ~= 200 then
		io.stderr:write("status " .. status .. "\n")
		os.exit(1)
	end
	rest = rest - 1
	if rest == 0 then
		os.exit(0)
	end
end
