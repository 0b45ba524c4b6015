import type { Decision } from "../../../shared/protocol/index.ts";
import { printable } from "../text/printable.ts";
import { shownCommand } from "../text/secrets.ts";

/** Returns what was decided, why and beside what, in a sentence without a full stop. */
export function describeDecision({
  choice,
  reason,
  alternatives,
  sessionName,
  task,
  command,
  isLeft,
}: Decision): string {
  const who = sessionName === null ? "" : `${printable(sessionName)} `;
  const why = reason === null ? "" : `: ${shownCommand(reason)}`;
  const beside = [
    ...(alternatives.length === 0 ? [] : [`not ${alternatives.map(shownCommand).join(", ")}`]),
    ...(task === null ? [] : [`at task ${shownCommand(task)}`]),
    ...(command === null ? [] : [`after $ ${shownCommand(command)}`]),
    ...(isLeft ? ["on a branch that was left"] : []),
  ];
  const where = beside.length === 0 ? "" : ` (${beside.join("; ")})`;
  return `» ${who}decided ${shownCommand(choice)}${why}${where}`;
}
