import { randomBytes } from "node:crypto";
import { readdirSync, statSync } from "node:fs";
import path from "node:path";
import type { Session } from "../../src/index.ts";
import { timed } from "../measuring/contender.ts";
import { PLAIN_SHELL, WaypointWorld } from "../worlds/waypoint-world.ts";
import type { Workload } from "./workload.ts";

const MESSAGE_BYTES = 10_000;
const MESSAGES = 1000;

/** What an agent's conversation of 10 MB costs: to add to it, to read it, on the disk, at a checkpoint. */
export const agentState: Workload = {
  name: "agent-state",
  title: `an agent's conversation of ${MESSAGES} messages of ${MESSAGE_BYTES / 1000} kB`,
  rounds: { quick: 30, full: 100 },
  prepare: async (context) => {
    const world = context.stack.use(await WaypointWorld.open());
    const session = await world.waypoint.new({ name: "agent", net: "none", ...PLAIN_SHELL });
    const plain = await world.waypoint.new({ name: "plain", net: "none", ...PLAIN_SHELL });
    for (let at = 0; at < MESSAGES; at += 1) await add(session);
    return [
      {
        name: "sdk",
        run: async () => {
          const { tookMs: put } = await timed(() => add(session));
          const { value, tookMs: get } = await timed(() => session.state.get("conversation"));
          const bytes = JSON.stringify(value).length;
          return { put, get, "disk, times the conversation": diskBytes(world.stateDir) / bytes };
        },
      },
      { name: "without a state", run: () => checkpointOf(plain) },
      { name: "with a state", run: () => checkpointOf(session) },
    ];
  },
};

async function add(session: Session): Promise<void> {
  // Text that cannot be made much shorter, as the worst that an agent says.
  const content = randomBytes((MESSAGE_BYTES * 3) / 4).toString("base64");
  await session.state.append("conversation", [{ role: "assistant", content }]);
}

async function checkpointOf(session: Session) {
  await session.exec("date >> /srv/steps");
  const { value, tookMs } = await timed(() => session.checkpoint());
  return { checkpoint: tookMs, pause: value.info.pauseMs };
}

function diskBytes(stateDir: string): number {
  const directory = path.join(stateDir, "agent");
  const sizes = readdirSync(directory).map((name) => statSync(path.join(directory, name)).size);
  return sizes.reduce((sum, size) => sum + size, 0);
}
