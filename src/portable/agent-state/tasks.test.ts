import { expect, test } from "vitest";
import { beginTask, changeTask, nextTask, parseTasks, type Task } from "./index.ts";

const refusedWith = (text: string | RegExp, code = "USAGE_INVALID") =>
  expect.objectContaining({ code, message: expect.stringMatching(text) });

function plan(...tasks: [id: string, ...dependsOn: string[]][]): Task[] {
  return parseTasks(tasks.map(([id, ...dependsOn]) => ({ id, dependsOn })));
}

test("the next task is the first that is not done and whose dependencies are", () => {
  let tasks = plan(["ship", "test"], ["build"], ["test", "build"]);
  const order: string[] = [];
  for (let next = nextTask(tasks); next !== undefined; next = nextTask(tasks)) {
    order.push(next.id);
    tasks = changeTask(beginTask(tasks, next.id), next.id, { status: "completed" });
  }

  expect(order).toEqual(["build", "test", "ship"]);
  expect(tasks.map(({ attempts }) => attempts)).toEqual([1, 1, 1]);
});

test("one in progress and one that failed come again, and what is skipped holds nothing up", () => {
  const begun = beginTask(plan(["a"], ["b", "a"]), "a");
  expect(nextTask(begun)?.id).toBe("a");
  const failed = changeTask(begun, "a", { status: "failed", notes: ["no network"] });
  expect(nextTask(failed)).toMatchObject({ id: "a", attempts: 1, notes: ["no network"] });
  expect(nextTask(changeTask(failed, "a", { status: "skipped" }))?.id).toBe("b");
  expect(nextTask([])).toBeUndefined();
});

test("a task that waits, is done or is none cannot begin", () => {
  const tasks = plan(["a"], ["b", "a"]);

  const notReady = (text: RegExp) => refusedWith(text, "TASK_NOT_READY");
  expect(() => beginTask(tasks, "b")).toThrow(notReady(/"b" waits for "a"/));
  expect(() => beginTask(changeTask(tasks, "a", { status: "completed" }), "a")).toThrow(
    notReady(/"a" is completed/),
  );
  expect(() => changeTask(tasks, "c", {})).toThrow(refusedWith(/no task "c"/, "TASK_NOT_FOUND"));
});

test("what is no list of tasks is refused, with what is wrong in it", () => {
  const check = (value: unknown, text: RegExp) =>
    expect(() => parseTasks(value)).toThrow(refusedWith(text));

  check("all", /expected array/);
  check([{ id: "a", status: "dunno" }], /status/);
  check([{ id: "a", prio: 1 }], /prio/);
  check([{ id: "a" }, { id: "a" }], /Two tasks have the id "a"/);
  check([{ id: "a", dependsOn: ["x"] }], /depends on "x", which is none/);
  check([{ id: "a", dependsOn: ["a"] }], /a → a/);
  const circle = [
    { id: "start", dependsOn: ["c"] },
    { id: "a", dependsOn: ["c"] },
    { id: "b", dependsOn: ["a"] },
    { id: "c", dependsOn: ["b"] },
  ];
  check(circle, /c → b → a → c/);
});

test("a chain of ten thousand tasks is no circle", () => {
  const tasks = Array.from({ length: 10_000 }, (_, at) => ({
    id: `t${at}`,
    dependsOn: at === 9999 ? [] : [`t${at + 1}`],
  }));

  expect(nextTask(parseTasks(tasks))?.id).toBe("t9999");
});
