import type { Session, Waypoint } from "../../src/index.ts";
import { confirm, milliseconds, say, showCommand, table } from "./display.ts";
import { expectSame, expectThat } from "./expectation.ts";
import type { MadeSessions } from "./made-sessions.ts";
import { Shell } from "./shell.ts";
import { RIGHT_TOTAL, readTotal, START_SERVER, waitForServer } from "./shop.ts";

/** One way to give express shipping a price. */
interface Fix {
  place: string;
  commands: string[];
  /** The new server must be another process than the checkpoint's. */
  restartsServer: boolean;
}

interface Outcome {
  fork: string;
  place: string;
  standard: string;
  express: string;
  serverPid: number;
  durationMs: number;
}

const FIXES: Fix[] = [
  {
    place: "config.json",
    commands: ['sed -i \'s/"standard": 500/"standard": 500, "express": 1200/\' config.json'],
    restartsServer: false,
  },
  {
    place: "the database",
    commands: ["sqlite3 shop.db \"INSERT INTO shipping_rates VALUES ('express', 950)\""],
    restartsServer: false,
  },
  {
    place: "the code",
    commands: ["cp fixes/shipping.mjs shipping.mjs", "kill SERVER && wait SERVER", START_SERVER],
    restartsServer: true,
  },
];

/** Tries the fixes side by side, each in a fork of its own, and compares what came out. */
export async function compareFixes(forks: Session[], original: Shell): Promise<void> {
  const { pid: serverPid } = await readTotal(original);
  const runs = FIXES.map((fix, index) => {
    const fork = forks[index];
    expectThat(fork !== undefined, `Fork ${index + 1} is missing.`);
    return { fix, shell: new Shell(fork as Session) };
  });
  for (const { fix, shell } of runs) {
    for (const command of fix.commands) showCommand(shell.session.name, fill(command, serverPid));
  }
  const outcomes = await Promise.all(runs.map(({ fix, shell }) => tryFix(fix, shell, serverPid)));
  showOutcomes(outcomes, serverPid);
  checkOutcomes(outcomes);
  await checkOriginal(original, serverPid);
}

/** Shows that the feature is missing where the forks come from. */
export async function showFailingTest(shell: Shell): Promise<void> {
  await shell.run("npm test --silent", { exitCode: 1 });
  say("Express shipping has no price yet. Three ways to give it one:");
}

/** Starts one fork per fix. */
export async function startForks(
  waypoint: Waypoint,
  checkpointId: string,
  name: string,
  made: MadeSessions,
): Promise<Session[]> {
  const startMs = performance.now();
  const forks = await made.addForks(waypoint.fork(checkpointId, { count: FIXES.length, name }));
  const names = forks.map((fork) => fork.name).join(", ");
  confirm(`${forks.length} forks after ${milliseconds(performance.now() - startMs)}: ${names}`);
  return forks;
}

async function tryFix(fix: Fix, shell: Shell, serverPid: number): Promise<Outcome> {
  const startMs = performance.now();
  const former = await readTotal(shell);
  expectSame(`Total of ${shell.session.name} before its fix`, former.total, RIGHT_TOTAL);
  expectSame(`Server's process in ${shell.session.name}`, former.pid, serverPid);
  for (const command of fix.commands) await applyCommand(shell, fill(command, serverPid));
  if (fix.restartsServer) await waitForServer(shell, serverPid);
  await shell.read("npm test --silent");
  const standard = await readTotal(shell);
  const express = await readTotal(shell, "express");
  return {
    fork: shell.session.name,
    place: fix.place,
    standard: standard.total,
    express: express.total,
    serverPid: express.pid,
    durationMs: performance.now() - startMs,
  };
}

/** A process that was ended makes `wait` answer with its signal, so only the outcome is checked. */
async function applyCommand(shell: Shell, command: string): Promise<void> {
  if (command.includes("wait ")) await shell.ask(command);
  else await shell.read(command);
}

function fill(command: string, serverPid: number): string {
  return command.replaceAll("SERVER", String(serverPid));
}

function showOutcomes(outcomes: Outcome[], serverPid: number): void {
  console.log();
  table(
    ["fork", "fixed in", "npm test", "standard", "express", "port", "server's process", "took"],
    outcomes.map((outcome) => [
      outcome.fork,
      outcome.place,
      "ok",
      outcome.standard,
      outcome.express,
      "3000",
      outcome.serverPid === serverPid ? `${serverPid} (the same)` : `${outcome.serverPid} (new)`,
      milliseconds(outcome.durationMs),
    ]),
  );
  console.log();
}

function checkOutcomes(outcomes: Outcome[]): void {
  for (const { fork, standard } of outcomes) expectSame(`Total of ${fork}`, standard, RIGHT_TOTAL);
  const totals = outcomes.map(({ express }) => express);
  expectThat(
    new Set(totals).size === outcomes.length,
    `The forks are not apart from each other: express totals ${totals.join(", ")}`,
  );
  confirm(`three different express totals on three ports 3000: ${totals.join(", ")}`);
}

async function checkOriginal(original: Shell, serverPid: number): Promise<void> {
  const { total, pid } = await readTotal(original);
  expectSame("Total of the original", total, RIGHT_TOTAL);
  expectSame("Server's process in the original", pid, serverPid);
  const test = await original.ask("npm test --silent");
  expectThat(test.exitCode === 1, "A fix of a fork reached the original session.");
  confirm(`the original is untouched: ${total}, process ${pid}, express shipping still missing`);
}
