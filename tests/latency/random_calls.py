# SPDX-License-Identifier: GPL-3.0-or-later
"""Random programs, run: true calls with their times, and what events at random times show of them.

A function is a list of places, each of which works or calls another function; some stretches of places are loops. A
call of a function of the kernel (a system call) may sleep. Everything is known: which call each frame of an event
belongs to, and from which place to which a call may come."""
import random


class Call:
    def __init__(self, path, begin):
        self.path, self.begin, self.end = path, begin, None


def make_program(r, depth):
    """Functions f0 (outermost) to f{n-1}: {name: (places, loops)}; a place is None (works), a name, or "k..." """
    n = r.randint(2, 6)
    program = {}
    for i in range(n):
        places = []
        for _ in range(r.randint(1, 5)):
            below = r.randint(max(0, i if r.random() < 0.1 else i + 1), n)
            x = r.random()
            places.append(None if x < 0.3 or below >= n else f"k{r.randint(0, 2)}" if x < 0.5 else f"f{below}")
        loops = []
        if r.random() < 0.5:
            a = r.randrange(len(places))
            loops.append((a, r.randint(a, len(places) - 1)))
        program[f"f{i}"] = (places, loops)
    return program


def may_follow(program, name, a, b):
    """Place 2 i: before what place i does; 2 i + 1: while it calls."""
    places, loops = program[name]
    return b > a or any(2 * low <= b <= a <= 2 * high + 1 for low, high in loops)


class Run:
    """Executes f0 once; samples stacks at random."""

    def __init__(self, r, program, rate):
        self.r, self.program, self.rate = r, program, rate
        self.t, self.stack, self.calls, self.events, self.steps = 0, [], [], [], 0
        self.kernel_call, self.ran, self.off, self.disk = 0, True, False, False
        self.last_kernel = 0

    def work(self):
        self.t += self.r.randint(1, 9)
        if not self.kernel_call:
            self.ran = True
        self.steps += 1

    def sample(self):
        if self.r.random() >= self.rate:
            return
        user = [(c, p) for c, p, kernel in self.stack if not kernel]
        kernel = [(c, p) for c, p, kernel in self.stack if kernel]
        flags = []
        if self.events:
            if not self.ran:
                flags.append("held")
                if self.off:
                    flags.append("off")
                if self.off and self.disk:
                    flags.append("disk")
            if kernel and self.last_kernel != self.kernel_call:
                flags.append("new")
        self.events.append((self.t, user, kernel, flags))
        self.ran, self.off, self.disk = False, False, False
        self.last_kernel = self.kernel_call

    def call(self, name, kernel=False):
        path = (self.stack[-1][0].path if self.stack else "") + "/" + name
        c = Call(path, self.t)
        self.calls.append(c)
        self.stack.append([c, 0, kernel])
        if kernel:
            self.body_of_kernel()
        else:
            self.body(name)
        self.work()
        c.end = self.t
        self.stack.pop()

    def body_of_kernel(self):
        for i in range(self.r.randint(1, 3)):
            self.stack[-1][1] = i
            self.work()
            self.sample()
            if self.r.random() < 0.3 and len(self.stack) < 12:
                self.call(f"v{self.r.randint(0, 1)}", True)
            elif self.r.random() < 0.3:
                self.sample_sleep()

    def sample_sleep(self):
        """Switched out and in: at both ends an event, nothing in between."""
        rate, self.rate = self.rate, 1
        self.sample()
        self.t += self.r.randint(5, 30)
        self.off, self.disk = True, self.r.random() < 0.5
        self.sample()
        self.rate = rate

    def body(self, name):
        places, loops = self.program[name]
        i = 0
        while i < len(places):
            self.stack[-1][1] = 2 * i
            self.work()
            self.sample()
            self.stack[-1][1] = 2 * i + 1
            self.do_place(places[i])
            repeat = [low for low, high in loops if high == i]
            i = repeat[0] if repeat and self.r.random() < 0.6 and self.steps < 400 else i + 1

    def do_place(self, what):
        if what is None or len(self.stack) > 8 or self.steps > 400:
            return
        if what[0] == "k":
            self.kernel_call = self.kernel_call or len(self.calls) + 1
            self.call(what, True)
            self.kernel_call = 0
        else:
            self.call(what)


def make(seed):
    """knows: the events are told which code may follow which"""
    r = random.Random(seed)
    threads = []
    knows = r.random() < 0.6
    program = make_program(r, 0)
    for i in range(r.randint(1, 3)):
        run = Run(r, program, r.choice([0.05, 0.2, 0.6, 1.0]))
        run.call("f0")
        begin = r.choice([0, 0, run.calls[0].begin])
        threads.append({"run": run, "begin": begin, "end": run.t + r.choice([0, 7]),
                        "begin_cut": r.random() < 0.3, "end_cut": r.random() < 0.3})
    return {"threads": threads, "knows": knows, "program": program, "end": max(t["end"] for t in threads)}


def frames_text(frames):
    return " ".join(f"{c.path.split('/')[-1]}:{p}" for c, p in frames)


def text(h):
    lines = [f"recording 0 {h['end']}"]
    if h["knows"]:
        lines.append("cannot f0 99 99")  # even if no other line says so: the code is known
        for name, (places, _) in h["program"].items():
            for a in range(2 * len(places)):
                for b in range(2 * len(places)):
                    if not may_follow(h["program"], name, a, b):
                        lines.append(f"cannot {name} {a} {b}")
    for i, t in enumerate(h["threads"]):
        cut = (" begin-cut" if t["begin_cut"] else "") + (" end-cut" if t["end_cut"] else "")
        lines.append(f"thread t{i} {t['begin']} {t['end']}{cut}")
        for time, user, kernel, flags in t["run"].events:
            lines.append(f"event {time} {frames_text(user)}" + (f" | {frames_text(kernel)}" if kernel else "") +
                         (f" ; {' '.join(flags)}" if flags else ""))
    return "\n".join(lines) + "\nend\n"
