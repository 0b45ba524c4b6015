import { spawn } from "node:child_process";
import { once } from "node:events";
import { createInterface } from "node:readline/promises";
import { fileURLToPath } from "node:url";
import type { Session } from "../../src/index.ts";
import { bold, dim, say } from "./display.ts";

const PROGRAM = fileURLToPath(new URL("../../bin/waypoint", import.meta.url));

/** The user or the system wants the tour to end. */
export class Interrupted extends Error {}

/** Rejects when that happens. */
export function interruption(): Promise<never> {
  return new Promise((_resolve, reject) => {
    for (const signal of ["SIGINT", "SIGTERM", "SIGHUP"] as const) {
      process.once(signal, () => reject(new Interrupted(signal)));
    }
    // Nobody reads any more, as with `npm start | head`.
    process.stdout.on("error", (error) => reject(new Interrupted(error.message)));
  });
}

/** Only a person at a terminal can go on in the session. */
export const isInteractive = process.stdin.isTTY === true && process.stdout.isTTY === true;

/** Offers to go on inside the session; it lives on either way. */
export async function offerToAttach(session: Session): Promise<void> {
  say(`The session ${bold(session.name)} lives on, with its shop, its jobs and its Python prompt.`);
  say(`${dim("attach:")} bin/waypoint attach ${session.name}`);
  say(`${dim("remove:")} bin/waypoint rm ${session.name} --force\n`);
  const lines = createInterface({ input: process.stdin, output: process.stdout });
  const closed = once(lines, "close").then(() => "n");
  // Ctrl-C and the end of input are a no, not a failure of the tour.
  const asked = lines.question("   Attach to it now? [Y/n] ").catch(() => "n");
  const answer = await Promise.race([asked, closed]);
  lines.close();
  if (/^n/i.test(answer.trim())) return;
  const child = spawn(PROGRAM, ["attach", session.name], { stdio: "inherit" });
  await once(child, "exit");
}

/** Says how a person would go on, where nobody is there to ask. */
export function explainAttach(): void {
  say("In a terminal the tour keeps its session and ends inside it:");
  say("  bin/waypoint attach tour");
}
