import path from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import type { Session } from "../../src/index.ts";
import { TestTerminal } from "../support/test-terminal.ts";
import { openTestWaypoint, type TestWaypoint } from "../support/test-waypoint.ts";

const PROGRAM = path.join(import.meta.dirname, "../support/programs/waiting-keys.py");
const WAIT = "echo waiting; until [ -e /root/go ]; do sleep 0.1; done";
const END_OF_FILE = "\u0004";
const LITERAL = "\u0016";

let own: TestWaypoint;

beforeAll(async () => {
  own = await openTestWaypoint();
});

afterAll(async () => {
  await own?.[Symbol.asyncDispose]();
});

/** Starts a program behind a wait for `/root/go`, and types what nobody reads before. */
async function typeAhead(name: string, program: string, keys: string, echo: RegExp) {
  const session = await own.waypoint.new({ name });
  await session.exec("PS1='ready> '; cd /root");
  const terminal = await TestTerminal.attach(session);
  await terminal.type(`(${WAIT}; ${program}; touch ended)\r`);
  await terminal.waitFor(/^waiting$/);
  await terminal.type(keys);
  await terminal.waitFor(echo);
  return { session, terminal };
}

/** Types the rest, lets the program go on, and returns what it has read into `got`. */
async function finish(session: Session, keys: string, echo: RegExp): Promise<string> {
  await using terminal = await TestTerminal.attach(session);
  await terminal.type(keys);
  await terminal.waitFor(echo);
  const echoed = terminal.screen().filter((shown) => /^(one|two|thr|three)$/.test(shown));
  expect(echoed.length).toBe(new Set(echoed).size);
  const line = "touch go; until [ -e ended ]; do sleep 0.1; done; cat -A got";
  return (await session.exec(line, { shell: "own", cwd: "/root" })).stdout;
}

test("a half line stays behind the whole ones before it: where it was typed, in forks and restores", async () => {
  const { session, terminal } = await typeAhead("halves", "cat > got", "one\rtwo\rthr", /^thr$/);
  const checkpoint = await session.checkpoint();
  await session.checkpoint();
  await terminal[Symbol.asyncDispose]();
  const [fork] = await own.waypoint.fork(checkpoint.id);
  const rest = [`ee\r${END_OF_FILE}`, /^three$/] as const;

  expect(await finish(session, ...rest)).toBe("one$\ntwo$\nthree$\n");
  expect(await finish(fork as Session, ...rest)).toBe("one$\ntwo$\nthree$\n");
  await session.restore(checkpoint.id);
  expect(await finish(session, ...rest)).toBe("one$\ntwo$\nthree$\n");
});

test("ends of files and literal keys wait as such", async () => {
  const keys = `one\r${END_OF_FILE}two${END_OF_FILE}${END_OF_FILE}${LITERAL}\u0003x${LITERAL}${END_OF_FILE}\rhal`;
  const { session, terminal } = await typeAhead(
    "ends",
    "cat > got; cat >> got; cat >> got",
    keys,
    /^hal$/,
  );
  const checkpoint = await session.checkpoint();
  await terminal[Symbol.asyncDispose]();
  const [fork] = await own.waypoint.fork(checkpoint.id);
  const rest = [`f\r${END_OF_FILE}`, /^half$/] as const;

  expect(await finish(session, ...rest)).toBe("one$\ntwo^Cx^D$\nhalf$\n");
  expect(await finish(fork as Session, ...rest)).toBe("one$\ntwo^Cx^D$\nhalf$\n");
});

test("keys to a program that reads each by itself wait as they are", async () => {
  const program = "stty raw; echo raw; until [ -e go ]; do sleep 0.1; done; head -c 7 > got";
  const session = await own.waypoint.new({ name: "raw" });
  await session.exec("PS1='ready> '; cd /root");
  const terminal = await TestTerminal.attach(session);
  await terminal.type(`(${program}; stty sane; touch ended)\r`);
  await terminal.waitFor(/^raw$/);
  await terminal.type(`\r${END_OF_FILE}${LITERAL}az`);
  await terminal.waitFor(/az$/);
  const checkpoint = await session.checkpoint();
  await terminal[Symbol.asyncDispose]();
  const [fork] = await own.waypoint.fork(checkpoint.id);

  for (const each of [session, fork as Session]) {
    await using attached = await TestTerminal.attach(each);
    await attached.type("\nb");
    const line = "touch go; until [ -e ended ]; do sleep 0.1; done; cat -A got";
    const { stdout } = await each.exec(line, { shell: "own", cwd: "/root" });
    expect(stdout).toBe("^M^D^Vaz$\nb");
  }
});

/** Starts a program with terminals of all kinds in which something waits; returns where it works. */
async function startWaiting(session: Session, dir: string): Promise<void> {
  await session.exec(
    `mkdir -p ${dir}; setsid python3 ${PROGRAM} ${dir} </dev/null >${dir}/out 2>&1 &`,
  );
  await session.exec(`until [ -e ${dir}/waiting ]; do sleep 0.1; done`, { shell: "own" });
}

/** Lets it go on, and returns what it has found in each of them. */
async function found(session: Session, dir: string): Promise<string[]> {
  const line = `touch ${dir}/go; until [ -e ${dir}/found ]; do sleep 0.1; done; cat ${dir}/found`;
  return (await session.exec(line, { shell: "own" })).stdout.trimEnd().split("\n");
}

test("in terminals of all kinds waits after a checkpoint, in forks and restores what waited before", async () => {
  const session = await own.waypoint.new({ name: "kinds" });
  await startWaiting(session, "/root/without");
  const without = await found(session, "/root/without");
  await startWaiting(session, "/root/with");
  const checkpoint = await session.checkpoint();
  await session.checkpoint();
  const [fork] = await own.waypoint.fork(checkpoint.id);

  expect(without).toHaveLength(13);
  expect(await found(session, "/root/with")).toEqual(without);
  expect(await found(fork as Session, "/root/with")).toEqual(without);
  await session.restore(checkpoint.id);
  expect(await found(session, "/root/with")).toEqual(without);
});
