import type { Checkpoint, Session } from "../../src/index.ts";
import { timed } from "../measuring/contender.ts";
import { PLAIN_SHELL, WaypointWorld } from "../worlds/waypoint-world.ts";
import type { Workload } from "./workload.ts";

const FILES_PER_DIRECTORY = 1000;
const DIRECTORIES = 100;
const FILES_PER_REPOSITORY_DIRECTORY = 100;
const REPOSITORY_DIRECTORIES = 50;

/** How soon a checkpoint's story can be read, and how fast two moments are compared. */
export const story: Workload = {
  name: "story",
  title:
    "the story of a shell's checkpoints, also in a git repository of 5,000 files; " +
    "100,000 files, one of them changed",
  rounds: { quick: 9, full: 30 },
  prepare: async (context) => {
    const { waypoint } = context.stack.use(await WaypointWorld.open());
    const shell = await waypoint.new({ name: "story", net: "none", ...PLAIN_SHELL });
    await shell.checkpoint();
    const coder = await waypoint.new({ name: "coder", net: "none", ...PLAIN_SHELL });
    await makeRepository(coder);
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
          // By turns the repository becomes dirty, and clean with a new commit.
          await coder.exec(round % 2 === 0 ? `echo ${round} >> 3/7` : "git commit -qam more");
          const checkpoint = await coder.checkpoint();
          const { value, tookMs } = await timed(() => checkpoint.show());
          if (value.changes.git?.length !== 1) throw new Error(`not one: ${value.changes.summary}`);
          return { "story ready, in a repository": tookMs };
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

/** A repository in which the shell then is. */
async function makeRepository(session: Session): Promise<void> {
  await session.exec(
    "mkdir -p /srv/repo && cd /srv/repo && git init -q && git config user.name A && " +
      `git config user.email a@b && for d in $(seq ${REPOSITORY_DIRECTORIES}); do mkdir $d; ` +
      `for f in $(seq ${FILES_PER_REPOSITORY_DIRECTORY}); do echo $d $f > $d/$f; done; done; ` +
      "git add . && git commit -qm first",
  );
  await session.checkpoint();
}

async function fill(session: Session): Promise<Checkpoint> {
  await session.exec(
    `mkdir -p /srv/many && cd /srv/many && for d in $(seq ${DIRECTORIES}); do ` +
      `mkdir $d; (cd $d; seq ${FILES_PER_DIRECTORY} | xargs touch); done; cd /`,
  );
  return await session.checkpoint();
}
