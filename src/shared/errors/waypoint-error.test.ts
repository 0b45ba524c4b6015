import { expect, test } from "vitest";
import { hasCode, toWaypointError, WaypointError } from "./waypoint-error.ts";

test("an error crosses processes with code, message, hint and detail", () => {
  const error = new WaypointError("NAME_IN_USE", "There is one.", {
    hint: "Take another.",
    detail: { name: "web" },
  });

  const received = WaypointError.fromJSON(JSON.parse(JSON.stringify(error)));

  expect(received.toJSON()).toEqual(error.toJSON());
  expect(hasCode(received, "NAME_IN_USE")).toBe(true);
});

test("a code of a newer version becomes INTERNAL and is kept", () => {
  const wire = { code: "FROM_THE_FUTURE", message: "What?", hint: null, detail: { a: 1 } };

  expect(WaypointError.fromJSON(wire)).toMatchObject({
    code: "INTERNAL",
    message: "What?",
    hint: null,
    detail: { a: 1, unknownCode: "FROM_THE_FUTURE" },
  });
});

test("a code is not taken from the prototype of the registry", () => {
  const wire = { code: "toString", message: "", hint: null, detail: {} };

  expect(WaypointError.fromJSON(wire).code).toBe("INTERNAL");
});

test.each([
  [new TypeError("x is not a function"), "Internal error: x is not a function"],
  ["a string", "Internal error: a string"],
  [undefined, "Internal error: undefined"],
])("what nobody expected is INTERNAL: %s", (thrown, message) => {
  expect(toWaypointError(thrown)).toMatchObject({ code: "INTERNAL", message });
});

test("a failing cleanup does not hide what went wrong first", () => {
  const first = new WaypointError("STORE_FULL", "No room.", { hint: "Make room." });
  const thrown = new SuppressedError(new Error("busy"), first, "two errors");

  expect(toWaypointError(thrown).toJSON()).toEqual({
    code: "STORE_FULL",
    message: "No room.",
    hint: "Make room.",
    detail: { cleanupFailure: "Error: busy" },
  });
});
