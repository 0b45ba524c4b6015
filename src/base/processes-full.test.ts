import { expect, test } from "vitest";
import { processesFull } from "./processes-full.ts";

test.each([
  "sh: 0: Cannot fork",
  "sh: 11: Cannot fork\n",
  "bash: fork: retry: Resource temporarily unavailable",
  "bash: fork: Resource temporarily unavailable",
  "make namespaces: Resource temporarily unavailable",
  "nsenter: fork failed: Resource temporarily unavailable",
])("%s: the table of processes is full", (said) => {
  expect(processesFull(said)?.code).toBe("PROCESSES_FULL");
});

test.each(["", "RTNETLINK answers: Resource temporarily unavailable", "Cannot forkbomb"])(
  "%s: something else",
  (said) => {
    expect(processesFull(said)).toBeNull();
  },
);

test("what starting a program threw is told apart by its code", () => {
  const refused = Object.assign(new Error("spawn ip EAGAIN"), { code: "EAGAIN" });

  expect(processesFull(refused)?.code).toBe("PROCESSES_FULL");
  expect(processesFull(Object.assign(refused, { code: "ENOENT" }))).toBeNull();
});
