import type { OperationStream } from "../../client/index.ts";
import type { DetachKeys } from "./detach-keys.ts";

/**
 * Sends what is typed to a stream until the user detaches or the returned function is called.
 *
 * Reading pauses while the stream takes no more, so that a large paste needs no memory.
 */
export function pumpKeys(options: {
  stream: OperationStream<unknown>;
  detachKeys: DetachKeys;
  onDetach: () => void;
}): () => void {
  const { stream, detachKeys, onDetach } = options;
  const { stdin } = process;
  const onData = (bytes: Uint8Array) => {
    const { forward, isDetached } = detachKeys.push(bytes);
    if (forward.length > 0) {
      stdin.pause();
      // The stream's reader reports a lost connection; here it only means that nothing more goes.
      stream.write(forward).then(
        () => stdin.resume(),
        () => {},
      );
    }
    if (isDetached) onDetach();
  };
  stdin.on("data", onData);
  stdin.resume();
  return () => {
    stdin.off("data", onData);
    stdin.pause();
  };
}
