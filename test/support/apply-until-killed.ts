import { closeSync, constants, openSync } from "node:fs";
import { Target, versionAt } from "../../src/engine/changes/index.ts";
import { CopyJob } from "../../src/engine/files/index.ts";
import { carryOut, Journal, makePlan } from "../../src/engine/merge/index.ts";
import * as kernel from "../../src/linux/kernel/index.ts";
import * as textTools from "../../src/linux/text-tools/index.ts";

/** What a process does that is killed in the middle of it. */
interface Job {
  storeDir: string;
  targetDir: string;
  /** Paths below the target, each with where its new version lies; `null` deletes it. */
  desired: { path: string; from: string | null }[];
  /** Which look at the client's signal is the last one; one comes before each step. */
  killAt: number;
}

const job = JSON.parse(process.argv[2] ?? "") as Job;
let looks = 0;
// The signal is looked at before every step, so it is where a process can be ended at each of them.
const signal = {
  get aborted() {
    looks += 1;
    if (looks === job.killAt) process.kill(process.pid, "SIGKILL");
    return false;
  },
  throwIfAborted() {},
} as unknown as AbortSignal;

const journal = new Journal(job.storeDir);
const fd = openSync(job.targetDir, constants.O_RDONLY | constants.O_DIRECTORY);
const target = new Target(fd, kernel);
const id = "crashed";
await journal.make(id);
const desired = job.desired.map(({ path, from }) => ({
  ...{ path, theirs: from === null ? null : versionAt(from), linkKey: null, ctimeNs: null },
  base: "unknown" as const,
}));
const plan = await makePlan(desired, target, {
  onConflict: "theirs",
  labels: { ours: "ours", base: "base", theirs: "theirs" },
  ...{
    scratchDir: journal.dirOf(id),
    textTools,
    directoryAt: () => null,
    signal: new AbortController().signal,
  },
});
const record = {
  ...({ id, kind: "apply", at: new Date().toISOString(), session: "s", checkpoint: "c" } as const),
  ...{ destination: { kind: "machine", directory: job.targetDir } as const },
  ...{ before: null, operation: null, undoes: null },
};
const rules = { owner: null, dropsPrivileges: false };
const copying = new CopyJob(fd, rules, { id, signal, calls: kernel });
const done = await carryOut({ record, plan, target, journal, job: copying, sync: async () => {} });
await journal.write(done);
closeSync(fd);
process.stdout.write(String(looks));
