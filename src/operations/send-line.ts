import type { StreamClient } from "../engine/ports/index.ts";

/** Sends one result before the operation's own, as a line of JSON. */
export async function sendLine(client: StreamClient, message: object): Promise<void> {
  await client.send("stdout", Buffer.from(`${JSON.stringify(message)}\n`));
}
