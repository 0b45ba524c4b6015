import type { ProcessFacts } from "../../../base/index.ts";
import type { ProcessPicture } from "./process-picture.ts";

const TERMINAL_VARIABLE = "WAYPOINT_TERMINAL=";
const INIT_PID = 1;

/**
 * Returns the shell of a session: the first program of its first terminal, which `exec` and
 * `attach` use. `null` while it has none.
 */
export function sessionShell({ tasks }: Pick<ProcessPicture, "tasks">): ProcessFacts | null {
  const shells = tasks.filter(
    (task) => task.parentPid === INIT_PID && task.leadsTerminal && terminalOf(task) !== null,
  );
  shells.sort((left, right) => (terminalOf(left) ?? 0) - (terminalOf(right) ?? 0));
  return shells[0] ?? null;
}

function terminalOf({ startEnvironment }: ProcessFacts): number | null {
  const variable = startEnvironment.find((each) => each.startsWith(TERMINAL_VARIABLE));
  return variable === undefined ? null : Number(variable.slice(TERMINAL_VARIABLE.length));
}
