import type { StreamPeer } from "../engine/ports/index.ts";

/** Sends one result before the operation's own, as a line of JSON. */
export async function sendLine(peer: StreamPeer, message: object): Promise<void> {
  await peer.send("stdout", Buffer.from(`${JSON.stringify(message)}\n`));
}
