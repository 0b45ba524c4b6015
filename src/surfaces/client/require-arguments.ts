import { WaypointError } from "../../shared/errors/index.ts";

/** Oldest Node on which the SDK runs: it has AbortSignal.any and Symbol.asyncDispose. */
const NODE_MIN = [20, 4] as const;

/** @throws HOST_UNSUPPORTED  this program runs on a Node that is too old for the SDK. */
export function requireNode(version: string = process.versions.node): void {
  const [major = 0, minor = 0] = version.split(".").map(Number);
  if (major > NODE_MIN[0] || (major === NODE_MIN[0] && minor >= NODE_MIN[1])) return;
  throw new WaypointError(
    "HOST_UNSUPPORTED",
    `The SDK of Waypoint needs Node ${NODE_MIN.join(".")} or newer; this program runs on ${version}.`,
    {
      hint: "Run it with a newer Node; the daemon and the command line bring one of their own.",
      detail: { version },
    },
  );
}

/**
 * Checks what programs without types get wrong in a call's options.
 *
 * @throws USAGE_INVALID
 */
export function requireOptions(options: unknown): void {
  const isObject = typeof options === "object" && options !== null && !Array.isArray(options);
  if (!isObject) throw invalid(`The options must be an object, not ${shown(options)}.`);
  const { signal } = options as { signal?: unknown };
  if (signal === undefined || signal instanceof AbortSignal) return;
  throw invalid(`The option signal must be an AbortSignal, not ${shown(signal)}.`);
}

/** Returns what names a session. @throws USAGE_INVALID */
export function requireSessionReference(reference: unknown): string {
  if (typeof reference === "string" && reference !== "") return reference;
  throw invalid(`A session is named by a string that is not empty, not by ${shown(reference)}.`);
}

/** Returns how the daemon calls the checkpoint that a caller gave. @throws USAGE_INVALID */
export function checkpointRef(checkpoint: unknown): string {
  return referenceOf(checkpoint, "A checkpoint is a Checkpoint");
}

/** Returns how the daemon calls the checkpoint or session that a caller gave. @throws USAGE_INVALID */
export function momentRef(moment: unknown): string {
  return referenceOf(moment, "A moment is a Checkpoint, a Session");
}

function referenceOf(given: unknown, what: string): string {
  const isObject = typeof given === "object" && given !== null;
  const reference = isObject && "id" in given ? given.id : given;
  if (typeof reference === "string" && reference !== "") return reference;
  throw invalid(`${what} or a string that is not empty, not ${shown(given)}.`);
}

/** Returns the words of a command. @throws USAGE_INVALID */
export function requireCommand(command: unknown): string[] {
  if (typeof command === "string") return [command];
  const isWords = Array.isArray(command) && command.every((word) => typeof word === "string");
  if (isWords && command.length > 0) return [...(command as string[])];
  throw invalid(
    `A command is a line of shell or an array of strings that is not empty, not ${shown(command)}.`,
  );
}

/** Checks that checkpoints are given as a list. @throws USAGE_INVALID */
export function requireCheckpoints(checkpoints: unknown): void {
  if (Array.isArray(checkpoints)) return;
  throw invalid(`Checkpoints are given as an array, not as ${shown(checkpoints)}.`);
}

/** Checks how many forks are wanted. @throws USAGE_INVALID */
export function requireCount(count: unknown): void {
  if (typeof count === "number") return;
  throw invalid(`The number of forks must be a number, not ${shown(count)}.`);
}

/** Checks a command's standard input. @throws USAGE_INVALID */
export function requireInput(input: unknown): void {
  if (input === undefined || typeof input === "string" || input instanceof Uint8Array) return;
  if (typeof input === "object" && input !== null && Symbol.asyncIterator in input) return;
  throw invalid(`The option input must be a string or bytes, not ${shown(input)}.`);
}

function invalid(message: string): WaypointError {
  return new WaypointError("USAGE_INVALID", message, {
    hint: "docs/sdk.md shows how to call it.",
  });
}

function shown(value: unknown): string {
  if (value === null || value === undefined) return String(value);
  if (value === "") return '""';
  return Array.isArray(value) ? "an array" : `a value of type ${typeof value}`;
}
