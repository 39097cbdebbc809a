# SPDX-License-Identifier: GPL-3.0-or-later
"""wPerf (OSDI 2018) as its text says, slow and plain: what analysis/waits must agree with.

Nothing here is shared with vprof, nor taken from it: segments are lists, cascaded redistribution is the recursion of
Figure 4, components come from networkx, and edges are removed one at a time. Where the paper leaves something open,
docs/design/waits.md says what vprof does, and this does the same.
"""
from collections import namedtuple

import networkx

Wait = namedtuple("Wait", "start end waker stack waker_stack")

THREAD, DISK, NETWORK = "thread", "disk", "network"


class Entity:
    def __init__(self, kind, name, creator=None, born=0, ended=None, speed=0.0):
        self.kind, self.name, self.creator, self.born, self.ended, self.speed = kind, name, creator, born, ended, speed
        self.segments = []  # (state, start, end, waker, stack, waker_stack), by time
        self.members = None  # of a virtual thread
        self.merged = False

    def waits(self):
        return [Wait(*s[1:]) for s in self.segments if s[0] == "wait"]


class History:
    def __init__(self):
        self.begin, self.end = 0, 0
        self.entities = []
        self.requests = []  # (device, thread, issue, complete, n_bytes)
        self.threshold, self.background, self.short_lived, self.overlap = 0.2, 0.99, 0.0, 2.0


def merge_short_lived(h):
    """Section 3.3, "Short-term threads". The order of groups is that of their first threads."""
    groups = {}
    key_of = {}
    for i, e in enumerate(h.entities):
        if (e.kind == THREAD and e.creator is not None and e.born > h.begin and
                e.ended - e.born <= h.short_lived * (h.end - h.begin)):
            creator = e.creator
            key = (("group", key_of[creator]) if creator in key_of and creator < i else creator, e.name)
            key_of[i] = key
            groups.setdefault(key, []).append(i)
    virtual_of = {}
    for members in groups.values():
        if len(members) > 1:
            h.entities.append(make_virtual(h, members))
            for m in members:
                virtual_of[m] = len(h.entities) - 1
    for m in virtual_of:
        h.entities[m].segments = []
        h.entities[m].merged = True
    for i, e in enumerate(h.entities):
        e.segments = [(s[0], s[1], s[2], other(virtual_of.get(s[3], s[3]), i), s[4], s[5]) if s[0] == "wait" else s
                      for s in e.segments]
    h.requests = [(d, virtual_of.get(t, t), a, b, n) for d, t, a, b, n in h.requests]


def other(waker, own):
    return None if waker == own else waker


def make_virtual(h, members):
    virtual = Entity(THREAD, h.entities[members[0]].name, h.entities[members[0]].creator)
    virtual.members = [h.entities[m].segments for m in members]
    times = sorted({h.begin, h.end} | {t for s in virtual.members for x in s if x[0] != "wait" for t in x[1:3]})
    pieces = []  # (state, start, end), neighbours differ
    for a, b in zip(times, times[1:]):
        states = {x[0] for s in virtual.members for x in s if x[1] <= a and b <= x[2]}
        state = "run" if "run" in states else "ready" if "ready" in states else "wait"
        if pieces and pieces[-1][0] == state:
            pieces[-1] = (state, pieces[-1][1], b)
        else:
            pieces.append((state, a, b))
    for state, a, b in pieces:
        waker = stack = waker_stack = None
        if state == "wait":
            waker, stack, waker_stack = who_ended(h, members, b)
        virtual.segments.append((state, a, b, waker, stack or 0, waker_stack or 0))
    return virtual


def who_ended(h, members, t):
    """The first of the threads that could run again at t was made then, or woken."""
    for m in members:
        segments = h.entities[m].segments
        for i, s in enumerate(segments):
            if s[0] == "wait" or s[1] != t:
                continue
            if i == 0:
                return h.entities[m].creator, 0, 0
            before = segments[i - 1]
            if before[0] == "wait" and before[2] == t:
                return before[3], before[4], before[5]
            return None, 0, 0
    return None, 0, 0


def cascade(h, waits, weight, w, me):
    """Figure 4."""
    weight[me, w.waker] = weight.get((me, w.waker), 0) + w.end - w.start
    for x in waits[w.waker]:
        start, end = max(x.start, w.start), min(x.end, w.end)
        if start < end and x.waker is not None:
            cascade(h, waits, weight, Wait(start, end, x.waker, 0, 0), w.waker)


def weights(h):
    """(from, to) -> [waits, length of waits, cascaded weight], between entities."""
    waits = [e.waits() for e in h.entities]
    weight, edges = {}, {}
    for me, own in enumerate(waits):
        for w in own:
            if w.waker is None:
                continue
            e = edges.setdefault((me, w.waker), [0, 0, 0])
            e[0] += 1
            e[1] += w.end - w.start
            cascade(h, waits, weight, w, me)
    for pair, e in edges.items():
        e[2] = weight[pair]
    return edges


def idle_time(h, device, requests):
    e = h.entities[device]
    idle, free = 0, h.begin
    for _, _, issue, complete, n_bytes in requests:
        start = max(issue, free)
        if e.kind == NETWORK:
            took = n_bytes / e.speed * 1e9
            complete = start + int(took) if took < h.end - start else h.end
        idle += start - free
        free = max(start, complete)
    return idle + h.end - free


def idle_edges(h):
    """Section 4.1: a device's idle time, shared among threads by what they sent."""
    edges = {}
    for device, e in enumerate(h.entities):
        if e.kind not in (DISK, NETWORK) or (e.kind == NETWORK and not e.speed):
            continue
        requests = sorted((r for r in h.requests if r[0] == device), key=lambda r: r[2])
        if not requests:
            continue
        idle = idle_time(h, device, requests)
        known = [r for r in requests if r[1] is not None]
        total = sum(max(r[4], 512) for r in known)
        for thread in sorted({r[1] for r in known}):
            own = [max(r[4], 512) for r in known if r[1] == thread]
            if idle:
                edges[device, thread] = [len(own), idle * sum(own) // total, idle * sum(own) // total]
    return edges


def stem(name):
    return name.rstrip("0123456789")


def representatives(h):
    """Section 4.2, "Merging similar threads"."""
    profile = {}
    for i, e in enumerate(h.entities):
        known = [w for w in e.waits() if w.waker is not None]
        if e.kind == THREAD and known:
            has_stacks = any(w.stack for w in known)
            counts = {}
            for w in known:
                key = w.stack if has_stacks else 1 if h.entities[w.waker].kind == THREAD else 2 + w.waker
                if key:
                    counts[key] = counts.get(key, 0) + 1
            profile[i] = has_stacks, counts
    of, groups = list(range(len(h.entities))), []
    if h.overlap > 1:
        return of
    for i, mine in profile.items():
        for g in groups:
            its = profile[g]
            name, other_name = stem(h.entities[g].name), stem(h.entities[i].name)
            alike = its[0] == mine[0] and (its[0] or (name and name == other_name))
            if alike:
                both, (_, a), (_, b) = 0.0, its, mine
                for s in sorted(set(a) & set(b)):
                    both += min(a[s] / sum(a.values()), b[s] / sum(b.values()))
                alike = both >= h.overlap
            if alike:
                of[i] = g
                break
        else:
            groups.append(i)
    return of


class Graph:
    def __init__(self, h):
        by_entity = weights(h)
        for pair, e in idle_edges(h).items():
            by_entity[pair] = e
        of = representatives(h)
        used = {i for i, e in enumerate(h.entities) if e.segments}
        used |= {p[1] for p in by_entity} | {r[0] for r in h.requests} | {r[1] for r in h.requests if r[1] is not None}
        self.h = h
        self.vertices, self.edges = {}, {}
        for i in sorted(used):
            v = self.vertices.setdefault(of[i], [0, 0, 0, 0])
            e = h.entities[i]
            segments = [s for m in e.members for s in m] if e.members else e.segments
            v[0] += len(e.members) if e.members else 1
            for n, state in ((1, "run"), (2, "ready")):
                v[n] += sum(s[2] - s[1] for s in segments if s[0] == state)
            v[3] += sum(s[2] - s[1] for s in e.segments if s[0] == "wait")
        for (a, b), e in by_entity.items():
            sums = self.edges.setdefault((of[a], of[b]), [0, 0, 0])
            for n in range(3):
                sums[n] += e[n]

    def weight(self, edge):
        return (self.edges[edge][2], edge[0], edge[1])

    def is_background(self, vertices):
        for v in vertices:
            e = self.h.entities[v]
            if e.kind == DISK or (e.kind == NETWORK and e.speed):
                return len(vertices) == 1 and self.is_idle(v)
        return self.busy(vertices) < self.h.background * (self.h.end - self.h.begin)

    def is_idle(self, device):
        """A device by itself limits nothing while it is idle for longer than edges may weigh that are cut off (docs/design/waits.md)."""
        requests = sorted((r for r in self.h.requests if r[0] == device), key=lambda r: r[2])
        limit = self.h.threshold * (self.h.end - self.h.begin)
        return bool(requests) and idle_time(self.h, device, requests) > limit

    def busy(self, vertices):
        return sum(self.vertices[v][1] + self.vertices[v][2] for v in vertices)

    def knot(self, g, vertices, depth, end):
        return {"vertices": sorted(vertices), "edges": sorted(list(e) for e in g.subgraph(vertices).edges),
                "depth": depth, "end": end, "busy": self.busy(vertices)}


def search(graph, g, depth, before):
    """Knots and sinks of g; `before` is what it was before it fell apart."""
    background, g = [], g.copy()
    whole = g.copy()
    while g:
        terminal = [set(c) for c in networkx.attracting_components(g)]
        own = [c for c in terminal if graph.is_background(c)]
        if not own:
            break
        background += own
        g.remove_nodes_from(set().union(*own))
    if not g and before is not None:
        return [graph.knot(before, before.nodes, depth - 1, "parts")]
    found = [graph.knot(whole, c, depth, "background") for c in background]
    if g:
        for c in terminal:
            found += refine(graph, g.subgraph(c).copy(), depth)
    return found


def refine(graph, g, depth):
    threshold = graph.h.threshold * (graph.h.end - graph.h.begin)
    while True:
        if len(g) == 1:
            return [graph.knot(g, g.nodes, depth, "vertex")]
        if g.number_of_edges() == len(g):
            return [graph.knot(g, g.nodes, depth, "cycle")]
        lightest = min(g.edges, key=graph.weight)
        if graph.edges[lightest][2] > threshold:
            return [graph.knot(g, g.nodes, depth, "heavy")]
        before = g.copy()
        g.remove_edge(*lightest)
        if not networkx.is_strongly_connected(g):
            return search(graph, g, depth + 1, before)


def analyse(h):
    merge_short_lived(h)
    graph = Graph(h)
    g = networkx.DiGraph()
    g.add_nodes_from(graph.vertices)
    g.add_edges_from(graph.edges)
    return {"vertices": sorted([v, *x] for v, x in graph.vertices.items()),
            "edges": sorted([*pair, *x] for pair, x in graph.edges.items()),
            "knots": search(graph, g, 0, None)}
