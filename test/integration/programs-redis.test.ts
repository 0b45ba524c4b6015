import { afterAll, beforeAll, expect, test } from "vitest";
import type { Session } from "../../src/index.ts";
import { branchInThree, removeBranches } from "../support/branches.ts";
import { TestTerminal } from "../support/test-terminal.ts";
import { eventually, openTestWaypoint, type TestWaypoint } from "../support/test-waypoint.ts";

/** Installs without starting the service: nothing but the session is to run it. */
const INSTALL = `
  printf '#!/bin/sh\\nexit 101\\n' > /usr/sbin/policy-rc.d && chmod +x /usr/sbin/policy-rc.d
  export DEBIAN_FRONTEND=noninteractive
  apt-get -qq update && apt-get -qq install -y --no-install-recommends redis-server
`;

let own: TestWaypoint;

beforeAll(async () => {
  own = await openTestWaypoint();
});

afterAll(async () => {
  await own?.[Symbol.asyncDispose]();
});

async function redis(session: Session, ...words: string[]): Promise<string> {
  const { stdout, stderr } = await session.exec(["redis-cli", ...words], { shell: "own" });
  return (stdout + stderr).trim();
}

test("a Redis server with a subscribed client goes on in the original and in two forks", async () => {
  const session = await own.waypoint.new();
  const installed = await session.exec(INSTALL, { shell: "own" });
  expect(installed.exitCode, installed.stderr).toBe(0);
  await session.exec("redis-server --save '' --daemonize yes --dir /root");
  await eventually(
    "a Redis server that answers",
    () => redis(session, "ping"),
    (answer) => answer === "PONG",
  );
  await redis(session, "set", "fruit", "apple");
  await redis(session, "incrby", "visits", "41");
  const terminal = await TestTerminal.attach(session);
  await terminal.type("clear; redis-cli subscribe news\r");
  await terminal.waitFor(/"subscribe"/);
  const checkpoint = await session.checkpoint();

  await redis(session, "set", "fruit", "pear");
  expect(await redis(session, "publish", "news", "lost")).toBe("1");
  await terminal.waitFor(/"lost"/);
  const branches = await branchInThree(session, terminal, checkpoint);

  for (const { index, session, terminal } of branches) {
    expect(await redis(session, "get", "fruit")).toBe("apple");
    expect(await redis(session, "incr", "visits")).toBe("42");
    expect(await redis(session, "publish", "news", `from-${index}`)).toBe("1");
    await terminal.waitFor(new RegExp(`"from-${index}"`));
  }
  for (const { index, terminal } of branches) {
    const news = terminal.screen().filter((line) => /"(lost|from-\d)"/.test(line));
    expect(news.map((line) => line.trim())).toEqual([`3) "from-${index}"`]);
  }
  await removeBranches(branches);
});
