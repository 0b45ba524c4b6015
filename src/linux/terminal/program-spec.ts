import { WaypointError } from "../../shared/errors/index.ts";
import { encodeNumbers, PAYLOAD_BYTES_MAX } from "./frames.ts";

/** A program to start in a session; nothing is inherited from init. */
export interface ProgramSpec {
  /** Program and arguments; the program is looked up in `env.PATH` when it has no slash. */
  argv: string[];
  env: Record<string, string>;
  cwd: string;
  uid: number;
  gid: number;
  /** Supplementary groups. */
  groups: number[];
}

/** Room for what some requests put before the program. */
const PREFIX_BYTES_MAX = 16;

/**
 * Returns the wire form of a program.
 *
 * @throws USAGE_INVALID  it has no argument, contains a NUL, or is larger than a frame.
 */
export function encodeProgram(spec: ProgramSpec): Buffer {
  const variables = Object.entries(spec.env).map(([name, value]) => `${name}=${value}`);
  const strings = [spec.cwd, ...spec.argv, ...variables];
  if (spec.argv.length === 0)
    throw new WaypointError("USAGE_INVALID", "A program needs an argument vector.");
  if (strings.some((text) => text.includes("\0"))) {
    throw new WaypointError(
      "USAGE_INVALID",
      "Arguments and environment of a program cannot contain NUL.",
    );
  }
  const bytes = Buffer.concat([
    encodeNumbers(
      spec.uid,
      spec.gid,
      spec.groups.length,
      spec.argv.length,
      variables.length,
      ...spec.groups,
    ),
    ...strings.map((text) => Buffer.from(`${text}\0`)),
  ]);
  if (bytes.length + PREFIX_BYTES_MAX > PAYLOAD_BYTES_MAX) {
    throw new WaypointError(
      "USAGE_INVALID",
      "Arguments and environment of a program exceed 64 KiB.",
      {
        detail: { sizeBytes: bytes.length },
      },
    );
  }
  return bytes;
}
