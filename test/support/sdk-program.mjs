// A program of somebody else's that embeds the built package in whichever Node runs it. What it finds
// wrong ends it with an error; otherwise it prints which Node it ran on.
import assert from "node:assert/strict";
import process from "node:process";
import { attempt, bestOf, Checkpoint, hasCode, Waypoint, WaypointError } from "waypoint";

const waypoint = await Waypoint.open();
const session = await waypoint.new({ name: "embedded", net: "none" });

// Output as it comes, and a command that is given up.
const pieces = [];
const ran = await session.exec("cd /srv && for i in 1 2 3; do echo $i; done; echo no >&2; false", {
  onStdout: (bytes) => pieces.push(Buffer.from(bytes)),
});
assert.equal(Buffer.concat(pieces).toString(), "1\n2\n3\n");
assert.deepEqual([ran.exitCode, ran.stderr], [1, "no\n"]);
const given = await session.exec(["cat"], { shell: "own", input: "ä".repeat(100_000) });
assert.equal(given.stdout.length, 100_000);
const stop = new AbortController();
const stopped = session.exec("sleep 600", { signal: stop.signal });
setTimeout(() => stop.abort(), 100);
await assert.rejects(
  stopped,
  (error) => hasCode(error, "CANCELLED") && error.cause.name === "AbortError",
);
await assert.rejects(waypoint.sessions({ signal: AbortSignal.abort() }), { code: "CANCELLED" });
await assert.rejects(waypoint.session("none"), WaypointError);

const command = session.spawn("seq 1 3; echo no >&2");
const read = [];
for await (const bytes of command.stdout) read.push(Buffer.from(bytes));
assert.equal(Buffer.concat(read).toString(), "1\n2\n3\n");
assert.equal((await command.exit).exitCode, 0);
const endless = session.spawn("sleep 600");
await endless[Symbol.asyncDispose]();
assert.ok((await session.ps()).every((each) => each.command !== "sleep 600"));

// The agent's state, with a value of older code.
await session.state.append("conversation", [{ role: "user", content: "hello" }]);
await session.state.set("plan", ["a"], { schema: { name: "planner", version: 1 } });
const plan = await session.state.get("plan", {
  schema: { name: "planner", version: 2 },
  migrations: { 1: (steps) => ({ steps }) },
});
assert.deepEqual(plan, { steps: ["a"] });

// Tasks, effects and decisions.
await session.tasks.add({ id: "one", title: "The first" });
await session.tasks.add({ id: "two", title: "The second", after: ["one"] });
let calls = 0;
const call = () =>
  session.effect("call", { input: { to: "b", from: "a" } }, async () => {
    calls += 1;
    return { calls };
  });
const done = [];
await session.tasks.run(async ({ id }, atEnd) => {
  done.push(id);
  atEnd.append("conversation", [{ role: "tool", content: id }]);
  return await call();
});
assert.deepEqual([done, calls], [["one", "two"], 1]);
await session.decide({ choice: "use files", reason: "they are there" });

// Going back: machine and state, but not what was done outside.
await session.exec("echo begun > /srv/file");
const before = await session.checkpoint({ name: "before" });
assert.ok(before instanceof Checkpoint);
await session.exec("echo changed > /srv/file");
await session.state.append("conversation", [{ role: "assistant", content: "done" }]);
await session.decide({ choice: "changing the file was wrong" });
await session.restore(before);
assert.equal((await session.exec("cat /srv/file")).stdout, "begun\n");
assert.equal((await session.state.get("conversation")).length, 3);
assert.deepEqual(await call(), { calls: 1 });
assert.match((await session.lessons()).account, /changing the file was wrong/);
await session.undo();
assert.equal((await session.exec("cat /srv/file")).stdout, "changed\n");

// Files of any moment, and what differs.
const bytes = [];
for await (const piece of waypoint.cat(before, "/srv/file")) bytes.push(Buffer.from(piece));
assert.equal(Buffer.concat(bytes).toString(), "begun\n");
const { files } = await waypoint.diff(before, session);
assert.ok(files.some(({ path }) => path === "/srv/file"));
const found = [];
for await (const { path } of waypoint.grep("begun", { checkpoints: [before], path: "/srv" })) {
  found.push(path);
}
assert.deepEqual(found, ["/srv/file"]);

// Patterns, and the end of what `await using` would hold: it is syntax of Node 24.
await assert.rejects(
  attempt(session, async () => {
    await session.exec("rm /srv/file");
    throw new Error("it broke");
  }),
  /it broke/,
);
assert.equal((await session.exec("cat /srv/file")).stdout, "changed\n");
const strategies = ["a", "bbb"].map((text) => async (fork) => {
  await fork.exec(`echo ${text} > /srv/file`);
  return text.length;
});
const best = await bestOf(before, strategies, { score: (length) => length });
assert.equal((await best.session.exec("cat /srv/file")).stdout, "bbb\n");
await best.session[Symbol.asyncDispose]();
const forks = await before.fork(2);
await forks[Symbol.asyncDispose]();
await session[Symbol.asyncDispose]();
assert.deepEqual(await waypoint.sessions(), []);

process.stdout.write(`${process.version}\n`);
