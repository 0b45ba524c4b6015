import { expect, test } from "vitest";
import { excerptAroundErrors } from "./log-excerpt.ts";

const HARMLESS =
  "Error (criu/util.c:1534): rlimit: Can't setup RLIMIT_NOFILE for self: Operation not permitted";

test("the excerpt starts shortly before the first error and is bounded", () => {
  const log = [
    HARMLESS,
    ...Array.from({ length: 50 }, (_, n) => `line ${n}`),
    "Error (x.c:1): bad",
    ...Array.from({ length: 500 }, () => "y".repeat(1000)),
  ].join("\n");

  const excerpt = excerptAroundErrors(log);

  expect(excerpt.slice(0, 4)).toEqual(["line 47", "line 48", "line 49", "Error (x.c:1): bad"]);
  expect(excerpt.join("\n").length).toBeLessThan(8000);
});
