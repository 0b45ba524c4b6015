import type { OperationOutput } from "../../../shared/protocol/index.ts";
import { wrap } from "../text/display-width.ts";
import { formatCount } from "../text/quantities.ts";
import type { Paint } from "../text/style.ts";

/** Returns sentences about the checkpoints that were left out, if there are any. */
export function renderSkipped(
  { checkpoints, notShown, notSearched }: OperationOutput<"log">,
  { columns, paint }: { columns: number; paint: Paint },
): string[] {
  if (notShown === 0) return [];
  const all = checkpoints.length + notShown;
  const told =
    checkpoints.length === 0
      ? `None of ${count(all)} fits.`
      : `${formatCount(checkpoints.length)} of ${count(all)}.`;
  const unsearched =
    notSearched === 0
      ? ""
      : ` Nobody can say it of ${formatCount(notSearched)}: what their story tells of it is not ready, or could not be read.`;
  return wrap(`${told}${unsearched}`, columns).map((line) => paint("dim", line));
}

function count(checkpoints: number): string {
  return `${formatCount(checkpoints)} ${checkpoints === 1 ? "checkpoint" : "checkpoints"}`;
}
