import type { RawPath } from "../../base/index.ts";
import type { PackageChange } from "../../shared/protocol/index.ts";

/** A package as one file tells of it. */
export interface FoundPackage {
  name: string;
  version: string;
  /** What it can be replaced by: another version of it in the same place. @defaultValue its name */
  key?: string;
  /** It came because another package needs it. */
  isDependency?: boolean;
}

/** Of what one package says of itself; so many bytes are read of several files at once. */
export const PACKAGE_BYTES_MAX = 1024 * 1024;
/** Of a list of a project's packages. As an object it takes twenty times that. */
export const LIST_BYTES_MAX = 8 * 1024 * 1024;

/** One file that tells which packages there are. */
export interface PackageFile {
  manager: PackageChange["manager"];
  /** The project or environment it belongs to; `null` for the system's. */
  environment: RawPath | null;
  /** Larger ones are not read; `0` where its path tells all. @defaultValue PACKAGE_BYTES_MAX */
  bytesMax?: number;
  /**
   * Returns the packages that its content tells of.
   *
   * @throws Error  what is wrong with it, in the words of a sentence's end.
   */
  list: (content: Buffer) => FoundPackage[];
  /** A lock file says what should be there: it counts where nothing says what is. */
  isDeclaration?: boolean;
}

/** Tells what kind of package file a path is, if any. */
export type PackageFileFinder = (rawPath: RawPath) => PackageFile | null;

/** Returns a text that should be JSON. @throws Error  it is none */
export function parseJson(content: Buffer): Record<string, unknown> {
  const parsed = asRecord(JSON.parse(content.toString("utf8")) as unknown);
  if (parsed === null) throw new Error("it holds no object");
  return parsed;
}

/** Returns a value that is an object, or `null`. */
export function asRecord(value: unknown): Record<string, unknown> | null {
  const isRecord = typeof value === "object" && value !== null && !Array.isArray(value);
  return isRecord ? (value as Record<string, unknown>) : null;
}

/** Returns a value that is a text with something in it, or `null`. */
export function asText(value: unknown): string | null {
  return typeof value === "string" && value !== "" ? value : null;
}
