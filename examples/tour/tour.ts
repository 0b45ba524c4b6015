/**
 * The guided tour: `npm start`.
 *
 * Puts a small real shop into a session, checkpoints it, breaks it, brings it back, and forks it.
 * Uses the SDK alone. Every claim that it prints was checked a moment before; a claim that does
 * not hold ends it with exit code 1. It removes what it made, except, for a person at a terminal,
 * the session itself.
 */
import { type Session, Waypoint, WaypointError } from "../../src/index.ts";
import { confirm, heading, megabytes, milliseconds, say, seconds } from "./display.ts";
import {
  explainAttach,
  Interrupted,
  interruption,
  isInteractive,
  offerToAttach,
} from "./ending.ts";
import { expectSame, expectThat, TourFailure } from "./expectation.ts";
import { compareFixes, showFailingTest, startForks } from "./fixes.ts";
import { installNpmPackages, installPrograms, placeShop } from "./install.ts";
import { MadeSessions } from "./made-sessions.ts";
import { breakShop, putDatabaseBack, undoAndReturn } from "./mishap.ts";
import { Shell } from "./shell.ts";
import {
  RIGHT_TOTAL,
  readTicks,
  SHOP_PROGRAMS,
  type Stock,
  showTotal,
  startShop,
  takeStock,
} from "./shop.ts";
import { showTimeline } from "./timeline.ts";

const EXIT_CODE_CANCELLED = 130;

const made = new MadeSessions();

// An interrupted tour may still wait for something, so the end is said and not waited for.
process.exit(await main());

async function main(): Promise<number> {
  try {
    await Promise.race([giveTour(), interruption()]);
  } catch (error) {
    await made.remove({ keepMain: isInteractive && !(error instanceof Interrupted) });
    return explainFailure(error);
  }
  await made.remove({ keepMain: isInteractive });
  if (isInteractive && made.main !== null) await offerToAttach(made.main);
  else explainAttach();
  return Number(process.exitCode ?? 0);
}

async function giveTour(): Promise<void> {
  const waypoint = await Waypoint.open();
  const shell = await startSession(waypoint);
  const startMs = performance.now();
  await installShop(shell);
  const installedMs = performance.now();
  const before = await openShop(shell);
  const checkpointId = await checkpointShop(shell);
  await goWrong(shell);
  await comeBack(shell, checkpointId, before);
  const forks = await branchOut(waypoint, shell, checkpointId);
  await lookBack(waypoint, [shell.session, ...forks]);
  const endMs = performance.now();
  console.log();
  say(
    `Installing took ${seconds(installedMs - startMs)}, the rest ${seconds(endMs - installedMs)}.`,
  );
}

async function startSession(waypoint: Waypoint): Promise<Shell> {
  heading("A session: a live computer on top of this host's own root filesystem");
  const name = await freeName(waypoint);
  const startMs = performance.now();
  const session = await made.addMain(waypoint.new({ name, cwd: "/" }));
  confirm(`session ${name} started in ${milliseconds(performance.now() - startMs)}`);
  const shell = new Shell(session);
  await shell.run("hostname; whoami; echo shell $$; ls -d /usr /etc /home");
  return shell;
}

async function installShop(shell: Shell): Promise<void> {
  heading("A small real shop moves in: an HTTP server, SQLite, Redis");
  await placeShop(shell);
  await installPrograms(shell);
  await installNpmPackages(shell);
}

async function openShop(shell: Shell): Promise<Stock> {
  heading("It opens: three background jobs of the shell, and a Python prompt in tmux");
  await startShop(shell);
  await showTotal(shell);
  await shell.run("jobs -l");
  const stock = await takeStock(shell);
  expectSame("Total of two mugs", stock.total, RIGHT_TOTAL);
  confirm(`two mugs cost ${stock.total}: $44.00 from SQLite, 25% off from Redis, tax and shipping`);
  confirm(`the Python prompt knows its variable: ${stock.variable}`);
  return stock;
}

async function checkpointShop(shell: Shell): Promise<string> {
  heading("Checkpoint: processes, memory, terminal and files at one instant");
  const { id, info } = await shell.session.checkpoint({
    intent: "the shop works",
    name: `${shell.session.name}-works`,
  });
  confirm(
    `checkpoint ${id}: the session stood still for ${milliseconds(info.pauseMs)} (${milliseconds(info.totalMs)} in all, ${megabytes(info.memoryBytes)} of memory)`,
  );
  return id;
}

async function goWrong(shell: Shell): Promise<void> {
  heading("Things go wrong: price, cache, tax, package directory, server");
  await breakShop(shell);
  heading("Putting back the database file alone");
  await putDatabaseBack(shell);
}

async function comeBack(shell: Shell, checkpointId: string, before: Stock): Promise<void> {
  heading("Restore the session");
  const lostTicks = await readTicks(shell);
  const { readyMs, undo } = await shell.session.restore(checkpointId);
  const firstTicks = await readTicks(shell);
  expectThat(firstTicks < lostTicks, `The background job counts ${firstTicks} after the restore.`);
  confirm(`ready after ${milliseconds(readyMs)}; what was there before is checkpoint ${undo}`);
  await showTotal(shell);
  await shell.run("jobs -l");
  const after = await takeStock(shell);
  compareStock(before, after);
  const ticks = await readTicks(shell, firstTicks);
  confirm(
    `the background job went back from ${lostTicks} to ${firstTicks}, and counts on: ${ticks}`,
  );

  heading("A restore can be undone");
  await undoAndReturn(shell, checkpointId);
}

function compareStock(before: Stock, after: Stock): void {
  expectSame("Total of two mugs after the restore", after.total, RIGHT_TOTAL);
  expectSame("Job table after the restore", after.jobs, before.jobs);
  expectSame("Number of the shop's programs", after.processes.length, SHOP_PROGRAMS.length);
  expectSame("Processes after the restore", after.processes, before.processes);
  expectSame("Variable of the Python prompt after the restore", after.variable, before.variable);
  confirm(`two mugs cost ${after.total} again`);
  confirm("the same processes with the same ids, the same job table");
  for (const line of after.processes) say(`    ${line}`);
  confirm(`the same variable at the same address in the Python prompt: ${after.variable}`);
}

async function branchOut(
  waypoint: Waypoint,
  shell: Shell,
  checkpointId: string,
): Promise<Session[]> {
  heading("Three fixes side by side, in three forks of the same moment");
  await showFailingTest(shell);
  const forks = await startForks(waypoint, checkpointId, `${shell.session.name}-fix`, made);
  await compareFixes(forks, shell);
  return forks;
}

async function lookBack(waypoint: Waypoint, sessions: Session[]): Promise<void> {
  heading("The timeline");
  await showTimeline(waypoint, sessions);
}

/** Returns the first of tour, tour-2, … that neither a session nor a fork of a tour carries. */
async function freeName(waypoint: Waypoint): Promise<string> {
  const names = (await waypoint.sessions()).map(({ name }) => name);
  for (let count = 1; ; count += 1) {
    const name = count === 1 ? "tour" : `tour-${count}`;
    if (!names.some((taken) => taken === name || taken.startsWith(`${name}-fix`))) return name;
  }
}

function explainFailure(error: unknown): number {
  if (error instanceof Interrupted) {
    console.error(`\nThe tour was interrupted (${error.message}).`);
    return EXIT_CODE_CANCELLED;
  }
  if (!(error instanceof TourFailure || error instanceof WaypointError)) throw error;
  console.error(`\nError: ${error.message}`);
  if (error.hint !== null) console.error(`Hint:  ${error.hint}`);
  if (isInteractive && made.main !== null) {
    console.error(`The session is kept: bin/waypoint attach ${made.main.name}`);
  }
  return 1;
}
