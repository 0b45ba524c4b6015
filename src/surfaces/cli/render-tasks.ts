import type { Task } from "../../shared/protocol/index.ts";
import { shownCommand } from "./text/secrets.ts";
import { layoutTable } from "./text/table.ts";

const MARKS: Readonly<Record<Task["status"], string>> = {
  ...{ pending: "·", "in-progress": "▸", completed: "✓", failed: "✗", skipped: "–" },
};

const COLUMNS = ["ID", "STATUS", "TASK", "", "", ""].map((title) => ({ title }));

/** Returns a list of tasks, and which one is next. */
export function renderTasks(tasks: readonly Task[], next: string | null): string[] {
  if (tasks.length === 0) return ["There are no tasks."];
  const rows = tasks.map(({ id, status, title, dependsOn, attempts, notes }) => [
    shownCommand(id),
    `${MARKS[status]} ${status}`,
    shownCommand(title),
    dependsOn.length === 0 ? "" : `after ${dependsOn.map(shownCommand).join(", ")}`,
    attempts > 1 ? `begun ${attempts} times` : "",
    notes.length === 0 ? "" : shownCommand(notes.at(-1) ?? ""),
  ]);
  const left = next === null ? "Nothing is left to do." : `Next: ${shownCommand(next)}`;
  return [...layoutTable(COLUMNS, rows), left];
}

/** Returns one task in one line. */
export function renderTask({ id, status, title }: Task): string[] {
  return [`${MARKS[status]} ${shownCommand(id)} ${shownCommand(title)} (${status})`];
}
