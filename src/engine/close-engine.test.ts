import { expect, test } from "vitest";
import { closeEngine, releaseEngine } from "./close-engine.ts";
import type { Engine } from "./ports/index.ts";

/** An engine of parts that note what is asked of them; one of them fails, or none. */
function fakeEngine({ failing = "" } = {}) {
  const done: string[] = [];
  const logged: string[] = [];
  const part = (name: string) => async () => {
    done.push(name);
    if (name === failing) throw new Error(`${name} failed`);
  };
  const engine = {
    logger: {
      error: (what: string) => void logged.push(what),
      warn: () => {},
      info: () => {},
    },
    automatic: { close: part("automatic") },
    verifier: { close: part("verifier") },
    verifications: { stop: part("verifications") },
    baseChanges: { close: () => {} },
    browses: { endAll: part("browses") },
    turns: { open: () => {} },
    leases: { idle: part("leases") },
    standbys: { close: part("standbys") },
    memoryImages: { close: part("images") },
    warmMemory: { close: part("warm memory") },
    background: {
      idle: part("background"),
      run: (_queue: string, work: () => Promise<unknown>) => work(),
    },
    stories: { stop: part("stories") },
    storyBuilder: { close: part("builder") },
    network: { releaseHost: part("network") },
    criu: { endRuns: (directory: string) => void done.push(`runs of ${directory}`) },
    sandbox: {
      findInitsBelow: () => [70],
      startTicks: () => 7,
      killTree: async (pid: number) => void done.push(`tree ${pid}`),
    },
    settings: { layout: { storeDir: "/store" }, criu: {} },
    approvals: { [Symbol.dispose]: () => void done.push("approvals") },
    approvalWaits: { close: () => {} },
    agentStates: { [Symbol.dispose]: () => void done.push("agents") },
    contacts: { close: () => void done.push("contacts") },
    decisions: { [Symbol.dispose]: () => void done.push("decisions") },
    effects: { [Symbol.dispose]: () => void done.push("effects") },
    catalog: {
      sessions: () => [],
      instances: () => [{ id: "fork-1", session: "fork" }],
      heldCheckpoints: () => [],
      [Symbol.dispose]: () => void done.push("catalog"),
    },
  };
  return { engine: engine as unknown as Engine, done, logged };
}

const UNDER_WAY = ["automatic", "verifier", "verifications", "browses"];
const BACKGROUND = ["background", "stories", "builder"];

test("an engine that is closed finishes what is under way, then ends its parts, the catalog last", async () => {
  const { engine, done } = fakeEngine();

  await closeEngine(engine);

  expect(done).toEqual([
    ...UNDER_WAY,
    "leases",
    ...["standbys", "images", "warm memory"],
    ...BACKGROUND,
    "contacts",
    "agents",
    "approvals",
    "effects",
    "decisions",
    "catalog",
  ]);
});

test.each(["verifications", "leases", "standbys", "stories", "builder"])(
  "an end of %s that fails is told, and all else ends",
  async (failing) => {
    const { engine, done, logged } = fakeEngine({ failing });

    await closeEngine(engine);

    expect(done).toEqual(
      expect.arrayContaining([
        ...[
          "leases",
          "images",
          "warm memory",
          ...BACKGROUND,
          "contacts",
          "agents",
          "approvals",
          "effects",
          "decisions",
          "catalog",
        ],
      ]),
    );
    expect(logged).toEqual([expect.stringMatching(/^the engine's end: /)]);
  },
);

test("what hangs is left behind when there is a limit", async () => {
  const { engine, done, logged } = fakeEngine();
  const hanging = { ...engine, standbys: { close: () => new Promise(() => {}) } };

  await closeEngine(hanging as unknown as Engine, 1);

  expect(logged).toEqual(["the engine's end: end standbys"]);
  expect(done.at(-1)).toBe("catalog");
});

test("an engine that is released ends restores, trees that nobody knows, and its network", async () => {
  const { engine, done } = fakeEngine();

  await releaseEngine(engine);

  expect(done).toEqual([
    expect.stringMatching(/^runs of .*fork-1/),
    ...UNDER_WAY,
    ...["standbys", "images", "warm memory", "tree 70"],
    ...BACKGROUND,
    "network",
  ]);
});
