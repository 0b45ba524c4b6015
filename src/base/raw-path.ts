import path from "node:path";

/**
 * A path whose every byte is one character ("latin1"): names are bytes, and stay exact this way as
 * keys and in comparisons.
 */
export type RawPath = string;

/** Returns a path in the text that people and programs write. */
export function toText(rawPath: RawPath): string {
  return toBytes(rawPath).toString("utf8");
}

/** Returns the bytes of a path in base64 where its text does not tell them, else nothing. */
export function toBase64(rawPath: RawPath): string | undefined {
  const bytes = toBytes(rawPath);
  return Buffer.from(bytes.toString("utf8"), "utf8").equals(bytes)
    ? undefined
    : bytes.toString("base64");
}

/** Returns the exact path of a text, which is UTF-8. */
export function fromText(text: string): RawPath {
  return Buffer.from(text, "utf8").toString("latin1");
}

/** Returns a path as the functions of node:fs take it. */
export function toBytes(rawPath: RawPath): Buffer {
  return Buffer.from(rawPath, "latin1");
}

/** Joins a directory of the session and a name in it. */
export function joinRaw(directory: RawPath, name: RawPath): RawPath {
  return directory === "/" ? `/${name}` : `${directory}/${name}`;
}

/** Tells whether a path is a directory or lies below it. */
export function isAtOrBelow(rawPath: RawPath, directory: RawPath): boolean {
  return (
    rawPath === directory || rawPath.startsWith(directory === "/" ? directory : `${directory}/`)
  );
}

/** Returns a path that a person typed: absolute, without dots and doubled or trailing slashes. */
export function normalText(text: string): RawPath {
  const whole = path.posix.resolve("/", text);
  return fromText(whole);
}
