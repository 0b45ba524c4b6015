import { findHeldStep, policyOf } from "../../portable/approvals/index.ts";
import type { CheckpointRow } from "../../portable/model/index.ts";
import { WaypointError } from "../../shared/errors/index.ts";
import type { Engine } from "../ports/index.ts";

/**
 * Refuses a command for a throw-away fork that its session would hold: nobody is asked there, and
 * what it does outside stays when the fork goes.
 *
 * @throws APPROVAL_REFUSED
 */
export function requireNotHeld(
  { session, sessionName }: Pick<CheckpointRow, "session" | "sessionName">,
  line: string,
  { catalog }: Pick<Engine, "catalog">,
): void {
  const policy = policyOf(catalog.session(session)?.approval ?? "off");
  const held = policy === null ? null : findHeldStep(line, policy);
  if (held === null) return;
  throw new WaypointError(
    "APPROVAL_REFUSED",
    `The command has a step that a person has to approve (${held.rule}), which no verification may do.`,
    {
      hint: `Leave that step out, or run it with \`waypoint exec ${sessionName}\`, which asks.`,
      detail: { rule: held.rule },
    },
  );
}
