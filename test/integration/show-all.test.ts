import { afterAll, beforeAll, expect, test } from "vitest";
import { runCommand } from "../support/command-line.ts";
import { openTestWaypoint, type TestWaypoint } from "../support/test-waypoint.ts";

/** What programs keep for themselves, each of another kind. */
const NOISE = [
  "node_modules/.cache/babel/one.json",
  "node_modules/left-pad/index.js",
  "__pycache__/app.cpython-311.pyc",
  ".pytest_cache/v/lastfailed",
  ".git/index.lock",
  ".git/objects/ab/cdef",
  ".app.js.swp",
  "4913",
  "app.js~",
  ".#app.js",
  "package-lock.json",
  "server.pid",
];

let own: TestWaypoint;
let id: string;

beforeAll(async () => {
  own = await openTestWaypoint();
  const session = await own.waypoint.new({ name: "web", net: "none" });
  await session.exec("mkdir -p /root/shop && cd /root/shop");
  await session.checkpoint();
  const made = NOISE.map((name) => `mkdir -p "$(dirname '${name}')" && echo x > '${name}'`);
  // Not by the command's own words, which its line tells.
  await session.exec("sh", { shell: "own", cwd: "/root/shop", input: made.join("\n") });
  await session.exec("echo x > app.js");
  const checkpoint = await session.checkpoint();
  ({ id } = checkpoint);
  // The log does not wait for a story, as this does.
  await checkpoint.show();
});

afterAll(async () => {
  await own[Symbol.asyncDispose]();
});

async function linesOf(...args: string[]): Promise<string[]> {
  const { stdout } = await runCommand(own.stateDir, args);
  return stdout.split("\n");
}

test("the line of a checkpoint names what matters and no noise", async () => {
  const line = (await linesOf("log", "web")).find((each) => each.includes(id.slice(0, 6)));

  expect(line).toContain("app.js");
  for (const path of NOISE) expect(line).not.toContain(path.split("/").at(-1));
});

test("what is in groups is told with how to see it, and listed by show --all", async () => {
  const brief = await linesOf("show", id);
  const all = await linesOf("show", id, "--all");
  const json = JSON.parse((await linesOf("show", id, "--all", "--json")).join("\n"));

  expect(brief).toContain(`Those in groups, one by one: waypoint show ${id} --all`);
  expect(brief.join("\n")).not.toContain("left-pad");
  for (const path of NOISE) {
    expect(
      all.filter((line) => line.startsWith(`+ /root/shop/${path} `)),
      path,
    ).toHaveLength(1);
    expect(json.changes.files.map((file: { path: string }) => file.path)).toContain(
      `/root/shop/${path}`,
    );
  }
  expect(all.join("\n")).not.toContain("one by one");
});
