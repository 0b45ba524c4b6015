import { afterAll, beforeAll, expect, test } from "vitest";
import { openTestWaypoint, type TestWaypoint } from "../support/test-waypoint.ts";

/**
 * Maps one thing after the other at one address, whenever it gets a line; `last` is what it finds there.
 * "shared" is writable and nobody's file, "own" a program that runs, "file" a file that is written through.
 */
const MAPPER = `
import ctypes, os, shutil, subprocess, sys
AT, SIZE = 0x100000000, 4096
libc = ctypes.CDLL(None, use_errno=True)
libc.mmap.restype = ctypes.c_void_p
libc.mmap.argtypes = [ctypes.c_void_p, ctypes.c_size_t, ctypes.c_int, ctypes.c_int, ctypes.c_int, ctypes.c_long]
libc.munmap.argtypes = [ctypes.c_void_p, ctypes.c_size_t]
def map(rights, flags, path=None, mode=os.O_RDONLY):
    libc.munmap(AT, SIZE)
    fd = -1 if path is None else os.open(path, mode)
    if libc.mmap(AT, SIZE, rights, flags | 0x10, fd, 0) != AT: raise OSError(ctypes.get_errno())
    if fd >= 0: os.close(fd)
read = lambda: ctypes.string_at(AT, 8)
write = lambda text: ctypes.memmove(AT, text, len(text))
shutil.copy("/bin/sleep", "/root/running")
subprocess.Popen(["/root/running", "infinity"])
open("/root/file", "wb").write(b"the file" + bytes(SIZE))
for line in sys.stdin:
    kind = line.strip()
    if kind == "private": map(1, 2, "/root/file")
    if kind == "own": map(1, 2, "/root/running")
    if kind == "shared": map(3, 0x21); write(b"anybody ")
    if kind == "file": map(3, 1, "/root/file", os.O_RDWR); write(b"written ")
    if kind == "read-only": map(1, 1, "/root/file")
    if kind == "write": write(b"changed ")
    if kind == "allow": write(b"allowed ") if libc.mprotect(ctypes.c_void_p(AT), SIZE, 3) == 0 else None
    print(kind, read(), flush=True)
`;

let own: TestWaypoint;

beforeAll(async () => {
  own = await openTestWaypoint();
});
afterAll(() => own?.[Symbol.asyncDispose]());

// What was mapped at one checkpoint, and what is mapped there at the next: the kernel keeps the rights of the first.
test.each([
  ["private", "shared", "write", "changed "],
  ["read-only", "file", "write", "changed "],
  ["shared", "own", "look", "\\x7fELF"],
  // The kernel lets nobody write through a file that was opened for reading.
  ["file", "read-only", "allow", "written "],
])(
  "what is mapped in the place of a %s mapping comes back: %s",
  async (first, second, act, found) => {
    const session = await own.waypoint.new();
    await session.exec(`mkfifo /root/in /root/out; cat >/root/mapper.py <<'END'\n${MAPPER}\nEND`);
    const start = "(setsid python3 /root/mapper.py </root/in >/root/out 2>/root/wrong &)";
    await session.exec(`${start}; exec 7>/root/in 8</root/out`);
    const say = async (line: string) =>
      (
        await session.exec(
          `echo ${line} >&7; read -r -t 30 answer <&8; echo "$answer"; cat /root/wrong`,
        )
      ).stdout;

    expect(await say(first)).toMatch(first);
    await session.checkpoint();
    expect(await say(second)).toMatch(second);
    const { id } = await session.checkpoint();
    await session.restore(id);

    expect(await say(act)).toContain(found);
  },
);
