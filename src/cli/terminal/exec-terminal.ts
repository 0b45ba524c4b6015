import { openStream } from "../../client/index.ts";
import { WaypointError } from "../../errors/index.ts";
import type { OperationInput } from "../../protocol/index.ts";
import type { CommandContext } from "../context.ts";
import { DetachKeys, parseDetachKeys } from "./detach-keys.ts";
import { pumpKeys } from "./pump-keys.ts";
import { RawTerminal } from "./raw-terminal.ts";

/** The chord of `attach` leaves a command as well, so that nobody is caught in one. */
const LEAVING_KEYS = "ctrl-],d";

/**
 * Runs a command on the session's terminal with this terminal in front of it.
 *
 * @throws CANCELLED  the user left with the chord; the command runs on.
 */
export async function execOnTerminal(
  context: CommandContext,
  input: OperationInput<"exec">,
): Promise<number> {
  const leaving = new AbortController();
  const stream = await openStream(context.stateDir, "exec", input, { signal: leaving.signal });
  using terminal = new RawTerminal();
  const onResize = () => stream.control({ control: "resize", ...terminal.size });
  onResize();
  process.stdout.on("resize", onResize);
  const onDetach = () => leaving.abort(new WaypointError("CANCELLED", "The command was left."));
  const detachKeys = new DetachKeys(parseDetachKeys(LEAVING_KEYS));
  const stopKeys = pumpKeys({ stream, detachKeys, onDetach });
  try {
    for await (const event of stream) {
      if (event.kind === "notice") continue;
      terminal.watch(event.bytes);
      await context.output.bytes(event.kind, event.bytes);
    }
    const { exitCode } = await stream.result;
    return exitCode;
  } finally {
    process.stdout.off("resize", onResize);
    stopKeys();
  }
}
