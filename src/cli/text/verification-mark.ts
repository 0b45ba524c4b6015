import type { Checkpoint } from "../../protocol/index.ts";
import type { Paint } from "./style.ts";

type Verification = NonNullable<Checkpoint["verification"]>;

/** Tells whether the command of a verification ended by itself, with 0. */
function isPassing({ exitCode, timedOut }: Verification): boolean {
  return exitCode === 0 && !timedOut;
}

/** Returns one column: ✓ passing, ✗ failing, nothing where a checkpoint was never verified. */
export function verificationMark(verification: Verification | null, paint: Paint): string {
  if (verification === null) return " ";
  return isPassing(verification) ? paint("green", "✓") : paint("red", "✗");
}
