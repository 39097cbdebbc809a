#!/usr/bin/python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""check_exports.py FORMAT FILE READERS: is FILE valid in FORMAT, by that format's own schema where READERS (a folder, see get_readers)
holds it, and by what a reader relies on? Beside FILE may lie results.json, which the figures then have to agree with.
Exit status 77: a package that is needed for the check is missing."""
import csv, io, json, math, os, re, subprocess, sys, tempfile

form, path, readers = sys.argv[1:4]
here = os.path.dirname(os.path.abspath(__file__))
data = open(path, "rb").read()
results_path = os.path.join(os.path.dirname(path), "results.json")
results = json.load(open(results_path, errors="replace")) if os.path.exists(results_path) else None
said = []


def fail(what):
	sys.exit(f"{form}: {what}")


def need(condition, what):
	condition or fail(what)


def text():
	try:
		return data.decode("utf-8")
	except UnicodeDecodeError as e:
		fail(f"not UTF-8: {e}")


def load():
	"""JSON without Python's extensions."""
	return json.loads(text(), parse_constant=lambda c: fail(f"{c} is no JSON"))


def near(a, b, slack):
	return abs(a - b) <= slack


def by_schema(document, name, variable):
	schema = os.environ.get(variable) or os.path.join(readers, name)
	if not os.path.exists(schema):
		said.append(f"not checked against its schema ({name} could not be had)")
		return
	import jsonschema
	schema = json.load(open(schema))
	errors = list(jsonschema.validators.validator_for(schema)(schema).iter_errors(document))
	need(not errors, "; ".join(f"{list(e.path)}: {e.message[:200]}" for e in errors[:3]))
	said.append(f"valid by {name}")


def compiled(folder, files):
	"""Python modules of .proto files, in a folder of their own."""
	out = tempfile.mkdtemp(prefix="vprof-protos-")
	subprocess.run(["protoc", "-I", folder, "--python_out", out] + files, check=True)
	sys.path.insert(0, out)
	return out


def perfetto():
	folder = os.environ.get("VPROF_PERFETTO_PROTOS")
	proto = "protos/perfetto/trace/trace.proto" if folder else "perfetto.proto"
	decoded = subprocess.run(["protoc", "-I", folder or here, "--decode=perfetto.protos.Trace", proto], input=data, capture_output=True)
	need(decoded.returncode == 0, decoded.stderr.decode())
	unknown = re.search(rb"^ *\d+[:{ ].*", decoded.stdout, re.M)
	need(not unknown, f"a field that is not in the format: {unknown and unknown.group()}")
	compiled(here, [os.path.join(here, "perfetto.proto")])
	import perfetto_pb2
	trace = perfetto_pb2.Trace()
	trace.ParseFromString(data)
	tracks, stacks, last, names, places, categories, flows, ends = {}, {}, {}, {}, {}, {}, {}, {}
	n_slices = 0
	for i, p in enumerate(trace.packet):
		need(p.trusted_packet_sequence_id == 1 and bool(p.sequence_flags & 1) == (i == 0), f"packet {i}: sequence")
		names.update((x.iid, x.name) for x in p.interned_data.event_names)
		places.update((x.iid, x) for x in p.interned_data.source_locations)
		categories.update((x.iid, x.name) for x in p.interned_data.event_categories)
		if p.HasField("track_descriptor"):
			d = p.track_descriptor
			need(not d.parent_uuid or d.parent_uuid in tracks, f"packet {i}: the track's parent comes later")
			tracks[d.uuid] = d
		if not p.HasField("track_event"):
			continue
		e = p.track_event
		need(e.track_uuid in tracks and p.timestamp, f"packet {i}: no such track, or no time")
		need(all(c in categories for c in e.category_iids), f"packet {i}: category")
		for f in e.flow_ids:
			flows.setdefault(f, []).append(p.timestamp)
		for f in e.terminating_flow_ids:
			ends.setdefault(f, []).append(p.timestamp)
		if e.type == e.TYPE_INSTANT:
			continue
		need(p.timestamp >= last.get(e.track_uuid, 0), f"packet {i}: before the one before it on its track")
		last[e.track_uuid] = p.timestamp
		if e.type == e.TYPE_SLICE_BEGIN:
			need(e.name if e.HasField("name") else e.name_iid in names, f"packet {i}: no name")
			need(not e.source_location_iid or e.source_location_iid in places, f"packet {i}: no such place")
			stacks.setdefault(e.track_uuid, []).append(i)
			n_slices += 1
		else:
			need(stacks.get(e.track_uuid), f"packet {i}: an end without a begin")
			stacks[e.track_uuid].pop()
	need(not any(stacks.values()), "slices that do not end")
	need(n_slices > 0, "no slices")
	for f, times in ends.items():
		need(len(times) == 1 and len(flows.get(f, [])) == 1 and flows[f][0] <= times[0], f"flow {f} goes back in time, or nowhere")
	need(all("�" not in n or "hostile" in path for n in names.values()), "broken names")
	said.append(f"{n_slices} slices, {len(ends)} wakes, {len(tracks)} tracks" + (", by Perfetto's own protos" if folder else ""))


def chrome():
	document = load()
	threads, flows, open_intervals = {}, {}, set()
	for e in document["traceEvents"]:
		need(e["ph"] in "MXbesf" and isinstance(e["name"], str) and isinstance(e["pid"], int) and isinstance(e["tid"], int), f"{e}")
		if e["ph"] == "X":
			need(e["dur"] >= 0 and e["ts"] >= 0, f"{e}")
			if e["cat"] != "wake":
				threads.setdefault((e["pid"], e["tid"]), []).append((round(e["ts"] * 1000), round((e["ts"] + e["dur"]) * 1000)))
		elif e["ph"] == "b":
			need(e["id"] not in open_intervals, f"{e}: begun twice")
			open_intervals.add(e["id"])
		elif e["ph"] == "e":
			open_intervals.remove(e["id"])
		elif e["ph"] in "sf":
			flows.setdefault(e["id"], {})[e["ph"]] = e["ts"]
	need(not open_intervals, "intervals that do not end")
	need(all(set(f) == {"s", "f"} for f in flows.values()), "half a flow")
	for slices in threads.values():
		stack = []
		for low, high in slices:
			while stack and stack[-1] <= low:
				stack.pop()
			need(not stack or high <= stack[-1] + 1, f"slices that do not nest at {low} ns")
			stack.append(high)
	said.append(f"{sum(map(len, threads.values()))} slices, {len(flows)} wakes")


def folded(variance):
	total = 0
	for line in text().removesuffix("\n").split("\n"):
		match = re.fullmatch(r"(.+) (\d+)", line)
		need(match and int(match[2]) > 0 and all(match[1].split(";")), f"no stack: {line[:200]!r}")
		need(not re.search(r"[\x00-\x1f\x7f]", line), f"control characters: {line[:200]!r}")
		total += int(match[2])
	if results:
		wanted = 1e6 if variance else results["nodes"][0]["mean_ns"] * results["n_complete"] # without the cost of records
		need(near(total, wanted, len(results["nodes"]) + 1e-6 * wanted), f"the stacks sum to {total}, not {wanted}")
	said.append(f"{total} in all")


def speedscope():
	document = load()
	by_schema(document, "speedscope.schema.json", "VPROF_SPEEDSCOPE_SCHEMA")
	for p in document["profiles"]:
		need(len(p["samples"]) == len(p["weights"]) and sum(p["weights"]) == p["endValue"], f"{p['name']}: samples and weights")
		need(all(0 <= i < len(document["shared"]["frames"]) for s in p["samples"] for i in s), f"{p['name']}: no such frame")
		need(all(p["samples"]), f"{p['name']}: an empty stack")


def table(wanted_rows):
	content = text()
	rows = list(csv.reader(io.StringIO(content, newline=""), strict=True))
	need(len({len(r) for r in rows}) == 1, "rows of different lengths")
	need(content.endswith("\r\n") and re.sub(r'"(?:[^"]|"")*"', "", content).count("\n") == len(rows) == re.sub(
		r'"(?:[^"]|"")*"', "", content).count("\r\n"), "lines end in CRLF")
	if results and wanted_rows:
		need(len(rows) - 1 == len(results[wanted_rows]), f"{len(rows) - 1} rows, not {len(results[wanted_rows])}")
		key = rows[0].index("name")
		if "hostile" not in path:
			need([r[key] for r in rows[1:]] == [x["name"] for x in results[wanted_rows]], "other names than in results.json")
	said.append(f"{len(rows) - 1} rows")
	return rows


def intervals():
	rows = table(None)
	complete = [r for r in rows[1:] if r[rows[0].index("state")] == "complete"]
	if results and "hostile" not in path:
		latencies = [int(r[rows[0].index("latency_ns")]) for r in complete]
		need(len(complete) == results["n_complete"], f"{len(complete)} complete, not {results['n_complete']}")
		need(near(sum(latencies) / len(latencies), results["mean_ns"], 2), "the mean differs")


def folded_causes():
	lines = text().splitlines()
	for line in lines:
		need(re.fullmatch(r"[^;]+(;[^;]+)+ [1-9][0-9]*", line), f"no folded stack: {line!r}")
	if results:
		most = sum(max(0, c["if_constant"] or 0) * sum(max(0, s["part"]) for s in c["splits"]) for c in results["causes"])
		total = sum(int(line.rsplit(" ", 1)[1]) for line in lines)
		need(abs(total - 1e6 * most) <= 1 + len(lines), f"weights sum to {total}, not {1e6 * most}")
	said.append(f"{len(lines)} stacks")


def folded_contexts():
	total = {}
	for line in text().removesuffix("\n").split("\n"):
		need(re.fullmatch(r"[^;]+(;[^;]+)+ [1-9][0-9]*", line), f"no folded stack: {line!r}")
		context, rest = line.split(";", 1)
		total[context] = total.get(context, 0) + int(rest.rsplit(" ", 1)[1])
	if results and "hostile" not in path:
		for c in results["contexts"]:
			need(near(total.get(c["name"], 0), c["total_ns"], 1 + len(c["profile"])), f"{c['name']}: {total.get(c['name'])}, not {c['total_ns']}")
	said.append(f"{len(total)} contexts")


def folded_samples():
	total = {}
	for line in text().splitlines():
		need(re.fullmatch(r"[^;]+(;[^;]+)+ [1-9][0-9]*", line), f"no folded stack: {line!r}")
		context, rest = line.split(";", 1)
		total[context] = total.get(context, 0) + int(rest.rsplit(" ", 1)[1])
	if results and "hostile" not in path:
		for c in results["contexts"]:
			known = sum(f["n"] for f in c["sampled"] if not f["depth"])
			need(total.get(c["name"], 0) == known, f"{c['name']}: {total.get(c['name'])}, not {known}")
	said.append(f"{sum(total.values())} samples in {len(total)} contexts")


def varints(message):
	"""(field, value) of a message's fields, by the encoding's own rules."""
	at = 0

	def varint():
		nonlocal at
		value = shift = 0
		while True:
			need(at < len(message), "a cut varint")
			byte = message[at]
			at += 1
			value |= (byte & 0x7f) << shift
			shift += 7
			if byte < 0x80:
				return value

	while at < len(message):
		tag = varint()
		need(tag & 7 in (0, 2), f"wire type {tag & 7}")
		if tag & 7 == 0:
			yield tag >> 3, varint()
		else:
			n = varint()
			need(at + n <= len(message), "a cut message")
			yield tag >> 3, message[at:at + n]
			at += n


def pprof():
	import gzip
	fields = {}
	for field, value in varints(gzip.decompress(data)):
		fields.setdefault(field, []).append(value)
	need(set(fields) <= {1, 2, 4, 5, 6, 10, 13, 14}, f"fields {sorted(fields)}")
	strings = [s.decode("utf-8") for s in fields[6]]
	need(strings[0] == "" and len(set(strings)) == len(strings), "string table")
	types = [dict(varints(t)) for t in fields[1]]
	need([(strings[t[1]], strings[t[2]]) for t in types] == [(n, "nanoseconds") for n in ("time", "running", "waiting")], "sample types")
	need(strings[fields[14][0]] == "time", "default sample type")
	functions = {f[1]: f for f in (dict(varints(f)) for f in fields.get(5, []))}
	need(all(f[i] < len(strings) for f in functions.values() for i in (2, 3, 4)) and 0 not in functions, "functions")
	locations = {l[1]: dict(varints(l[4])) for l in (dict(varints(l)) for l in fields.get(4, []))}
	need(0 not in locations and all(l[1] in functions for l in locations.values()), "locations")
	total = {}
	for sample in fields.get(2, []):
		stack, values, labels = [], [], {}
		for field, value in varints(sample):
			if field == 1:
				stack.append(value)
			elif field == 2:
				values.append(value)
			else:
				need(field == 3, f"a sample's field {field}")
				label = dict(varints(value))
				labels[strings[label[1]]] = strings[label[2]]
		need(stack and all(l in locations for l in stack), "a sample's stack")
		need(len(values) == 3 and values[0] == values[1] + values[2] > 0, f"values {values}")
		need(set(labels) == {"context", "stage"}, f"labels {labels}")
		need(strings[functions[locations[stack[-1]][1]][2]].startswith("["), "the outermost frame is no stage")
		times = total.setdefault(labels["context"], [0, 0])
		times[0] += values[0]
		times[1] += values[1]
	if results and "hostile" not in path:
		for c in results["contexts"]:
			need(near(total[c["name"]][0], c["total_ns"], 1 + len(c["profile"])), f"{c['name']}: {total[c['name']]}, not {c['total_ns']}")
			need(near(total[c["name"]][1], c["running_ns"], 1 + len(c["profile"])), f"{c['name']}: running {total[c['name']]}, not {c['running_ns']}")
	said.append(f"{len(fields.get(2, []))} samples of {len(total)} contexts")


def what_would_go(before, thing, figure):
	"""As a sentence has it: what the variance loses if it were constant, with its bounds as far as they are known."""
	x, low, high = (thing[figure + end] for end in ("", "_low", "_high"))
	bounds = f" ({-100 * high:.1f} to {-100 * low:.1f} %)" if low is not None and high is not None else ""
	return f"{before}if constant: {-100 * x:+.1f} %{bounds}" if x is not None else ""


def sarif_says(result, factor):
	"""A factor's share is not what would go with it: the message has both, and those of the same beneath waits."""
	message = result["message"]["text"]
	need(what_would_go("; ", factor, "if_constant") in message, f"if constant is missing: {message}")
	if factor["counterpart"] and factor["together"] is not None:
		need(f"; own and beneath waits {100 * factor['together']:.1f} %" in message, f"the sum is missing: {message}")
		need(what_would_go(", ", factor, "together_constant") in message, f"if constant of the sum is missing: {message}")


def sarif():
	document = load()
	by_schema(document, "sarif-schema-2.1.0.json", "VPROF_SARIF_SCHEMA")
	run = document["runs"][0]
	need(document["version"] == "2.1.0" and run["tool"]["driver"]["name"] == "vprof", "version and tool")
	rules = [r["id"] for r in run["tool"]["driver"]["rules"]]
	for r in run["results"]:
		need(rules[r["ruleIndex"]] == r["ruleId"] and r["level"] in ("note", "warning") and 0 <= r["rank"] <= 100, f"{r['message']}")
		need(r["message"]["text"] and list(r["partialFingerprints"].values()) != [""], "empty message")
		need(("vprofCause/v1" in r["partialFingerprints"]) == (r["ruleId"] == "VPROF003"), "fingerprint")
		for place in r["locations"] + r.get("relatedLocations", []):
			physical = place["physicalLocation"]
			need(re.fullmatch(r"(file://)?[A-Za-z0-9._~/%-]+", physical["artifactLocation"]["uri"]), f"no URI: {physical}")
			need(physical.get("region", {"startLine": 1})["startLine"] > 0, f"{physical}")
	if results:
		causes = [r for r in run["results"] if r["ruleId"] == "VPROF003"]
		need(len(causes) == len(results["causes"]), "causes are missing")
		factors = {f["key"]: f for f in results["factors"]}
		for r in run["results"]:
			if r["ruleId"] != "VPROF003":
				sarif_says(r, factors[r["partialFingerprints"]["vprofFactor/v1"]])
		folded_in = {i for c in results["causes"] for i in c["factors"]}
		need(len(run["results"]) - len(causes) >= len(set(range(results["n_selected"])) - folded_in), "chosen factors are missing")
	said.append(f"{len(run['results'])} results")


def otlp():
	document = load()
	folder = os.environ.get("VPROF_OTLP_PROTOS") or os.path.join(readers, "otlp")
	from google.protobuf import json_format
	if os.path.isdir(folder):
		base = "opentelemetry/proto/"
		compiled(folder, [base + f for f in ("collector/trace/v1/trace_service.proto", "trace/v1/trace.proto", "common/v1/common.proto",
						     "resource/v1/resource.proto")])
		from opentelemetry.proto.collector.trace.v1 import trace_service_pb2 as service
		said.append("by OpenTelemetry's own protos")
	else:
		compiled(here, [os.path.join(here, "otlp.proto")])
		import otlp_pb2 as service
	json_format.ParseDict(document, service.ExportTraceServiceRequest())
	need(text().count("\n") == 1, "more than one line")
	spans = [s for r in document["resourceSpans"] for scope in r["scopeSpans"] for s in scope["spans"]]
	roots, children = {}, {}
	for s in spans:
		need(re.fullmatch("[0-9a-f]{32}", s["traceId"]) and re.fullmatch("[0-9a-f]{16}", s["spanId"]) and int(s["traceId"], 16) and
		     int(s["spanId"], 16), "identifiers")
		need(int(s["startTimeUnixNano"]) <= int(s["endTimeUnixNano"]), "a span that ends before it begins")
		if "parentSpanId" in s:
			children.setdefault((s["traceId"], s["parentSpanId"]), []).append(s)
		else:
			need((s["traceId"], s["spanId"]) not in roots, "two traces with one identifier")
			roots[s["traceId"], s["spanId"]] = s
	need(len({(s["traceId"], s["spanId"]) for s in spans}) == len(spans), "two spans with one identifier")
	need(set(children) <= set(roots), "spans without a parent")
	for key, pieces in children.items():
		if any(a["key"] == "vprof.pieces_left_out" for a in roots[key]["attributes"]):
			continue
		at = int(roots[key]["startTimeUnixNano"])
		for p in sorted(pieces, key=lambda p: int(p["startTimeUnixNano"])):
			need(int(p["startTimeUnixNano"]) == at, "the critical path has gaps")
			at = int(p["endTimeUnixNano"])
		need(at == int(roots[key]["endTimeUnixNano"]), "the critical path does not reach the end")
	if results and "hostile" not in path:
		need(len(roots) == results["n_complete"], f"{len(roots)} root spans, not {results['n_complete']}")
	said.append(f"{len(roots)} intervals, {len(spans)} spans")


def otlp_requests():
	"""Paths of requests: each a trace whose spans hang together, with a service for each tier."""
	document = load()
	from google.protobuf import json_format
	compiled(here, [os.path.join(here, "otlp.proto")])
	import otlp_pb2 as service
	json_format.ParseDict(document, service.ExportTraceServiceRequest())
	need(text().count("\n") == 1, "more than one line")
	traces, services = {}, []
	for r in document["resourceSpans"]:
		name = [a["value"]["stringValue"] for a in r["resource"]["attributes"] if a["key"] == "service.name"][0]
		services.append(name)
		for s in (s for scope in r["scopeSpans"] for s in scope["spans"]):
			spans = traces.setdefault(s["traceId"], {})
			need(re.fullmatch("[0-9a-f]{32}", s["traceId"]) and re.fullmatch("[0-9a-f]{16}", s["spanId"]), "identifiers")
			need(s["spanId"] not in spans, "two spans with one identifier")
			need(int(s["startTimeUnixNano"]) <= int(s["endTimeUnixNano"]), "a span that ends before it begins")
			need((s["kind"] == 2) == (s["name"] == name), "a visit in another tier's service")
			spans[s["spanId"]] = s
	need(len(set(services)) == len(services), "a service twice")
	for spans in traces.values():
		roots = [s for s in spans.values() if "parentSpanId" not in s]
		need(len(roots) == 1 and roots[0]["kind"] == 2, "not one root")
		for s in spans.values():
			parent = spans.get(s.get("parentSpanId"))
			need(parent or s is roots[0], "a span without its parent")
			need(not parent or (s["kind"] == 3) == (parent["kind"] == 2), "a call of a call, or a visit of a visit")
			need(not parent or int(parent["startTimeUnixNano"]) <= int(s["startTimeUnixNano"]) <=
			     int(s["endTimeUnixNano"]) <= int(parent["endTimeUnixNano"]), "a span outside of its parent")
	need(len(traces) == 100, f"{len(traces)} requests, not the 100 slowest")
	said.append(f"{len(traces)} requests, {len(services)} services")


checks = {"requests-otlp": otlp_requests, "requests-perfetto": perfetto, "perfetto": perfetto, "chrome": chrome, "folded": lambda: folded(False), "folded-variance": lambda: folded(True), "folded-causes": folded_causes,
	  "folded-contexts": folded_contexts, "folded-samples": folded_samples, "pprof": pprof,
	  "speedscope": speedscope, "csv-factors": lambda: table("factors"), "csv-nodes": lambda: table("nodes"),
	  "csv-intervals": intervals, "sarif": sarif, "otlp": otlp}
try:
	checks[form]()
except (ImportError, FileNotFoundError) as e:
	print(f"skipped: {e} (apt-get install python3-jsonschema python3-protobuf protobuf-compiler)")
	sys.exit(77)
print(f"{form}: ok, {len(data)} bytes; " + "; ".join(said))
