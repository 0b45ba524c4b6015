import { type Checkpoint, verdictOf } from "../../../shared/protocol/index.ts";
import type { Paint } from "./style.ts";

type Verification = NonNullable<Checkpoint["verification"]>;

/** Returns one column: ✓ passing, ✗ failing, - no verdict, nothing where there was no verification. */
export function verificationMark(verification: Verification | null, paint: Paint): string {
  if (verification === null) return " ";
  const verdict = verdictOf(verification);
  if (verdict === null) return "-";
  return verdict === "passing" ? paint("green", "✓") : paint("red", "✗");
}
