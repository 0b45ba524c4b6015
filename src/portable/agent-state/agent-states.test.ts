import { expect, test, vi } from "vitest";
import { type JsonValue, MemoryObjects } from "../objects/index.ts";
import { AgentStates } from "./agent-states.ts";

const states = (objects = new MemoryObjects()) =>
  new AgentStates(
    () => objects,
    (value) => value,
  );
const change = (parts: object) => ({ set: {}, append: {}, remove: [], ...parts });
const failsWith = (code: string) => expect.objectContaining({ code });

test("keys are set, appended to and removed, and each state stays as it was", () => {
  const own = states();
  const schema = { name: "planner", version: 2 };
  const first = own.change(
    null,
    change({ set: { plan: { value: { step: 1 }, schema } }, append: { talk: ["a", "b"] } }),
  );
  const second = own.change(first, change({ append: { talk: ["c"] }, remove: ["plan"] }));

  expect(own.keysOf(first)).toEqual([
    { key: "plan", schema, bytes: 10, items: null },
    { key: "talk", schema: null, bytes: 9, items: 2 },
  ]);
  expect(own.read(first, "plan").value).toEqual({ step: 1 });
  expect(own.read(second, "talk")).toMatchObject({ value: ["a", "b", "c"], bytes: 13, items: 3 });
  expect(() => own.read(second, "plan")).toThrow(failsWith("STATE_KEY_NOT_FOUND"));
  expect(own.changedKeys(first, second).map(({ key, restored }) => [key, restored?.items])).toEqual(
    [
      ["plan", undefined],
      ["talk", 3],
    ],
  );
  expect(own.change(second, change({ remove: ["talk"] }))).toBeNull();
});

test("a version names the content, whichever way it came to be", () => {
  const own = states();
  const once = own.change(null, change({ set: { talk: { value: ["a", "b"] } } }));
  const twice = own.change(
    own.change(null, change({ append: { talk: ["a"] } })),
    change({ append: { talk: ["b"] } }),
  );

  expect(own.versionOf(twice)).toBe(own.versionOf(once));
  expect(own.versionOf(null)).toBeNull();
});

test("sizes are those of the JSON, however it was put together", () => {
  const own = states();
  let root = null as string | null;
  const all: JsonValue[] = [];
  for (const items of [[], ["é"], [{ a: 1 }, null], [], ["x".repeat(5000)]] as JsonValue[][]) {
    root = own.change(root, change({ append: { talk: items } }));
    all.push(...items);
    expect(own.read(root, "talk").bytes).toBe(Buffer.byteLength(JSON.stringify(all)));
  }
});

test("what is no JSON, too deep, too large or named twice is refused, and nothing changes", () => {
  const own = states();
  const root = own.change(null, change({ set: { plan: { value: 1 } } }));
  let deep: JsonValue = 1;
  for (let at = 0; at < 100_000; at += 1) deep = [deep];
  const circle: JsonValue[] = [];
  circle.push(circle);

  for (const value of [undefined, Number.NaN, deep, circle]) {
    expect(() => own.change(root, change({ set: { a: { value } } }))).toThrow(
      failsWith("USAGE_INVALID"),
    );
  }
  expect(() => own.change(root, change({ append: { plan: [1] } }))).toThrow(
    failsWith("USAGE_INVALID"),
  );
  const twice = change({ set: { plan: { value: 1 } }, remove: ["plan"] });
  expect(() => own.change(root, twice)).toThrow(failsWith("USAGE_INVALID"));
  const large = change({ set: { a: { value: "x".repeat(65 * 1024 ** 2) } } });
  expect(() => own.change(root, large)).toThrow(failsWith("STATE_TOO_LARGE"));
  const keys = Object.fromEntries(
    Array.from({ length: 1001 }, (_, at) => [`k${at}`, { value: 1 }]),
  );
  expect(() => own.change(root, change({ set: keys }))).toThrow(failsWith("STATE_TOO_LARGE"));
  expect(own.keysOf(root)).toHaveLength(1);
});

test("tasks are checked, completed with what was left out, and never appended to blindly", () => {
  const own = states();
  const root = own.change(null, change({ set: { tasks: { value: [{ id: "1" }] } } }));

  expect(own.tasksOf(root)).toMatchObject([{ id: "1", status: "pending", attempts: 0 }]);
  const unknown = change({ append: { tasks: [{ id: "2", status: "lost" }] } });
  expect(() => own.change(root, unknown)).toThrow(failsWith("USAGE_INVALID"));
  const circle = change({ append: { tasks: [{ id: "2", dependsOn: ["2"] }] } });
  expect(() => own.change(root, circle)).toThrow(failsWith("USAGE_INVALID"));
  const two = own.change(root, change({ append: { tasks: [{ id: "2", dependsOn: ["1"] }] } }));
  expect(own.tasksOf(two).map(({ id }) => id)).toEqual(["1", "2"]);
});

test("secrets are taken out before anything is kept", () => {
  const objects = new MemoryObjects();
  const own = new AgentStates(
    () => objects,
    () => "nothing",
  );
  const root = own.change(null, change({ set: { plan: { value: "secret" } } }));

  expect(own.read(root, "plan").value).toBe("nothing");
});

test("what no state needs goes, and the file is opened when something is first needed", () => {
  const open = vi.fn(() => new MemoryObjects());
  const own = new AgentStates(open, (value) => value);
  expect(own.keysOf(null)).toEqual([]);
  expect(own.versionOf(null)).toBeNull();
  expect(open).not.toHaveBeenCalled();

  const long = { value: ["x".repeat(40_000)] };
  const root = own.change(null, change({ set: { a: long } }));
  own.change(root, change({ append: { a: ["y".repeat(40_000)] } }));
  expect(own.keepOnly([root ?? ""])).toBeGreaterThan(0);
  expect(own.read(root, "a").items).toBe(1);
  own.keepOnly([]);
  expect(open.mock.results[0]?.value.totals.objects).toBe(0);
});
