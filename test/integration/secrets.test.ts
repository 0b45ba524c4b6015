import { afterAll, beforeAll, expect, test } from "vitest";
import { runCommand } from "../support/command-line.ts";
import { eventually, openTestWaypoint, type TestWaypoint } from "../support/test-waypoint.ts";

const PLANTED = "planted-7f3a9c";

let own: TestWaypoint;

beforeAll(async () => {
  own = await openTestWaypoint();
  const session = await own.waypoint.new({ name: "web", net: "none" });
  await session.exec(`touch /srv/first`);
  await session.checkpoint({ name: "first" });
  await session.exec(`export API_TOKEN=${PLANTED}; echo 1 > /srv/one`);
  await session.exec(`sh -c 'sleep 1000; true' worker --password ${PLANTED} & echo 2 > /srv/two`);
  await session.checkpoint({ name: "second", verify: [`SECRET=${PLANTED} true`] });
  await session.exec(`login() { cat; }; echo a | login --password=${PLANTED} > /srv/three`);
  await session.checkpoint({ name: "third" });
  await session.checkpoint({ name: "said", intent: `Logged in with token: ${PLANTED}` });
  await eventually(
    "the stories",
    async () => (await session.log()).checkpoints.every(({ changes }) => changes.summary !== ""),
    (areThere) => areThere,
  ).catch(() => {}); // One without changes has none.
});

afterAll(async () => {
  await own?.[Symbol.asyncDispose]();
});

test.each([
  ["log"],
  ["log", "web"],
  ["ls"],
  ["ps", "web"],
  ["show", "second"],
  ["show", "second", "--section", "processes"],
  ["show", "third"],
  ["show", "said"],
  ["diff", "first", "third"],
  ["restore", "web", "first", "--dry-run"],
  ["op", "log", "web"],
])("a planted key is hidden by waypoint %s %s %s", async (...words) => {
  const { exitCode, stdout, stderr } = await runCommand(own.stateDir, words);

  expect(exitCode, stderr).toBe(words[0] === "diff" ? 1 : 0);
  expect(stdout + stderr).not.toContain(PLANTED);
});

test("it is there for programs, and hidden where it is told, not left out", async () => {
  const { stdout } = await runCommand(own.stateDir, ["log", "web"]);
  const json = await runCommand(own.stateDir, ["log", "web", "--json"]);

  expect(stdout).toContain("--password ••• &");
  expect(stdout).toContain("--password=•••");
  expect(stdout).toContain("token: •••");
  expect(json.stdout).toContain(PLANTED);
});
