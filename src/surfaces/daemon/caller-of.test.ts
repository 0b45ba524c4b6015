import { expect, test } from "vitest";
import { callerOf } from "./caller-of.ts";

test("the name is that of the kernel's number; what the client says stands beside it", () => {
  const told = { surface: "terminal", sudoUser: "alice", tty: "/dev/pts/3", user: "mallory" };

  expect(callerOf(0, told)).toEqual({
    ...{ uid: 0, user: "root", surface: "terminal", sudoUser: "alice", tty: "/dev/pts/3" },
  });
  expect(callerOf(4_000_000_001, undefined)).toMatchObject({ uid: 4_000_000_001, user: null });
  expect(callerOf(null, null)).toMatchObject({ uid: null, user: null, surface: null });
});

test.for([
  [{ surface: "x".repeat(21) }],
  [{ surface: "cli\u001b[2J" }],
  [{ sudoUser: "a\nroot approved it" }],
  [{ sudoUser: "a".repeat(65) }],
  [{ tty: "/dev/../etc/passwd" }],
  [{ tty: ["/dev/pts/1"] }],
  ["cli"],
  [[]],
])("of %j nothing is taken", ([told]) => {
  expect(callerOf(0, told)).toMatchObject({ surface: null, sudoUser: null, tty: null });
});
