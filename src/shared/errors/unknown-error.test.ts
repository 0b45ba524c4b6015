import { expect, test } from "vitest";
import { toWaypointError } from "./waypoint-error.ts";

test("an exception that nobody expected is INTERNAL, and its cause is kept", () => {
  const cause = new TypeError("x is undefined");

  const error = toWaypointError(cause);

  expect({ code: error.code, cause: error.cause }).toEqual({ code: "INTERNAL", cause });
});
