import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { afterAll } from "vitest";
import { describeSaver } from "../../../test/support/saver-conformance.ts";
import { WaypointSaver } from "./waypoint-saver.ts";

const directory = mkdtempSync(path.join(tmpdir(), "waypoint-saver-"));
afterAll(() => rmSync(directory, { recursive: true }));

const MANY = 10_000;

describeSaver(
  "memory",
  async () => ({ saver: await WaypointSaver.open("memory:"), again: null }),
  MANY,
);

let count = 0;
describeSaver(
  "SQLite",
  async () => {
    const address = `sqlite:${path.join(directory, `${++count}.sqlite`)}`;
    const open = () => WaypointSaver.open(address);
    return { saver: await open(), again: open };
  },
  MANY,
);

const encryption = { key: new Uint8Array(32).fill(3) };
describeSaver(
  "memory, encrypted",
  async () => ({ saver: await WaypointSaver.open("memory:", { encryption }), again: null }),
  100,
);
