import type { ApprovalInfo } from "../../../shared/protocol/index.ts";
import { eachLine } from "../../client/index.ts";
import { call, callStream, type Invocation, printResult } from "../context.ts";
import { describeCaller } from "../text/caller.ts";
import { printable } from "../text/printable.ts";
import { formatMinute } from "../text/quantities.ts";
import { shownIntent } from "../text/secrets.ts";
import { type Column, layoutTable } from "../text/table.ts";

const COLUMNS: readonly Column[] = [
  { title: "STEP" },
  { title: "SESSION" },
  { title: "STATE" },
  { title: "ASKED" },
  { title: "ANSWERED BY" },
  { title: "RULE" },
  { title: "COMMAND" },
];

/** Lists the steps that wait for a person, and earlier ones; or tells them as they come. */
export async function run({
  context,
  options,
  input,
}: Invocation<{ follow?: boolean }, "approvals">): Promise<undefined> {
  if (options.follow === true) return await follow({ context, input });
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
            describeCaller(approval.answeredBy),
            printable(approval.rule),
            shownIntent(approval.command),
          ]),
        ),
  );
}

async function follow({
  context,
  input,
}: Pick<Invocation<object, "approvals">, "context" | "input">): Promise<undefined> {
  const print = async (approval: ApprovalInfo) => {
    if (context.isJson) return await context.output.json(approval);
    const { id, sessionName, askedBy, answeredBy, command, state } = approval;
    const who = describeCaller(state === "waiting" ? askedBy : answeredBy);
    const what = `${stateOf(approval)}${who === "" ? "" : ` (${who})`}`;
    await context.output.lines([
      `${id} ${printable(sessionName)} ${what}: ${shownIntent(command)}`,
    ]);
  };
  await callStream(context, "approvals.watch", input, (stream) => eachLine(stream, print));
}

function stateOf({ state, exitCode, isWaitedFor }: ApprovalInfo): string {
  if (state === "used") return exitCode === null ? "begun, end not known" : `ran: ${exitCode}`;
  if (state === "waiting" && !isWaitedFor) return "waiting, its command left";
  return state === "approved" && !isWaitedFor ? "approved, not begun" : state;
}
