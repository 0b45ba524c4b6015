import { chmodSync, cpSync, mkdirSync, mkdtempSync, rmSync, symlinkSync } from "node:fs";
import os from "node:os";
import path from "node:path";
import { fileURLToPath } from "node:url";
import { afterAll, expect, test } from "vitest";
import { runProcess } from "../../src/base/index.ts";
import { type OtherNode, otherNode } from "../support/other-nodes.ts";

const ROOT = fileURLToPath(new URL("../..", import.meta.url));
const RUN_TIMEOUT_MS = 120_000;

const project = mkdtempSync(path.join(os.tmpdir(), "waypoint-graph-"));
mkdirSync(path.join(project, "node_modules"));
symlinkSync(ROOT, path.join(project, "node_modules/waypoint"));
symlinkSync(
  path.join(ROOT, "node_modules/@langchain"),
  path.join(project, "node_modules/@langchain"),
);
cpSync(path.join(ROOT, "test/support/graph-anywhere.mjs"), path.join(project, "program.mjs"));
chmodSync(project, 0o777);
afterAll(() => rmSync(project, { recursive: true }));

async function run(major: number, directory: string) {
  const node = major === 24 ? process.execPath : await otherNode(major as OtherNode);
  const argv: [string, ...string[]] = [
    node,
    path.join(project, "program.mjs"),
    path.join(directory, `${major}.sqlite`),
  ];
  return await runProcess(argv, { cwd: project, timeoutMs: RUN_TIMEOUT_MS });
}

test.each([22, 24])(
  "a graph is kept and forked on Node %i, where koffi is not there",
  async (major) => {
    const { stdout } = await run(major, project);

    const [inMemory, inFile, about] = stdout.trim().split("\n");
    expect([inMemory, inFile]).toEqual(["in,a,edit,b", "in,a,edit,b"]);
    expect(about).toMatch(new RegExp(`^v${major}\\.\\d+\\.\\d+ \\d+ 0$`));
  },
);

test("on Node 20, which has no SQLite, the file is refused with what to do", async () => {
  await expect(run(20, project)).rejects.toMatchObject({
    detail: { stderr: expect.stringContaining("This Node has no SQLite.") },
  });
});
