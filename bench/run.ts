/**
 * Measures Waypoint on this machine; docs/performance.md says what each line means.
 *
 *     npm run bench -- [--rounds 30]
 */
import path from "node:path";
import { parseArgs } from "node:util";
import { prepareBareDump, removeBareDumps } from "./bare-criu.ts";
import { commandContenders } from "./command-contenders.ts";
import { runInTurn } from "./contender.ts";
import { bareContender, checkpointContender, engineContenders } from "./engine-contenders.ts";
import { describeMachine, printTable, writeResults } from "./report.ts";
import { buildTicker, Gaps, PLAIN_SHELL, startTicker, World } from "./world.ts";

const WARM_UP_ROUNDS = 3;

const { values: options } = parseArgs({ options: { rounds: { type: "string", default: "30" } } });
const rounds = Number(options.rounds);
if (!Number.isSafeInteger(rounds) || rounds < 1) throw new RangeError("--rounds takes a number");

const machine = describeMachine();
console.log(
  `Linux ${machine.kernel}, ${machine.cores} cores, ${machine.memoryGib} GiB, load ${machine.loadBefore.toFixed(2)}`,
);
const values = await measure();
const isReached = printTable(values);
console.log(`\n${isReached ? "All goals are reached." : "Some goals are missed."}`);
console.log(`Every value is in ${path.relative(process.cwd(), writeResults(machine, values))}.`);

async function measure(): Promise<Map<string, number[]>> {
  await using world = await World.open();
  await using bareWorld = await World.open();
  const tickerPath = await buildTicker(world.stateDir);

  const ticking = await tickingSession(world, tickerPath);
  const bare = await tickingSession(bareWorld, tickerPath);
  // Without a daemon nobody is connected to the session, and CRIU can be run on it by hand.
  await bareWorld.stopDaemon({ sessions: false });
  const bareDump = await prepareBareDump({ stateDir: bareWorld.stateDir, ...bare });

  const contenders = [
    checkpointContender(ticking.session, new Gaps(ticking.pid)),
    bareContender(bareDump, new Gaps(bare.pid)),
    ...(await engineContenders(world)),
    ...commandContenders(world),
  ];
  const onRound = (round: number) => {
    const what = round < 0 ? "warming up" : `round ${round + 1} of ${rounds}`;
    if (process.stderr.isTTY) process.stderr.write(`\r${what}        `);
  };
  try {
    return await runInTurn(contenders, { rounds, warmUpRounds: WARM_UP_ROUNDS, onRound });
  } finally {
    removeBareDumps(bareWorld.stateDir);
  }
}

async function tickingSession(world: World, tickerPath: string) {
  const session = await world.waypoint.new({ name: "ticking", ...PLAIN_SHELL });
  await startTicker(session, tickerPath);
  const { pid } = await session.info();
  if (pid === null) throw new Error("the session does not run");
  return { session, pid, instanceId: `${session.id}-1` };
}
