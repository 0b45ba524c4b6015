/**
 * Measures Waypoint on this machine beside what it is compared with; docs/performance.md says what
 * each line means.
 *
 *     npm run bench -- [--full] [--only NAMES] [--install-peers] [--write-docs]
 */
import os from "node:os";
import path from "node:path";
import { readOptions, USAGE } from "./options.ts";
import { installPeers } from "./peers/install-peers.ts";
import { judgeGoals } from "./report/goals.ts";
import { renderText } from "./report/render-table.ts";
import { describeMachine, type Results, readResults, writeResults } from "./report/results.ts";
import { writeDocs } from "./report/write-docs.ts";
import { runWorkload } from "./run-workload.ts";

const EXIT_CODE_CANCELLED = 130;

const words = process.argv.slice(2);
const options = readOptions(words);
if (options.isHelp) {
  process.stdout.write(USAGE);
  process.exit(0);
}
if (options.installPeers) await installPeers();

const results = options.from === undefined ? await measure() : readResults(options.from);
console.log(renderText(results, judgeGoals(results)));
if (options.writeDocs) writeDocs(results);
if (options.from === undefined) {
  console.log(`\nEvery value is in ${path.relative(process.cwd(), writeResults(results))}.`);
}

async function measure(): Promise<Results> {
  const machine = describeMachine();
  const { kernel, cores, memoryGib, loadBefore } = machine;
  console.log(`Linux ${kernel}, ${cores} cores, ${memoryGib} GiB, load ${loadBefore.toFixed(2)}`);
  const asked = words.filter((word) => !/^--(write-docs|install-peers)$/.test(word)).join(" ");
  const measured: Results = { machine, words: asked, workloads: [] };
  // Whatever was started is ended first; Ctrl-C reaches the programs of a terminal by itself.
  const cancel = new AbortController();
  for (const name of ["SIGINT", "SIGTERM", "SIGHUP"]) {
    process.on(name, () => cancel.abort(new Error(`ended by ${name}; nothing is left behind`)));
  }
  for (const workload of options.workloads) {
    const run = runWorkload(workload, { ...options, say, signal: cancel.signal });
    const result = await run.catch((error: unknown) => {
      if (!cancel.signal.aborted) throw error;
      process.stderr.write(`\n${String(cancel.signal.reason)}\n`);
      process.exit(EXIT_CODE_CANCELLED);
    });
    measured.workloads.push(result);
    // Each time, so that a run that is ended keeps what it has measured.
    writeResults(measured);
  }
  machine.loadAfter = os.loadavg()[0] ?? 0;
  say("");
  return measured;
}

function say(what: string): void {
  if (process.stderr.isTTY) process.stderr.write(`\r${what.padEnd(60)}${what === "" ? "\r" : ""}`);
  else if (what.endsWith("preparing")) process.stderr.write(`${what.split(":")[0]}\n`);
}
