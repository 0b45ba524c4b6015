import { WaypointError } from "../../../shared/errors/index.ts";
import type { OperationInput } from "../../../shared/protocol/index.ts";
import { openExec } from "../../client/index.ts";
import { HeldHere } from "../approving/held-here.ts";
import { type CommandContext, note } from "../context.ts";
import { DetachKeys, parseDetachKeys } from "./detach-keys.ts";
import { KeyPump } from "./key-pump.ts";
import { RawTerminal } from "./raw-terminal.ts";
import { showTerminal } from "./show-terminal.ts";

/**
 * Runs a command on a terminal of its own in the session, shown on this one; returns its exit code.
 *
 * The detach keys hang that terminal up, and the command with it.
 *
 * @throws CANCELLED           the user has left.
 * @throws DAEMON_UNREACHABLE  the daemon was lost; the command goes on, and nobody sees it.
 */
export async function runOnOwnTerminal(
  context: CommandContext,
  input: OperationInput<"exec">,
  detachKeys: string,
): Promise<number> {
  const keys = new DetachKeys(parseDetachKeys(detachKeys));
  const notices: string[] = [];
  const result = await onRawTerminal(async (terminal, pump) => {
    const request = { ...input, stdin: true, ...terminal.size };
    const stream = await openExec(context.stateDir, request);
    using steps = new HeldHere(context, pump);
    return await showTerminal(context, stream, {
      onStep: (approval, notice) => steps.take(approval, notice),
      terminal,
      keys: pump,
      typesBeforeOutput: true,
      detachTimeoutMs: 0,
      onNotice: (notice) => void notices.push(notice),
    });
  }, keys);
  for (const notice of notices) note(context, notice);
  if (result === null) throw new WaypointError("CANCELLED", "The command's terminal was hung up.");
  if (result.timedOut) note(context, "waypoint: the command was interrupted, its time was over.");
  return result.exitCode;
}

/** What is noted comes when the terminal is its user's again. */
async function onRawTerminal<Result>(
  work: (terminal: RawTerminal, keys: KeyPump) => Promise<Result>,
  detachKeys: DetachKeys,
): Promise<Result> {
  using terminal = new RawTerminal();
  using pump = new KeyPump(detachKeys);
  return await work(terminal, pump);
}
