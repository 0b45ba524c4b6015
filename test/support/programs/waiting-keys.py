"""Terminals with both sides in one process, in which something waits: waiting-keys.py DIRECTORY.

Writes DIRECTORY/waiting when it is all there, waits for DIRECTORY/go, and writes to DIRECTORY/found what
programs and whoever has the other side would get of each, as lines of text.
"""
import os
import pty
import sys
import termios
import time

IFLAG, OFLAG, CFLAG, LFLAG, CC = 0, 1, 2, 3, 6
LINES = b"".join(b"%04d\tabc\x1b[A\n" % number for number in range(800))


def settings(slave, change):
    attributes = termios.tcgetattr(slave)
    change(attributes)
    termios.tcsetattr(slave, termios.TCSANOW, attributes)


def without_echo(attributes):
    attributes[LFLAG] &= ~termios.ECHO


def raw(attributes):
    attributes[IFLAG] &= ~(termios.IXON | termios.ICRNL)
    attributes[LFLAG] &= ~(termios.ICANON | termios.ECHO | termios.ISIG | termios.IEXTEN)


def key_by_key(attributes):
    attributes[LFLAG] &= ~termios.ICANON


def other_ends(attributes):
    attributes[LFLAG] &= ~(termios.IEXTEN | termios.ECHO)
    attributes[CC][termios.VEOL] = b";"
    attributes[CC][termios.VEOF] = b"%"


def outside_lines(attributes):
    attributes[LFLAG] |= 0o200000  # EXTPROC
    attributes[LFLAG] &= ~termios.ECHO


def stops(attributes):
    raw(attributes)
    attributes[IFLAG] |= termios.IXON


# name: settings, what is typed, what is printed
KINDS = {
    "lines": (None, b"one\ntwo\nthr", b""),
    "a half line": (None, b"hal", b""),
    "ends": (without_echo, b"one\x04\x04two\nx\x16\x03y\x16\x04z", b""),
    "raw": (raw, b"a\r\x04\x16\x13\x11\x03\x7f", b""),
    "echoed": (key_by_key, b"abc", b""),
    "many lines": (without_echo, LINES, b""),
    "many bytes": (raw, LINES, b""),
    "other ends": (other_ends, b"one;two%three\nfour\x16;fi\x04", b""),
    "outside lines": (outside_lines, b"one\ntwo\x04thr", b""),
    "printed": (None, b"", b"one\ntwo\n"),
    "opened twice": (None, b"one\ntwo\nthr", b""),
    "nothing": (None, b"", b""),
}


def read_all(fd):
    chunks = []
    while True:
        try:
            chunk = os.read(fd, 65536)
        except BlockingIOError:
            return chunks
        chunks.append(chunk)
        if chunk == b"" and len(chunks) > 1 and chunks[-2] == b"":
            return chunks


opened = []
for name, (change, typed, printed) in KINDS.items():
    master, slave = pty.openpty()
    if change is not None:
        settings(slave, change)
    also = os.open(os.ttyname(slave), os.O_RDWR | os.O_NOCTTY) if name == "opened twice" else None
    os.set_blocking(master, False)
    os.write(master, typed)
    os.write(slave, printed)
    opened.append((name, master, slave, also))
stopped = pty.openpty()
settings(stopped[1], raw)
os.set_blocking(stopped[0], False)
os.write(stopped[0], b"a\x13b")
time.sleep(0.2)
settings(stopped[1], stops)
opened.append(("keys that would stop it", *stopped, None))

os.chdir(sys.argv[1])
# The kernel takes in what is typed by itself.
time.sleep(0.5)
open("waiting", "w").close()
while not os.path.exists("go"):
    time.sleep(0.05)

with open("found.new", "w") as found:
    for name, master, slave, _ in opened:
        os.set_blocking(slave, False)
        shown = b"".join(read_all(master))
        read = read_all(slave)
        # What is no line yet becomes one.
        os.write(master, b"end\n")
        time.sleep(0.1)
        read += [b"and"] + read_all(slave)
        attributes = termios.tcgetattr(slave)
        # Without lines nobody can tell one read from the next.
        read = read if attributes[LFLAG] & termios.ICANON else b"".join(read)
        print(name, "shown", shown, "read", read, attributes[:4], attributes[CC], file=found)
os.rename("found.new", "found")
