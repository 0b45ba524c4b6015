import type { ApprovalInfo } from "../../../shared/protocol/index.ts";
import type { OperationStream } from "../../client/index.ts";
import type { CommandContext } from "../context.ts";
import type { KeyPump } from "./key-pump.ts";
import type { RawTerminal } from "./raw-terminal.ts";

/** What a terminal of this process is connected to, and the keys that go there. */
export interface ShownTerminal {
  terminal: RawTerminal;
  keys: KeyPump;
  /** Nothing is typed to what the user does not see yet. */
  typesBeforeOutput: boolean;
  /** How long the daemon may take to confirm that the user has left; 0 where it does not. */
  detachTimeoutMs: number;
  onNotice?: (notice: string) => void;
  /** Told of the step that the command waits for, and when it waits no longer. */
  onStep?: (approval: ApprovalInfo, notice: string) => void;
  /** Called with what has just been shown. */
  onOutput?: (bytes: Uint8Array) => void;
  /** Called when the first output stands on the screen. */
  onShown?: () => void;
}

/** Shows one connection's output and sends keys, until its result; `null` when the user has left. */
export async function showTerminal<Output>(
  context: CommandContext,
  stream: OperationStream<Output>,
  shown: ShownTerminal,
): Promise<Output | null> {
  const { terminal, keys, typesBeforeOutput, detachTimeoutMs, onShown } = shown;
  let isLeaving = false;
  const onDetach = () => {
    isLeaving = true;
    stream.control({ control: "detach" });
    setTimeout(() => stream.close(), detachTimeoutMs).unref();
  };
  const onResize = () => stream.control({ control: "resize", ...terminal.size });
  process.stdout.on("resize", onResize);
  try {
    let isTyped = typesBeforeOutput;
    let isShown = false;
    if (isTyped) keys.sendTo(stream, onDetach);
    for await (const event of stream) {
      if (event.kind === "notice") {
        if (event.approval === undefined) shown.onNotice?.(event.notice);
        else shown.onStep?.(event.approval, event.notice);
        continue;
      }
      terminal.watch(event.bytes);
      await context.output.bytes("stdout", event.bytes);
      shown.onOutput?.(event.bytes);
      if (!isShown) onShown?.();
      isShown = true;
      if (!isTyped) keys.sendTo(stream, onDetach);
      isTyped = true;
    }
    return await stream.result;
  } catch (error) {
    // The user wanted to leave and has left; how the connection ended does not matter.
    if (isLeaving) return null;
    throw error;
  } finally {
    process.stdout.off("resize", onResize);
    keys.hold();
    stream.close();
  }
}
