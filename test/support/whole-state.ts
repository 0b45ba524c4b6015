import path from "node:path";
import { stateLayout } from "../../src/base/index.ts";
import type { Waypoint } from "../../src/index.ts";
import { runInDaemon } from "./run-in-daemon.ts";

/** What a Waypoint holds: in its store, in the kernel, and in what it tells. */
export interface WholeState {
  instances: string[];
  checkpoints: string[];
  images: string[];
  namespaces: string[];
  mounts: string[];
  links: string[];
  sessions: string[];
  timeline: string[];
}

/** Looks at everything that a failed operation might leave half-made, or take away. */
export async function readWholeState(own: {
  stateDir: string;
  waypoint: Waypoint;
}): Promise<WholeState> {
  const { storeDir, imagesDir, key } = stateLayout(own.stateDir);
  const { checkpoints } = await own.waypoint.log();
  const sessions = await own.waypoint.sessions();
  return {
    instances: await lines(own, `ls ${path.join(storeDir, "instances")}`),
    checkpoints: await lines(own, `ls ${path.join(storeDir, "checkpoints")}`),
    images: await lines(own, `ls ${imagesDir}`),
    namespaces: await lines(own, "ls /run/netns /run/waypoint/work"),
    // Other Waypoints of the machine come and go in this list.
    mounts: (await lines(own, "cut -d ' ' -f 5 /proc/self/mountinfo | sort")).filter(
      (point) => point.startsWith("/run/") || point.startsWith(own.stateDir),
    ),
    links: await lines(own, `ip -d -o link | grep -o 'waypoint:${key}:[^ \\\\]*' | sort`),
    sessions: sessions.map(({ name, state, head, pid }) => `${name} ${state} ${head} ${pid}`),
    timeline: checkpoints.map(({ id, name }) => `${id} ${name}`),
  };
}

async function lines(own: { stateDir: string }, line: string): Promise<string[]> {
  const found = (await runInDaemon(own, line)).split("\n").filter((text) => text !== "");
  // Networks made in advance are nobody's; they are used up and made anew at any time.
  return found.filter((text) => !/\bspare-\d+$/.test(text));
}
