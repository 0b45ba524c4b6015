import type { Checkpoint, Session } from "../../src/index.ts";
import { timed } from "../measuring/contender.ts";
import { PLAIN_SHELL, WaypointWorld } from "../worlds/waypoint-world.ts";
import type { Workload } from "./workload.ts";

const FILES_PER_DIRECTORY = 1000;
const DIRECTORIES = 100;

/** How soon a checkpoint's story can be read, and how fast two moments are compared. */
export const story: Workload = {
  name: "story",
  title: "the story of a shell's checkpoints; 100,000 files, one of them changed",
  rounds: { quick: 9, full: 30 },
  prepare: async (context) => {
    const { waypoint } = context.stack.use(await WaypointWorld.open());
    const shell = await waypoint.new({ name: "story", net: "none", ...PLAIN_SHELL });
    await shell.checkpoint();
    const many = await waypoint.new({ name: "many", net: "none", ...PLAIN_SHELL });
    let before = await fill(many);
    let round = 0;
    return [
      {
        name: "waypoint",
        run: async () => {
          round += 1;
          await shell.exec(`echo ${round} >> /srv/file`);
          const checkpoint = await shell.checkpoint();
          // From the checkpoint's answer until its story can be read.
          const { value, tookMs } = await timed(() => checkpoint.show());
          return { "story ready": tookMs, "of which it was built": value.story.tookMs };
        },
      },
      {
        name: "waypoint",
        run: async () => {
          round += 1;
          await many.exec(`echo ${round} >> /srv/many/3/7`);
          const after = await many.checkpoint();
          await after.show();
          const { value, tookMs } = await timed(() => waypoint.diff(before, after));
          if (value.files?.length !== 1) throw new Error(`not one file: ${value.summary}`);
          const live = await timed(() => waypoint.diff(after, many));
          before = after;
          return { diff: tookMs, "diff, with the live session": live.tookMs };
        },
      },
    ];
  },
};

async function fill(session: Session): Promise<Checkpoint> {
  await session.exec(
    `mkdir -p /srv/many && cd /srv/many && for d in $(seq ${DIRECTORIES}); do ` +
      `mkdir $d; (cd $d; seq ${FILES_PER_DIRECTORY} | xargs touch); done; cd /`,
  );
  return await session.checkpoint();
}
