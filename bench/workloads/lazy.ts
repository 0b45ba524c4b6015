import { setTimeout as delay } from "node:timers/promises";
import type { Checkpoint, Session } from "../../src/index.ts";
import { answer, untilDurable } from "../contenders/waypoint.ts";
import { type Contender, timed } from "../measuring/contender.ts";
import { PLAIN_SHELL, WaypointWorld } from "../worlds/waypoint-world.ts";
import type { Workload, WorkloadContext } from "./workload.ts";

const WHOLE_POLL_MS = 10;
/** Holds memory of random content and answers questions about its first and last bytes. */
const PROGRAM = `import os, sys
block = os.urandom(1 << 20)
memory = bytearray(block * int(sys.argv[1]))
os.mkfifo("/srv/question"); os.mkfifo("/srv/answer")
open("/srv/ready", "w").close()
while True:
    open("/srv/question").read()
    open("/srv/answer", "w").write("right" if memory[:4096] == block[:4096] and memory[-4096:] == block[-4096:] else "wrong")`;
const ASK = "echo > /srv/question; cat /srv/answer";

/** What a lazy restore gains, and from what size on (`--mebibytes`). */
export const lazy: Workload = {
  name: "lazy",
  title: "much memory (--mebibytes), restored lazily or at once",
  rounds: { quick: 0, full: 5 },
  warmMebibytes: ({ mebibytes }) => 3 * mebibytes,
  prepare: async (context) => [
    await contender("lazy", "auto", context),
    await contender("at once", "off", context),
  ],
};

async function contender(
  name: string,
  lazyRestore: string,
  context: WorkloadContext,
): Promise<Contender> {
  // A daemon reads what it is told when it starts.
  process.env["WAYPOINT_LAZY_RESTORE"] = lazyRestore;
  const { waypoint } = context.stack.use(await WaypointWorld.open());
  delete process.env["WAYPOINT_LAZY_RESTORE"];
  const session = await waypoint.new({ name: "large", ...PLAIN_SHELL });
  await session.exec(["sh", "-c", "cat > /srv/program.py"], { shell: "own", input: PROGRAM });
  await session.exec(`python3 /srv/program.py ${context.mebibytes} &`);
  await session.exec("while [ ! -e /srv/ready ]; do sleep 0.02; done", { shell: "own" });
  const checkpoint = await session.checkpoint();
  await untilDurable(checkpoint);
  return {
    name,
    run: async () => ({
      ...(await measureFork(checkpoint)),
      ...(await measureRestore(session, checkpoint)),
    }),
  };
}

async function measureFork(checkpoint: Checkpoint): Promise<Record<string, number>> {
  const startedAtMs = performance.now();
  const [fork] = (await checkpoint.fork()) as [Session];
  await answer(fork);
  const shellAtMs = performance.now();
  await askProgram(fork);
  const answeredAtMs = performance.now();
  await untilWhole(fork);
  const wholeAtMs = performance.now();
  await fork.remove({ force: true });
  return {
    fork: shellAtMs - startedAtMs,
    "fork to the program's answer": answeredAtMs - startedAtMs,
    "fork to all memory": wholeAtMs - startedAtMs,
  };
}

async function measureRestore(
  session: Session,
  checkpoint: Checkpoint,
): Promise<Record<string, number>> {
  const { tookMs } = await timed(async () => {
    await session.restore(checkpoint, { withoutUndo: true });
    await askProgram(session);
  });
  await untilWhole(session);
  return { "go back, to the program's answer": tookMs };
}

async function askProgram(session: Session): Promise<void> {
  const { stdout } = await session.exec(ASK, { shell: "own" });
  if (stdout !== "right") throw new Error(`the program answered ${JSON.stringify(stdout)}`);
}

async function untilWhole(session: Session): Promise<void> {
  while ((await session.info()).filling) await delay(WHOLE_POLL_MS);
}
