import { StringDecoder } from "node:string_decoder";
import { WaypointError } from "../../../shared/errors/index.ts";
import { readPlaces } from "../../client/index.ts";
import { type CommandContext, type Invocation, note } from "../context.ts";
import { endedBySignals } from "../leaving.ts";
import { parseMomentPlace } from "../parse-place.ts";
import { printableLines } from "../text/printable.ts";

/** A line of JSON is held in memory, here and by whoever reads it. */
const JSON_BYTES_MAX = 64 * 1024 * 1024;

/** Prints files of any moment. */
export async function run({ context, rest }: Invocation): Promise<undefined> {
  const notices: string[] = [];
  const onNotice = (notice: string) => {
    notices.push(notice);
    note(context, notice);
  };
  const places = rest.map(parseMomentPlace);
  await endedBySignals(
    "cat",
    () => {},
    ({ cancel: signal }) =>
      print(context, readPlaces(context.stateDir, places, { signal, onNotice }), notices),
  );
}

/** @param notices  what is said of the files, complete when their content is. */
async function print(
  context: CommandContext,
  content: AsyncIterable<Uint8Array>,
  notices: readonly string[],
): Promise<void> {
  if (context.isJson) await printJson(context, content, notices);
  else if (context.output.isTerminal) await show(context, content);
  else for await (const bytes of content) await context.output.bytes("stdout", bytes);
}

/** What is in a file must not move a person's cursor or answer for them. */
async function show(context: CommandContext, content: AsyncIterable<Uint8Array>): Promise<void> {
  const decoder = new StringDecoder("utf8");
  for await (const bytes of content) {
    await context.output.text(printableLines(decoder.write(Buffer.from(bytes))));
  }
  await context.output.text(printableLines(decoder.end()));
}

async function printJson(
  context: CommandContext,
  content: AsyncIterable<Uint8Array>,
  notices: readonly string[],
): Promise<void> {
  const pieces: Uint8Array[] = [];
  let sizeBytes = 0;
  for await (const bytes of content) {
    sizeBytes += bytes.length;
    if (sizeBytes > JSON_BYTES_MAX) throw tooLarge();
    pieces.push(bytes);
  }
  const contentBase64 = Buffer.concat(pieces).toString("base64");
  await context.output.json({ bytes: sizeBytes, contentBase64, notices });
}

function tooLarge(): WaypointError {
  const most = `${JSON_BYTES_MAX / 1024 ** 2} MiB`;
  return new WaypointError("USAGE_INVALID", `More than ${most} do not go into a line of JSON.`, {
    hint: "Leave out --json to have the bytes as they are, or use `waypoint cp`.",
  });
}
