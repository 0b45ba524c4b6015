import { closeSync, constants, fstatSync, openSync, readSync } from "node:fs";
import { WaypointError } from "../../shared/errors/index.ts";

/** What the contract takes of a policy's text. */
export const POLICY_BYTES_MAX = 64 * 1024;

/**
 * Returns a policy's text as the daemon takes it: `off`, `default`, JSON as it is, or what the file of
 * that name has, which is read here, on the host, when it is chosen.
 *
 * @throws USAGE_INVALID  it is no ordinary file, too long, not UTF-8 or cannot be read.
 */
export function policyText(given: string): string {
  const isText = given === "off" || given === "default" || given.trimStart().startsWith("{");
  return isText ? given : readPolicyFile(given);
}

function readPolicyFile(file: string): string {
  let descriptor: number;
  try {
    // A pipe without a writer would be waited for.
    descriptor = openSync(file, constants.O_RDONLY | constants.O_NONBLOCK);
  } catch (error) {
    throw invalid(`The policy ${file} cannot be read: ${(error as Error).message}.`, error);
  }
  try {
    if (!fstatSync(descriptor).isFile()) throw invalid(`The policy ${file} is no file.`);
    // What /proc has says nothing of its size.
    const bytes = Buffer.alloc(POLICY_BYTES_MAX + 1);
    const length = readSync(descriptor, bytes, 0, bytes.length, 0);
    if (length > POLICY_BYTES_MAX) {
      throw invalid(`The policy ${file} has more than ${POLICY_BYTES_MAX / 1024} KiB.`);
    }
    return decode(file, bytes.subarray(0, length));
  } finally {
    closeSync(descriptor);
  }
}

function decode(file: string, bytes: Uint8Array): string {
  try {
    return new TextDecoder("utf-8", { fatal: true }).decode(bytes);
  } catch (error) {
    throw invalid(`The policy ${file} is not UTF-8.`, error);
  }
}

function invalid(message: string, cause?: unknown): WaypointError {
  return new WaypointError("USAGE_INVALID", message, {
    hint: "It is off, default, or a file of JSON: docs/approvals.md shows one.",
    ...(cause === undefined ? {} : { cause }),
  });
}
