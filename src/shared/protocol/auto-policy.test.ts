import { expect, test } from "vitest";
import { parseAutoPolicy } from "./auto-policy.ts";

test("a policy is what it says, and equal ones are written alike", () => {
  const written = (text: string) => parseAutoPolicy(text)?.text;

  expect(parseAutoPolicy("hybrid")).toEqual({
    ...{ text: "hybrid", commands: "changing", edits: false, tasks: true, everyMs: null },
  });
  expect(parseAutoPolicy("every=90s")?.everyMs).toBe(90_000);
  expect(written("off")).toBe("manual");
  expect(written("task,hybrid")).toBe("hybrid");
  expect(written("every=300s,edit,hybrid,command")).toBe("command,edit,task,every=5m");
  expect(written("task,every=2h")).toBe("task,every=2h");
});

test("what is no policy is none", () => {
  const none = ["", "on", "hybrid,", "off,edit", "every", "every=0s", "every=5", "every=999999h"];
  for (const text of [...none, "every=1m,every=2m"]) expect(parseAutoPolicy(text)).toBeNull();
});
