import { expect, test } from "vitest";
import { engineWithSession, SESSION } from "../../../test/support/fake-session.ts";
import { enlistInstance } from "./parked-instance.ts";

test("a process of which threads run on is not left out when its first one has ended", () => {
  const fake = engineWithSession(SESSION);
  const processes = [
    { hostPid: 70, state: "S", threadCount: 1 },
    { hostPid: 71, state: "Z", threadCount: 2 },
    { hostPid: 72, state: "Z", threadCount: 1 },
  ];
  fake.steps.answer("sandbox.listProcesses", () => processes);
  let taken: number[] = [];
  fake.steps.answer("freezer.enlist", (_id: string, listPids: () => number[]) => {
    taken = listPids();
    return true;
  });

  expect(enlistInstance(fake.live("s1", "s1-1"), fake.engine)).toBe(true);

  expect(taken).toEqual([70, 71]);
});
