import type { Decision } from "../../shared/protocol/index.ts";
import { printable } from "./text/printable.ts";
import { formatClock } from "./text/quantities.ts";
import { shownCommand } from "./text/secrets.ts";

type Told = Omit<Decision, "sessionName" | "isLeft"> & Partial<Pick<Decision, "sessionName">>;

/** Returns a decision: what was chosen, and below it why and beside what. */
export function renderDecision(decision: Told, nowMs: number): string[] {
  const { at, choice, reason, alternatives, sessionName, checkpoint, task, command } = decision;
  const where = [
    ...(sessionName == null ? [] : [printable(sessionName)]),
    ...(checkpoint === null ? [] : [`before ${checkpoint}`]),
    ...(task === null ? [] : [`at task ${shownCommand(task)}`]),
    ...(command === null ? [] : [`after $ ${shownCommand(command)}`]),
  ];
  return [
    `${formatClock(at, nowMs)}  ${shownCommand(choice)}`,
    ...(reason === null ? [] : [`    why: ${shownCommand(reason)}`]),
    ...(alternatives.length === 0 ? [] : [`    not: ${alternatives.map(shownCommand).join("; ")}`]),
    ...(where.length === 0 ? [] : [`    ${where.join(", ")}`]),
  ];
}
