import { afterAll, beforeAll, expect, test } from "vitest";
import { attempt, bestOf, compare, type Session } from "../../src/index.ts";
import { openTestWaypoint, type TestWaypoint } from "../support/test-waypoint.ts";

let own: TestWaypoint;
let session: Session;
const names = async () => (await own.waypoint.sessions()).map(({ name }) => name);

beforeAll(async () => {
  own = await openTestWaypoint();
  session = await own.waypoint.new({ name: "work", net: "none" });
  await session.exec("echo begun > /srv/file; STEP=1");
});

afterAll(async () => {
  await own?.[Symbol.asyncDispose]();
});

test("a risky step that throws is taken back, memory and files; one that does not stays", async () => {
  const risky = attempt(session, async () => {
    await session.exec("rm /srv/file; STEP=2");
    throw new Error("it broke");
  });
  await expect(risky).rejects.toThrow("it broke");
  expect((await session.exec("cat /srv/file; echo $STEP")).stdout).toBe("begun\n1\n");

  const fine = await attempt(session, async ({ id }) => {
    await session.exec("STEP=3");
    return id;
  });
  expect((await session.exec("echo $STEP")).stdout).toBe("3\n");
  expect((await session.info()).head).toBe(fine);
});

test("of several strategies the best one's fork is kept, and nothing of the others", async () => {
  const checkpoint = await session.checkpoint();
  const write = (text: string) => async (fork: Session) => {
    await fork.exec(`echo ${text} > /srv/file`);
    return text.length;
  };
  const failing = async () => {
    throw new Error("no idea");
  };
  const strategies = [write("ab"), failing, write("abcd"), write("abce")];
  const best = await bestOf(checkpoint, strategies, { score: (length) => length, concurrency: 2 });

  expect(best).toMatchObject({ index: 2, outcome: 4, score: 4 });
  expect((await best.session.exec("cat /srv/file")).stdout).toBe("abcd\n");
  expect(await names()).toEqual(["work", best.session.name]);
  await best.session.remove({ force: true });
});

test("where all fail, or somebody gives up, no fork is left", async () => {
  const checkpoint = await session.checkpoint();
  const failing = async () => {
    throw new Error("no idea");
  };
  const score = () => 1;
  await expect(bestOf(checkpoint, [failing, failing], { score })).rejects.toThrow(AggregateError);
  await expect(bestOf(checkpoint, [], { score })).rejects.toMatchObject({ code: "USAGE_INVALID" });
  const cancel = new AbortController();
  const given = bestOf(
    checkpoint,
    [
      async () => 1,
      async () => {
        cancel.abort(new Error("enough"));
        return 2;
      },
    ],
    { score, concurrency: 1, signal: cancel.signal },
  );
  await expect(given).rejects.toMatchObject({ code: "CANCELLED" });
  expect(await names()).toEqual(["work"]);
});

test("two strategies on identical state are compared, and their forks go", async () => {
  const checkpoint = await session.checkpoint();
  const changed = await compare(
    checkpoint,
    [(one) => one.exec("echo 1 > /srv/one"), (other) => other.exec("echo 2 > /srv/other")],
    async ({ outcomes, sessions: [one, other] }) => {
      expect(outcomes.map(({ status }) => status)).toEqual(["fulfilled", "fulfilled"]);
      return (await own.waypoint.diff(one, other)).files?.map(({ path, change }) => [path, change]);
    },
  );
  expect(changed).toEqual([
    ["/srv/one", "deleted"],
    ["/srv/other", "added"],
  ]);
  expect(await names()).toEqual(["work"]);
});
