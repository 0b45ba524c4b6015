import { mkdtempSync, rmSync } from "node:fs";
import os from "node:os";
import path from "node:path";
import { afterAll, expect, test } from "vitest";
import { AgentState } from "./agent-state.ts";
import { Approvals } from "./approvals.ts";
import { Bases } from "./bases.ts";
import { Checkpoint } from "./checkpoint.ts";
import { CommandedSession } from "./commanded-session.ts";
import { ForwardedSession } from "./forwarded-session.ts";
import { bestOf, compare } from "./patterns.ts";
import { bindCheckpoint, Session } from "./session.ts";
import { Tasks } from "./tasks.ts";
import { Waypoint } from "./waypoint.ts";

/** No daemon listens there, and none is started by a call that was given up before. */
const stateDir = mkdtempSync(path.join(os.tmpdir(), "waypoint-none-"));
afterAll(() => rmSync(stateDir, { recursive: true }));

const gone = { signal: AbortSignal.abort() };
const session = new Session(stateDir, { id: "abc1", name: "web" }, true);
const checkpoint = bindCheckpoint(stateDir, { id: "c1", name: null } as never);
const waypoint = Reflect.construct(Waypoint as never, [stateDir]) as Waypoint;
const { state, tasks } = session;
const { bases, approvals } = waypoint;
const drain = async (source: AsyncIterable<unknown>) => {
  for await (const _ of source);
};

/** Each method that asks the daemon, called with a signal that is aborted already. */
const CALLS: Record<string, Record<string, () => Promise<unknown>>> = {
  Waypoint: {
    open: () => Waypoint.open({ ...gone, stateDir }),
    new: () => waypoint.new(gone),
    session: () => waypoint.session("web", gone),
    sessions: () => waypoint.sessions(gone),
    log: () => waypoint.log(gone),
    show: () => waypoint.show("c1", gone),
    diff: () => waypoint.diff("c1", "c2", gone),
    verify: () => waypoint.verify(["c1"], "true", gone),
    bisect: () => waypoint.bisect("c1", "c2", "true", gone),
    cat: () => drain(waypoint.cat("c1", "/etc/hosts", gone)),
    cp: () => waypoint.cp({ moment: "c1", path: "/a" }, { path: "/b" }, gone),
    browse: () => waypoint.browse("c1", gone),
    browses: () => waypoint.browses(gone),
    endBrowse: () => waypoint.endBrowse("c1", gone),
    grep: () => drain(waypoint.grep("a", gone)),
    apply: () => waypoint.apply("c1", gone),
    undoApply: () => waypoint.undoApply(gone),
    merge: () => waypoint.merge("web", "c1", gone),
    removeCheckpoints: () => waypoint.removeCheckpoints(["c1"], gone),
    checkpoint: () => waypoint.checkpoint("web", gone),
    fork: () => waypoint.fork("c1", gone),
  },
  Session: {
    info: () => session.info(gone),
    checkpoint: () => session.checkpoint(gone),
    restore: () => session.restore("c1", gone),
    planRestore: () => session.planRestore("c1", gone),
    undo: () => session.undo(gone),
    revert: () => session.revert("c1", "c2", gone),
    planRevert: () => session.planRevert("c1", "c2", gone),
    verifyWith: () => session.verifyWith("true", gone),
    ps: () => session.ps(gone),
    log: () => session.log(gone),
    standby: () => session.standby("off", gone),
    auto: () => session.auto(gone),
    rename: () => session.rename("other", gone),
    keep: () => session.keep(gone),
    start: () => session.start(gone),
    stop: () => session.stop(gone),
    remove: () => session.remove(gone),
    fork: () => session.fork("c1", gone),
    removeFiles: () => session.removeFiles(gone),
    attach: () => session.attach({ columns: 80, rows: 24, ...gone }),
  },
  CommandedSession: {
    exec: () => session.exec("true", gone),
    spawn: () => session.spawn("true", gone).exit,
  },
  ForwardedSession: {
    effect: () => session.effect("key", gone, async () => 1),
    settleEffect: () => session.settleEffect("key", null, gone),
    effects: () => session.effects(gone),
    decide: () => session.decide({ choice: "a", ...gone }),
    lessons: () => session.lessons(gone),
    forward: () => session.forward(80, gone),
    forwards: () => session.forwards(gone),
    stopForward: () => session.stopForward(80, gone),
    operations: () => session.operations(gone),
    contacts: () => session.contacts(gone),
    show: () => session.show("c1", gone),
  },
  Checkpoint: {
    fork: () => checkpoint.fork(1, gone),
    verify: () => checkpoint.verify("true", gone),
    setName: () => checkpoint.setName("a", gone),
    tag: () => checkpoint.tag({ add: ["a"] }, gone),
    describe: () => checkpoint.describe("a", gone),
    forgetVerifications: () => checkpoint.forgetVerifications(null, gone),
    show: () => checkpoint.show(gone),
  },
  AgentState: {
    keys: () => state.keys(gone),
    get: () => state.get("a", gone),
    set: () => state.set("a", 1, gone),
    append: () => state.append("a", [1], gone),
    remove: () => state.remove(["a"], gone),
    update: () => state.update(gone),
  },
  Tasks: {
    list: () => tasks.list(gone),
    add: () => tasks.add({ title: "a", ...gone }),
    plan: () => tasks.plan([{ id: "a", title: "a" }], gone),
    next: () => tasks.next(gone),
    begin: () => tasks.begin("a", gone),
    set: () => tasks.set("a", { status: "completed", ...gone }),
    run: () => tasks.run(async () => 1, gone),
  },
  Bases: {
    add: () => bases.add({ name: "a", from: "/", ...gone }),
    list: () => bases.list(gone),
    changes: () => bases.changes("c1", gone),
    remove: () => bases.remove("a", gone),
    setDefault: () => bases.setDefault(null, gone),
  },
  Approvals: {
    list: () => approvals.list(undefined, gone),
    watch: () => drain(approvals.watch(gone)),
    approve: () => approvals.approve("a", gone),
    deny: () => approvals.deny("a", gone),
    policy: () => approvals.policy("web", undefined, gone),
  },
  patterns: {
    bestOf: () => bestOf(checkpoint, [async () => 1], { score: Number, ...gone }),
    compare: () => compare(checkpoint, [async () => 1, async () => 2], async () => undefined, gone),
  },
};

const cases = Object.entries(CALLS).flatMap(([group, calls]) =>
  Object.entries(calls).map(([name, call]) => [`${group}.${name}`, call] as const),
);

test.each(cases)("%s ends with CANCELLED when its signal is aborted", async (_name, call) => {
  await expect(call()).rejects.toMatchObject({
    code: "CANCELLED",
    cause: { name: "AbortError" },
  });
});

test("the table has each method of the SDK that asks the daemon", () => {
  const classes = { Waypoint, Session, CommandedSession, ForwardedSession, Checkpoint };
  const all = { ...classes, AgentState, Tasks, Bases, Approvals };
  /** Answered here. */
  const own = ["constructor", "toJSON"];
  for (const [name, { prototype }] of Object.entries(all)) {
    const methods = Object.entries(Object.getOwnPropertyDescriptors(prototype))
      .filter(([method, { value }]) => typeof value === "function" && !own.includes(method))
      .map(([method]) => method);
    const table = Object.keys(CALLS[name] ?? {}).filter((method) => method !== "open");
    expect(table.sort(), name).toEqual(methods.sort());
  }
});
