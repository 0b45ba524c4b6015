/** A larger file is not merged line by line. */
export const TEXT_BYTES_MAX = 2 * 1024 * 1024;
/** How much of a file is looked at to tell text from other content, as git does it. */
const PROBE_BYTES = 8000;

/** Tells whether content is text as git sees it. */
export function isText(bytes: Buffer): boolean {
  return bytes.length <= TEXT_BYTES_MAX && !bytes.subarray(0, PROBE_BYTES).includes(0);
}
