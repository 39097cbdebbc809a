# SPDX-License-Identifier: GPL-3.0-or-later
"""A program on a terminal of 80 columns and 24 lines, a VT52: what its screen shows, and keys."""
import fcntl, os, pty, re, select, struct, termios, time

ROWS, COLUMNS = 24, 80
LIMIT_S = 300  # ends a test that hangs; nothing else depends on it


class Terminal:
	def __init__(self, argv):
		self.pid, self.fd = pty.fork()
		if not self.pid:
			os.environ.update(TERM="vt52", LC_ALL="C.UTF-8")
			os.execvp(argv[0], argv)
		fcntl.ioctl(self.fd, termios.TIOCSWINSZ, struct.pack("HHHH", ROWS, COLUMNS, 0, 0))
		self.cells = [[" "] * COLUMNS for _ in range(ROWS)]
		self.row = self.column = 0
		self.pending = ""
		self.bytes = b""
		self.is_over = False

	def lines(self):
		return ["".join(row).rstrip() for row in self.cells]

	def text(self):
		return "\n".join(self.lines())

	def put(self, c):
		if c == "\r":
			self.column = 0
		elif c == "\n":
			self.row = min(self.row + 1, ROWS - 1)
		elif c == "\b":
			self.column = max(self.column - 1, 0)
		elif c == "\t":
			self.column = min(self.column // 8 * 8 + 8, COLUMNS - 1)
		elif c >= " ":
			self.cells[self.row][self.column] = c
			self.column = min(self.column + 1, COLUMNS - 1)

	def clear_line(self, row, column):
		self.cells[row][column:] = [" "] * (COLUMNS - column)

	def escape(self, c):
		if c == "A":
			self.row = max(self.row - 1, 0)
		elif c == "B":
			self.row = min(self.row + 1, ROWS - 1)
		elif c == "C":
			self.column = min(self.column + 1, COLUMNS - 1)
		elif c == "D":
			self.column = max(self.column - 1, 0)
		elif c == "H":
			self.row = self.column = 0
		elif c == "I":
			self.row = max(self.row - 1, 0)
		elif c == "K":
			self.clear_line(self.row, self.column)
		elif c == "J":
			self.clear_line(self.row, self.column)
			for row in range(self.row + 1, ROWS):
				self.clear_line(row, 0)

	def feed(self, data):
		self.bytes += data
		try:
			text, self.bytes = self.bytes.decode(), b""
		except UnicodeDecodeError as e:
			text, self.bytes = self.bytes[:e.start].decode(), self.bytes[e.start:]
		text = self.pending + text
		at = 0
		while at < len(text):
			if text[at] != "\x1b":
				self.put(text[at])
				at += 1
				continue
			need = 4 if text[at + 1:at + 2] == "Y" else 2
			if len(text) < at + need:
				break
			if need == 4:
				self.row, self.column = ord(text[at + 2]) - 32, ord(text[at + 3]) - 32
			else:
				self.escape(text[at + 1])
			at += need
		self.pending = text[at:]

	def read(self, seconds):
		if not select.select([self.fd], [], [], seconds)[0]:
			return
		try:
			data = os.read(self.fd, 65536)
		except OSError:
			data = b""
		if not data:
			self.is_over = True
		self.feed(data)

	def press(self, keys):
		os.write(self.fd, keys.encode())

	def until(self, what, condition):
		"""Waits until the screen shows it."""
		end = time.monotonic() + LIMIT_S
		while not (found := condition(self)):
			if self.is_over or time.monotonic() > end:
				raise SystemExit(f"FAIL: {what}; the screen:\n{self.text()}")
			self.read(0.5)
		return found

	def until_text(self, text):
		return self.until(f"it does not show {text!r}", lambda t: re.search(text, t.text()))

	def chosen(self):
		return next((line for line in self.lines() if line.startswith("> ")), "")

	def wait(self):
		end = time.monotonic() + LIMIT_S
		while not self.is_over and time.monotonic() < end:
			self.read(0.5)
		return os.waitstatus_to_exitcode(os.waitpid(self.pid, 0)[1])
