import type { ApprovalInfo } from "../../../shared/protocol/index.ts";
import { call, type Invocation, printResult } from "../context.ts";
import { printable } from "../text/printable.ts";
import { formatMinute } from "../text/quantities.ts";
import { shownCommand } from "../text/secrets.ts";
import { type Column, layoutTable } from "../text/table.ts";

const COLUMNS: readonly Column[] = [
  { title: "STEP" },
  { title: "SESSION" },
  { title: "STATE" },
  { title: "ASKED" },
  { title: "RULE" },
  { title: "COMMAND" },
];

/** Lists the steps that wait for a person, and earlier ones. */
export async function run({ context, input }: Invocation<object, "approvals">): Promise<undefined> {
  const result = await call(context, "approvals", input);
  await printResult(context, result, ({ approvals }) =>
    approvals.length === 0
      ? ["No step waits for approval."]
      : layoutTable(
          COLUMNS,
          approvals.map((approval) => [
            approval.id,
            printable(approval.sessionName),
            stateOf(approval),
            formatMinute(approval.askedAt),
            printable(approval.rule),
            shownCommand(approval.command),
          ]),
        ),
  );
}

function stateOf({ state, exitCode, isWaitedFor }: ApprovalInfo): string {
  if (state === "used") return exitCode === null ? "begun, end not known" : `ran: ${exitCode}`;
  return state === "approved" && !isWaitedFor ? "approved, not begun" : state;
}
