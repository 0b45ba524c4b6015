import { afterAll, beforeAll, expect, test } from "vitest";
import type { OperationOutput, Session } from "../../src/index.ts";
import { openTestWaypoint, type TestWaypoint } from "../support/test-waypoint.ts";

/** The start-up files of this machine's user may write files of their own. */
const PLAIN = { net: "none", env: { HOME: "/nonexistent" } } as const;

let own: TestWaypoint;
let session: Session;

beforeAll(async () => {
  own = await openTestWaypoint();
  session = await own.waypoint.new({ name: "told", ...PLAIN });
});

afterAll(async () => {
  await own[Symbol.asyncDispose]();
});

function brief({ files }: Pick<OperationOutput<"diff">, "files">) {
  return (files ?? []).map(({ change, path, from, what }) =>
    [change, ...(from === undefined ? [] : [from]), path, ...(what ?? [])].join(" "),
  );
}

test("two branches are compared across, also where both make files at the same instant", async () => {
  const start = await session.checkpoint();
  const [one, other] = (await start.fork(2)) as Session[] as [Session, Session];
  // Their inodes get the same numbers, and now and then the same times: one file for the kernel.
  for (let round = 0; round < 8; round += 1) {
    await Promise.all([one.exec(`echo 1 > /srv/1-${round}`), other.exec(`mkdir /srv/2-${round}`)]);
  }
  await Promise.all([one.exec("ln -s one /srv/link"), other.exec("ln -s two /srv/link")]);
  const ends = await Promise.all([one.checkpoint(), other.checkpoint()]);

  const rounds = Array.from({ length: 8 }, (_, round) => round);
  expect(brief(await own.waypoint.diff(ends[0], ends[1]))).toEqual([
    ...rounds.map((round) => `deleted /srv/1-${round}`),
    ...rounds.map((round) => `added /srv/2-${round}`),
    "modified /srv/link target",
  ]);
});

test("what each of two branches did to the same files is told", async () => {
  await session.exec(
    "mkdir -p /srv/w/d/sub; cd /srv/w; for f in 1 2 3 d/4 d/5 d/sub/6; do echo $f > $f; done; cd /",
  );
  const start = await session.checkpoint();
  const [one, other] = (await start.fork(2)) as Session[] as [Session, Session];
  await one.exec(
    "cd /srv/w; echo same > 1; mv 2 two; mv d moved; echo one > moved/4; rm moved/sub/6; cd /",
  );
  await other.exec(
    "cd /srv/w; echo same > 1; mv 2 deux; echo x > d/sub/7; mv d/5 5; chmod 600 3; cd /",
  );

  const difference = await own.waypoint.diff(await one.checkpoint(), await other.checkpoint());

  expect(brief(difference).sort()).toEqual([
    "added /srv/w/d/sub/6",
    "added /srv/w/d/sub/7",
    "modified /srv/w/3 mode",
    "modified /srv/w/d/4 content",
    "renamed /srv/w/moved /srv/w/d",
    "renamed /srv/w/moved/5 /srv/w/5",
    "renamed /srv/w/two /srv/w/deux",
  ]);
});

test("two sessions that share nothing but the base are compared", async () => {
  const one = await own.waypoint.new({ name: "apart-1", ...PLAIN });
  const other = await own.waypoint.new({ name: "apart-2", ...PLAIN });
  await Promise.all([
    one.exec("echo 1 > /srv/both; echo 1 > /srv/1"),
    other.exec("echo 2 > /srv/both"),
  ]);

  const told = brief(await own.waypoint.diff(one, other));
  await Promise.all([one.remove({ force: true }), other.remove({ force: true })]);

  expect(told).toEqual([
    "modified /etc/hostname content",
    "modified /etc/hosts content",
    "deleted /srv/1",
    "modified /srv/both content",
  ]);
});
