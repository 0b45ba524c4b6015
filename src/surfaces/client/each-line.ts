import { StringDecoder } from "node:string_decoder";
import type { OperationStream } from "./operation-stream.ts";

/** Hands over each line of JSON that an operation sends before its result, in order. */
export async function eachLine<T>(
  stream: OperationStream<unknown>,
  take: (line: T) => Promise<void>,
): Promise<void> {
  const decoder = new StringDecoder("utf8");
  let begun = "";
  for await (const event of stream) {
    if (event.kind !== "stdout") continue;
    const lines = (begun + decoder.write(Buffer.from(event.bytes))).split("\n");
    begun = lines.pop() ?? "";
    for (const line of lines) await take(JSON.parse(line) as T);
  }
}
