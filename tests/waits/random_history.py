# SPDX-License-Identifier: GPL-3.0-or-later
"""Random wait histories that could have happened: whoever wakes another thread is running at that moment."""
import random

from wperf_reference import DISK, NETWORK, THREAD, Entity, History


class World:
    def __init__(self, seed):
        self.rng = random.Random(seed)
        self.t = 0
        self.h = History()
        self.state = {}  # thread -> (state, since)
        self.first = {}
        self.open = []  # requests in flight: (device, thread, issue, n_bytes)
        self.n_stacks = self.rng.choice([0, 1, 3, 8])
        r = self.rng
        self.h.threshold = r.choice([0.0, 0.05, 0.2, 0.2, 1.0])
        self.h.background = r.choice([0.0, 0.3, 0.99, 0.99])
        self.h.short_lived = r.choice([0.0, 0.1, 0.6])
        self.h.overlap = r.choice([0.3, 0.8, 2.0, 2.0])
        for i in range(r.randint(1, 8)):
            self.add(Entity(THREAD, r.choice("ab") + str(i)))
            self.state[i] = (r.choice(["run", "ready", "wait", None]), 0)
        self.devices = [self.add(Entity(DISK, "disk")) for _ in range(r.choice([0, 0, 1, 2]))]
        self.devices += [self.add(Entity(NETWORK, "net", speed=r.choice([0.0, 1e9, 1e10])))
                         for _ in range(r.choice([0, 0, 1]))]
        self.others = [self.add(Entity(k, k)) for k in ("timer", "outside", "interrupt") if r.random() < 0.3]
        self.affinity = {i: r.sample(range(len(self.h.entities)), min(2, len(self.h.entities)))
                         for i in range(len(self.h.entities))}

    def add(self, e):
        e.ended = None
        self.h.entities.append(e)
        return len(self.h.entities) - 1

    def change(self, thread, state, waker=None):
        old, since = self.state[thread]
        if old is not None and since < self.t:
            stacks = [self.rng.randint(0, self.n_stacks), self.rng.randint(0, self.n_stacks)] if old == "wait" else [0, 0]
            self.h.entities[thread].segments.append((old, since, self.t, waker if old == "wait" else None, *stacks))
        self.state[thread] = (state, self.t)

    def having(self, state):
        return [i for i, s in self.state.items() if s[0] == state]

    def choose(self, threads, waker=None):
        liked = [i for i in threads if waker is not None and i in self.affinity.get(waker, [])]
        return self.rng.choice(liked if liked and self.rng.random() < 0.7 else threads)

    def step(self):
        r = self.rng
        self.t += r.choice([0, 0, 1, 1, 2, 3, 5, 10, 40])
        action = r.random()
        running, blocked = self.having("run"), self.having("wait")
        if action < 0.3 and running:
            self.change(r.choice(running), "wait")
        elif action < 0.6 and running and blocked:
            waker = r.choice(running)
            self.change(self.choose(blocked, waker), r.choice(["run", "ready"]), waker)
        elif action < 0.7 and blocked and (self.devices or self.others):
            self.change(r.choice(blocked), r.choice(["run", "ready"]), r.choice(self.devices + self.others + [None]))
        elif action < 0.8 and self.having("ready"):
            self.change(r.choice(self.having("ready")), "run")
        elif action < 0.83 and running:
            self.change(r.choice(running), "ready")
        elif action < 0.9 and running and self.devices:
            self.open.append((r.choice(self.devices), r.choice(running + [None]), self.t, r.choice([0, 512, 4096])))
        elif action < 0.95 and self.open:
            self.complete(self.open.pop(r.randrange(len(self.open))))
        elif running:
            self.make_or_end(r.choice(running))

    def complete(self, request):
        device, thread, issue, n_bytes = request
        self.h.requests.append((device, thread, issue, self.t, n_bytes))

    def make_or_end(self, thread):
        e = self.h.entities[thread]
        if e.creator is not None and self.rng.random() < 0.7:
            self.change(thread, None)
            e.ended = self.t
            del self.state[thread]
        elif len(self.h.entities) < 16 and self.t > 0:
            i = self.add(Entity(THREAD, self.rng.choice("wx"), thread, self.t))
            self.state[i] = (self.rng.choice(["run", "ready"]), self.t)
            self.affinity[i] = [thread]

    def finish(self):
        self.t += 1
        self.h.end = self.t
        for thread in list(self.state):
            self.change(thread, None)
        for request in self.open:
            self.complete(request)
        for e in self.h.entities:
            e.ended = self.h.end if e.ended is None else e.ended
        return self.h


def make(seed):
    world = World(seed)
    for _ in range(world.rng.choice([5, 40, 120, 120, 250])):
        world.step()
    return world.finish()


def text(h):
    """As tests/waits/history_text.h reads it."""
    n_stacks = max([0] + [max(s[4:6]) for e in h.entities for s in e.segments])
    lines = [f"recording {h.begin} {h.end}", f"options {h.threshold} {h.background} {h.short_lived} {h.overlap}"]
    lines += ["stack s"] * n_stacks
    name = [f"{e.name}#{i}" for i, e in enumerate(h.entities)] + ["-"]
    for i, e in enumerate(h.entities):
        by = f" by {name[e.creator]} from {e.born} to {e.ended}" if e.creator is not None else ""
        speed = f" {e.speed}" if e.kind == NETWORK else ""
        lines.append(f"{e.kind} {name[i]}{by}{speed}")
    for i, e in enumerate(h.entities):
        for state, a, b, waker, stack, waker_stack in e.segments:
            end = f" {name[-1 if waker is None else waker]} {stack} {waker_stack}" if state == "wait" else ""
            lines.append(f"{state} {name[i]} {a} {b}{end}")
    for device, thread, issue, complete, n_bytes in h.requests:
        lines.append(f"request {name[device]} {name[-1 if thread is None else thread]} {issue} {complete} {n_bytes}")
    return "\n".join(lines) + "\nend\n"
