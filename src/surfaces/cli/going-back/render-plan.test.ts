import { expect, test } from "vitest";
import type { RestorePlan } from "../../../shared/protocol/index.ts";
import { plain } from "../text/style.ts";
import { renderPlan } from "./render-plan.ts";

test("services and their ports come first, what programs keep for themselves last of the files", () => {
  const program = { parentPid: 1, programId: "x", cwd: null, user: null, memoryBytes: null };
  const file = { type: "file", sizeBefore: 1, sizeAfter: 1 } as const;
  const plan = {
    ...{
      sessionName: "web",
      checkpoint: "aa",
      checkpointName: "green",
      parts: {},
      content: "full",
    },
    parts: { only: null, paths: [], except: [] },
    changes: {
      files: [
        { path: "/srv/.git", change: "modified", ...file, group: "git", files: 3 },
        { path: "/root/.bash_history", change: "modified", ...file },
        { path: "/srv/app.js", change: "modified", ...file },
      ],
      fileTotals: { added: 0, modified: 3, deleted: 0, renamed: 0, directories: 0 },
      packages: [],
      processes: {
        started: [{ ...program, pid: 7, command: "node app.js" }],
        ended: [],
        still: [],
      },
      ports: {
        opened: [{ protocol: "tcp", address: "::", port: 80, pid: 7, command: "node app.js" }],
        closed: [],
      },
      connections: { opened: [], closed: [] },
      ...{ env: [], functions: [], cwd: null, virtualenv: null, git: [], unknown: {} },
    },
    ...{ commands: [], commandsUnknown: null, told: [], heldOpen: [], typing: null, refused: null },
    outside: {
      ...{ connections: [], binds: [] },
      contacts: {
        contacts: [
          {
            ...{ names: ["api.example.com"], addresses: ["192.0.2.7"], protocol: "tcp", port: 443 },
            ...{ sentBytes: 12_288, receivedBytes: 0 },
          },
        ],
        ...{ moreSentBytes: 1024, moreReceivedBytes: 2048, unknown: null },
      },
    },
    state: [],
    effects: [],
    effectsCount: 0,
    untouched: {
      sessions: [1, 2, 3, 4, 5, 6, 7].map((at) => ({ name: `fork-${at}`, isRelated: at < 7 })),
      standbys: [],
    },
  } as unknown as RestorePlan;

  const [, ...lines] = renderPlan(plan, { paint: plain, linesMax: 10 });

  expect(lines.slice(0, 5)).toEqual([
    "+ port tcp [::]:80  7 node app.js",
    "+ process 7 node app.js",
    expect.stringContaining("/srv/app.js"),
    expect.stringContaining("/srv/.git"),
    "… and 1 file that programs keep for themselves; --dry-run lists them",
  ]);
  const talked = lines.indexOf("Since then it talked to:");
  expect(lines.slice(talked + 1, talked + 3)).toEqual([
    "api.example.com:443 (12.0 KiB out, no answer; 192.0.2.7)",
    "others (1.0 KiB out, 2.0 KiB in)",
  ]);
  expect(lines.at(-1)).toBe("Not touched: 6 related sessions, 1 other session");
  const whole = renderPlan(plan, { paint: plain, linesMax: Number.POSITIVE_INFINITY });
  expect(whole.join("\n")).toContain("/root/.bash_history");
});
