import { spawn } from "node:child_process";
import { onTestFinished } from "vitest";

/** Keeps the processors at work with so many loops, to the end of the test at the latest. */
export function keepBusy(loops: number): { end: () => void } {
  const busy = Array.from({ length: loops }, () => spawn("sh", ["-c", "while :; do :; done"]));
  const end = () => {
    for (const each of busy) each.kill();
  };
  onTestFinished(end);
  return { end };
}
