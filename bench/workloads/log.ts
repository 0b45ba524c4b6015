import { execFile } from "node:child_process";
import path from "node:path";
import { promisify } from "node:util";
import { timed } from "../measuring/contender.ts";
import { lengthenHistory } from "../worlds/long-history.ts";
import { PLAIN_SHELL, WaypointWorld } from "../worlds/waypoint-world.ts";
import type { Workload } from "./workload.ts";

const run = promisify(execFile);
const COMMAND_PATH = path.resolve(import.meta.dirname, "../../bin/waypoint");
const CHECKPOINTS = 5000;
const OUTPUT_BYTES_MAX = 64 * 1024 ** 2;

/** How fast a long timeline is told, whole and filtered. */
export const log: Workload = {
  name: "log",
  title: "the timeline of 5,000 checkpoints",
  rounds: { quick: 9, full: 30 },
  prepare: async (context) => {
    const world = context.stack.use(await WaypointWorld.open());
    const { waypoint, stateDir } = world;
    const session = await waypoint.new({ name: "long", net: "none", ...PLAIN_SHELL });
    await session.exec("echo begun > /srv/file");
    await (await session.checkpoint()).show();
    lengthenHistory(stateDir, session, CHECKPOINTS - 1);

    const sdk = async (filter: Parameters<typeof waypoint.log>[0], count: number) => {
      const { value, tookMs } = await timed(() => waypoint.log(filter));
      requireCount(value.checkpoints.length, count);
      return tookMs;
    };
    return [
      {
        name: "command line",
        run: async () => {
          // Through a pipe to `cat`, as a person would who wants all of it at once.
          const line = `"$0" --dir "$1" log | cat`;
          const { value, tookMs } = await timed(() =>
            run("sh", ["-c", line, COMMAND_PATH, stateDir], { maxBuffer: OUTPUT_BYTES_MAX }),
          );
          requireCount(
            value.stdout.split("\n").filter((each) => each.includes("●")).length,
            CHECKPOINTS,
          );
          return { log: tookMs };
        },
      },
      { name: "sdk", run: async () => ({ log: await sdk({}, CHECKPOINTS) }) },
      {
        name: "sdk",
        run: async () => ({
          "by path": await sdk({ path: "/srv/app/src/part-5" }, 618),
          "by text": await sdk({ grep: "ok 4321.7 " }, 1),
        }),
      },
    ];
  },
};

function requireCount(found: number, wanted: number): void {
  if (found !== wanted) throw new Error(`${found} checkpoints instead of ${wanted}`);
}
