import path from "node:path";
import { hasCode, WaypointError } from "../../shared/errors/index.ts";
import type {
  Browse,
  GrepMatch,
  OperationInput,
  OperationOutput,
  Place,
} from "../../shared/protocol/index.ts";
import { callOperation } from "./call-operation.ts";
import type { Checkpoint } from "./checkpoint.ts";
import { disposable } from "./disposable.ts";
import { openStream } from "./operation-stream.ts";
import { type CallControl, splitControl } from "./options.ts";
import { momentRef } from "./require-arguments.ts";
import type { Session } from "./session.ts";

/** A moment: a checkpoint, or a session as it is now, or what names one of them. */
export type MomentReference = string | Checkpoint | Session;

/** A path; bytes where it is not UTF-8. */
export type FilePath = string | Uint8Array;

/** A path at a moment; without a moment a path of this machine. */
export interface FilePlace {
  moment?: MomentReference;
  path: FilePath;
}

/** Options of `Waypoint.cp`. */
export type CopyOptions = Omit<OperationInput<"cp">, "from" | "to"> & CallControl;

/** Options of `Waypoint.grep`. */
export type GrepOptions = Omit<OperationInput<"grep">, "pattern" | "checkpoints" | "session"> &
  CallControl & { checkpoints?: readonly (string | Checkpoint)[]; session?: string | Session };

/** Yields the content of files of any moment as it comes. */
export async function* readPlaces(
  stateDir: string,
  places: readonly (FilePlace & { moment: MomentReference })[],
  control: CallControl,
): AsyncGenerator<Uint8Array, OperationOutput<"cat">> {
  const input = {
    places: places.map((place) => ({ ...toPlace(place), moment: momentRef(place.moment) })),
  };
  const stream = await openStream(stateDir, "cat", input, control);
  for await (const event of stream) {
    if (event.kind === "notice") control.onNotice?.(event.notice);
    else yield event.bytes;
  }
  return await stream.result;
}

/** Copies files out of moments, or into a live session. */
export async function copyPlaces(
  stateDir: string,
  { from, to }: { from: readonly FilePlace[]; to: FilePlace },
  options: CopyOptions,
): Promise<OperationOutput<"cp">> {
  const { control, input } = splitControl(options);
  return await callOperation(stateDir, "cp", { ...input, ...copyRequest({ from, to }) }, control);
}

/** Mounts the files of a moment until its end is asked for. */
export async function browseMoment(
  stateDir: string,
  moment: MomentReference,
  options: { directory?: string } & CallControl,
): Promise<Browse & AsyncDisposable> {
  const { control, input } = splitControl(options);
  const request = { ...input, moment: momentRef(moment) };
  const browse = await callOperation(stateDir, "browse", request, control);
  return disposable(browse, () =>
    callOperation(stateDir, "browse.end", { which: browse.id }).catch((error: unknown) => {
      if (!hasCode(error, "FILE_NOT_FOUND")) throw error;
    }),
  );
}

/** Returns places as `cp` takes them. */
export function copyRequest({ from, to }: { from: readonly FilePlace[]; to: FilePlace }) {
  return { from: from.map(toPlace), to: toPlace(to) };
}

/** Yields matches as they are found; returns how much was searched. */
export async function* grepMatches(
  stateDir: string,
  pattern: string,
  options: GrepOptions,
): AsyncGenerator<GrepMatch, OperationOutput<"grep">> {
  const { control, input } = splitControl(options);
  const { checkpoints = [], session, ...rest } = input;
  const request = {
    ...{ ...rest, pattern, checkpoints: checkpoints.map(momentRef) },
    ...(session === undefined ? {} : { session: momentRef(session) }),
  };
  const stream = await openStream(stateDir, "grep", request, control);
  let unfinished = Buffer.alloc(0);
  for await (const event of stream) {
    if (event.kind === "notice") {
      control.onNotice?.(event.notice);
      continue;
    }
    const lines = Buffer.concat([unfinished, event.bytes]);
    const end = lines.lastIndexOf(0x0a) + 1;
    unfinished = lines.subarray(end);
    for (const line of lines.toString("utf8", 0, end).split("\n")) {
      if (line !== "") yield JSON.parse(line) as GrepMatch;
    }
  }
  return await stream.result;
}

/** Returns a place as the daemon takes it; a path of this machine is made absolute. */
function toPlace({ moment, path: given }: FilePlace): Place {
  if (typeof given !== "string" && !(given instanceof Uint8Array)) {
    throw new WaypointError("USAGE_INVALID", "A path is a string or bytes.", {
      hint: "docs/sdk.md shows how to call it.",
    });
  }
  const bytes = typeof given === "string" ? Buffer.from(given, "utf8") : Buffer.from(given);
  if (moment !== undefined) return { ...encode(bytes), moment: momentRef(moment) };
  // Joined by hand: a slash at the end, and `..` after a link, mean something.
  const isAbsolute = bytes[0] === "/".charCodeAt(0);
  return encode(isAbsolute ? bytes : Buffer.concat([Buffer.from(`${path.resolve()}/`), bytes]));
}

function encode(bytes: Buffer): Pick<Place, "path" | "pathBase64"> {
  const text = bytes.toString("utf8");
  const isText = Buffer.from(text, "utf8").equals(bytes);
  return isText ? { path: text } : { path: "", pathBase64: bytes.toString("base64") };
}
