import { spawn } from "node:child_process";
import { once } from "node:events";
import { fileURLToPath } from "node:url";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { openTestWaypoint, type TestWaypoint } from "../support/test-waypoint.ts";

const TOUR = fileURLToPath(new URL("../../examples/tour/tour.ts", import.meta.url));

/** Downloads of apt and npm are part of it. */
const TOUR_TIMEOUT_MS = 300_000;

describe("the tour", () => {
  let own: TestWaypoint | undefined;
  let output: string;
  let exitCode: number | null;

  beforeAll(async () => {
    const opened = await openTestWaypoint();
    own = opened;
    ({ output, exitCode } = await runTour(opened.stateDir));
  }, TOUR_TIMEOUT_MS);

  afterAll(async () => {
    await own?.[Symbol.asyncDispose]();
  });

  test("runs to its end", () => {
    expect(exitCode, output).toBe(0);
    expect(output).toContain("The timeline");
  });

  test("sees the right total before the mishap, wrong ones in it, the right one after", () => {
    const totals = [...output.matchAll(/\{"total":"(\$[\d.]+)"/g)].map((match) => match[1]);

    expect(totals).toEqual(["$39.98", "$74.02", "$57.36", "$39.98"]);
  });

  test("finds the same server process and the same job table after the restore", () => {
    const serverPids = [...output.matchAll(/"total":.*"pid":(\d+)\}/g)].map((match) => match[1]);
    const jobs = [...output.matchAll(/^ +(\[\d\]. +\d+ Running .*)$/gm)].map((match) => match[1]);

    expect(serverPids).toHaveLength(4);
    expect(serverPids[3]).toBe(serverPids[0]);
    expect(serverPids[2]).not.toBe(serverPids[0]);
    expect(jobs).toHaveLength(6);
    expect(jobs.slice(3)).toEqual(jobs.slice(0, 3));
  });

  test("finds the Python prompt's variable where it was", () => {
    const variables = [...output.matchAll(/\['mug', 'mug'\], '0x[0-9a-f]+'/g)].map(String);

    expect(variables).toHaveLength(2);
    expect(variables[1]).toBe(variables[0]);
  });

  test("takes the restore back and comes again", () => {
    expect(output).toMatch(/undone in \d+ ms: the broken shop is back and says \$57\.36/);
    expect(output).toContain("restored once more: $39.98");
  });

  test("tries three fixes in three forks whose totals differ", () => {
    const rows = [...output.matchAll(/^ +tour-fix-\d .* ok +(\$39\.98) +(\$[\d.]+) +3000 /gm)];

    expect(rows.map((row) => row[2])).toEqual(["$46.98", "$44.48", "$44.98"]);
    expect(output).toContain("the original is untouched: $39.98");
  });

  test("removes its session and its forks", async () => {
    expect(await own?.waypoint.sessions()).toEqual([]);
  });
});

async function runTour(stateDir: string): Promise<{ output: string; exitCode: number | null }> {
  const child = spawn(process.execPath, [TOUR], {
    stdio: ["ignore", "pipe", "pipe"],
    env: { ...process.env, WAYPOINT_DIR: stateDir, NO_COLOR: "1" },
    timeout: TOUR_TIMEOUT_MS,
  });
  let output = "";
  const keep = (chunk: string) => {
    output += chunk;
  };
  child.stdout.setEncoding("utf8").on("data", keep);
  child.stderr.setEncoding("utf8").on("data", keep);
  const [exitCode] = (await once(child, "close")) as [number | null];
  return { output, exitCode };
}
