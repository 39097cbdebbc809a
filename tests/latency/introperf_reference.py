# SPDX-License-Identifier: GPL-3.0-or-later
"""Instances and annotated contexts as literally as can be, and slowly: Algorithm 2 with a register for each depth, all of
which are touched at every event; sums of contexts event by event, by looking at both stacks."""
from random_calls import may_follow


def names(event):
    return [c.path.split("/")[-1] for c, _ in event[1]], [c.path.split("/")[-1] for c, _ in event[2]]


def path_of(event, depth):
    user, kernel = names(event)
    return "/" + "/".join((user + kernel)[:depth + 1])


def depths(h, a, b):
    """(frames of the same calls at most, and surely) of two events, one after the other"""
    frames = [[(n, p) for n, (_, p) in zip(names(e)[0], e[1])] + [(n, p) for n, (_, p) in zip(names(e)[1], e[2])]
              for e in (a, b)]
    n_user = [len(a[1]), len(b[1])]
    all_new, same = False, []
    for d in range(min(len(frames[0]), len(frames[1]))):
        in_kernel = d >= min(n_user)
        if in_kernel and (n_user[0] != n_user[1] or "new" in b[3]):
            all_new = True
        if frames[0][d][0] != frames[1][d][0]:
            all_new = True
        if all_new:
            break
        same.append(d)
        if frames[0][d][1] != frames[1][d][1]:
            all_new = True  # another place: whatever is called from there is new
    depth = len(same)
    if not h["knows"] or "held" in b[3]:
        return depth, depth
    depth = min(depth, min(n_user))
    movers = [d for d in range(depth) if may_follow(h["program"], frames[0][d][0], frames[0][d][1], frames[1][d][1])]
    if not movers:
        return depth, min(depth, 1)
    return movers[-1] + 1, movers[0] + 1


def infer_thread(h, number):
    t = h["threads"][number]
    events, registers, instances = t["run"].events, [], []

    def close(depth, after, flags=0):
        while len(registers) > depth:
            r = registers.pop()
            sure = max([b - a for a, b in r["stretches"]])
            instances.append([r["path"], r["before"], r["first"], r["last"], after, sure, len(r["stretches"]) - 1,
                              r["flags"] | flags, number])

    last = None
    for e in events:
        depth, sure = depths(h, last, e) if last else (0, 0)
        close(depth, e[0])
        for d, r in enumerate(registers):
            r["last"] = e[0]
            if d < sure:
                r["stretches"][-1][1] = e[0]
            else:
                r["stretches"].append([e[0], e[0]])
        before = last[0] if last else t["begin"]
        for d in range(depth, len(e[1]) + len(e[2])):
            registers.append({"path": path_of(e, d), "before": before, "first": e[0], "last": e[0],
                              "stretches": [[e[0], e[0]]], "flags": 1 if not last and t["begin_cut"] else 0})
        last = e
    close(0, t["end"], 2 if t["end_cut"] else 0)
    return instances


FIELDS = ["n", "n_cut", "n_unsure", "low", "high", "own_low", "own", "own_high", "own_off", "aggressive", "longest",
          "slowest", "kept"]


def add_gap(h, get, a, b, ns):
    """a, b: events, or None before the first and after the last"""
    depth, sure = depths(h, a, b) if a and b else (0, 0)
    paths = [[path_of(e, d) for d in range(len(e[1]) + len(e[2]))] if e else [] for e in (a, b)]
    inner = paths[0][depth - 1] if depth else ""
    get(inner)["own"] += ns
    if b and "off" in b[3]:
        get(inner)["own_off"] += ns
    if not depth:
        get("")["own_high"] += ns
    if a and b and depth == sure == len(paths[0]) == len(paths[1]):
        get(inner)["own_low"] += ns
    for d, p in enumerate(paths[0][:depth]):
        get(p)["low"] += ns
        get(p)["high"] += ns
        if d >= sure - 1:
            get(p)["own_high"] += ns
    for p in set(paths[0][depth:]) | set(paths[1][depth:]):
        get(p)["high"] += ns
        get(p)["own_high"] += ns
    return ns if sure < depth else 0


def analyse(h):
    contexts, instances, total, unsure = {}, [], 0, 0
    get = lambda path: contexts.setdefault(path, dict.fromkeys(FIELDS, 0))
    get("")
    for number, t in enumerate(h["threads"]):
        events = [None] + t["run"].events + [None]
        times = [t["begin"]] + [e[0] for e in t["run"].events] + [t["end"]]
        for i in range(len(events) - 1):
            unsure += add_gap(h, get, events[i], events[i + 1], times[i + 1] - times[i])
        total += t["end"] - t["begin"]
        instances += infer_thread(h, number)
    for path, before, first, last, after, sure, n_unsure, flags, _ in instances:
        c = get(path)
        c["n"] += 1
        c["n_cut"] += flags != 0
        c["n_unsure"] += n_unsure
        c["aggressive"] += after - first
        c["longest"] += after - before
        c["slowest"] = c["kept"] = max(c["slowest"], last - first)
    return {"instances": instances, "contexts": {p: [c[f] for f in FIELDS] for p, c in contexts.items()},
            "total": total, "unsure": unsure}
