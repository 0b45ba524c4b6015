import { readdirSync, readFileSync } from "node:fs";
import { setTimeout as delay } from "node:timers/promises";
import type { Session } from "../../src/index.ts";
import { untilDurable } from "../contenders/waypoint.ts";
import { timed } from "../measuring/contender.ts";
import { summarize } from "../measuring/statistics.ts";
import { initOf, PLAIN_SHELL, WaypointWorld } from "../worlds/waypoint-world.ts";
import type { Workload } from "./workload.ts";

const FORKS = 16;
const HELD_MEBIBYTES = 500;
const READ_MEBIBYTES = 20;
const WRITTEN_MEBIBYTES = 5;
const MEBIBYTE = 1024 ** 2;
/** A fork that is measured has come to rest, and nothing is brought to it by then but what it touched. */
const SETTLE_MS = 1_000;

/** Holds memory of random content, and reads and writes a part of it when it is asked to. */
const PROGRAM = `import os, sys
MIB = 1 << 20
block = os.urandom(MIB)
memory = bytearray(block * ${HELD_MEBIBYTES})
os.mkfifo("/srv/question"); os.mkfifo("/srv/answer")
open("/srv/ready", "w").close()
while True:
    open("/srv/question").read()
    right = all(memory[n * MIB:(n + 1) * MIB] == block for n in range(100, 100 + ${READ_MEBIBYTES}))
    for at in range(200 * MIB, (200 + ${WRITTEN_MEBIBYTES}) * MIB, 4096): memory[at] = (memory[at] + 1) % 256
    open("/srv/answer", "w").write("right" if right else "wrong")`;
const ASK = "echo > /srv/question; cat /srv/answer";

/** A search: many forks of one large session, each of which touches a little and is thrown away. */
export const throwaway: Workload = {
  name: "throwaway",
  title: `${FORKS} throw-away forks of ${HELD_MEBIBYTES} MiB, each reading ${READ_MEBIBYTES} MiB and writing ${WRITTEN_MEBIBYTES}`,
  rounds: { quick: 3, full: 5 },
  warmMebibytes: () => 2 * HELD_MEBIBYTES,
  prepare: async (context) => {
    const { waypoint } = context.stack.use(await WaypointWorld.open());
    const shell = await waypoint.new({ name: "shell", ...PLAIN_SHELL });
    const session = await waypoint.new({ name: "large", ...PLAIN_SHELL });
    await session.exec(["sh", "-c", "cat > /srv/program.py"], { shell: "own", input: PROGRAM });
    await session.exec("python3 /srv/program.py &");
    await session.exec("while [ ! -e /srv/ready ]; do sleep 0.02; done", { shell: "own" });
    const checkpoint = await session.checkpoint();
    await untilDurable(checkpoint);
    const run = async () => {
      const { value: forks, tookMs } = await timed(() =>
        checkpoint.fork(FORKS, { throwaway: true }),
      );
      return await measure(forks, tookMs, shell);
    };
    return [{ name: "waypoint", run }];
  },
};

async function measure(
  forks: readonly Session[],
  madeMs: number,
  shell: Session,
): Promise<Record<string, number>> {
  try {
    const { tookMs: answeredMs } = await timed(() => Promise.all(forks.map(askProgram)));
    await delay(SETTLE_MS);
    const bytes = (await Promise.all(forks.map(memoryOf))).reduce((sum, each) => sum + each, 0);
    const touchedBytes = FORKS * (READ_MEBIBYTES + WRITTEN_MEBIBYTES) * MEBIBYTE;
    const taken = [];
    const shellPausesMs = [];
    for (const fork of forks) {
      // In turn, so that both find the machine equally busy.
      await shell.exec("true");
      shellPausesMs.push((await shell.checkpoint()).info.pauseMs);
      taken.push(await timed(() => fork.checkpoint()));
    }
    return {
      [`${FORKS} forks, all answering`]: madeMs + answeredMs,
      "memory, MiB": bytes / MEBIBYTE,
      "memory, times what was touched": bytes / touchedBytes,
      "pause of a checkpoint of each": summarize(taken.map(({ value }) => value.info.pauseMs)).p50,
      "pause of a shell's checkpoint, in turn with these": summarize(shellPausesMs).p50,
      "checkpoint of each": summarize(taken.map(({ tookMs }) => tookMs)).p50,
    };
  } finally {
    for (const fork of forks) await fork.remove({ force: true });
  }
}

async function askProgram(session: Session): Promise<void> {
  const { stdout } = await session.exec(ASK, { shell: "own" });
  if (stdout !== "right") throw new Error(`the program answered ${JSON.stringify(stdout)}`);
}

/** Returns what the processes of a fork and those that bring its memory hold; shared pages in parts. */
async function memoryOf(session: Session): Promise<number> {
  const servers = readdirSync("/proc").filter((name) => {
    const words = read(name, "cmdline").split("\0");
    return words[0]?.endsWith("/waypoint-pages") && words[2]?.includes(`/${session.id}-`);
  });
  const pids = [...treeOf(String(await initOf(session))), ...servers];
  return pids.reduce((sum, pid) => {
    const kibibytes = /^Pss:\s+(\d+) kB/m.exec(read(pid, "smaps_rollup"))?.[1];
    return sum + Number(kibibytes ?? 0) * 1024;
  }, 0);
}

function treeOf(pid: string): string[] {
  const children = read(pid, `task/${pid}/children`).split(" ").filter(Boolean);
  return [pid, ...children.flatMap(treeOf)];
}

function read(pid: string, file: string): string {
  try {
    return readFileSync(`/proc/${pid}/${file}`, "utf8");
  } catch {
    return ""; // It has ended, or is none.
  }
}
