import type { Marked } from "./revive-value.ts";

/** The type of a value with long texts, for the serializer that reads it. */
export const TEXTS_TYPE = "texts";
/** Shorter ones stand in the JSON. */
const LONG_CHARS_MIN = 1024;
/** Of a length. */
const COUNT_BYTES = 4;

/**
 * The long texts of a value. They stand as they are in front of its JSON, which names them: JSON looks
 * at each character of a text, which takes longer than all else; and a text that stands in two values
 * is the same bytes in both.
 *
 * Behind the JSON: the length of each text, of the JSON, and how many texts there are, in 32 bits each.
 */
export class LongTexts {
  readonly #texts: string[] = [];

  get count(): number {
    return this.#texts.length;
  }

  /** Returns what stands for the text in JSON; null where it stands there itself. */
  take(text: string): Marked | null {
    // Half a surrogate is no UTF-8.
    if (text.length < LONG_CHARS_MIN || !text.isWellFormed()) return null;
    return { lc: 2, type: "text", n: this.#texts.push(text) - 1 };
  }

  /** Returns the texts, and the JSON that names them. */
  before(json: string): Buffer {
    const texts = [...this.#texts, json];
    const lengths = texts.map((text) => Buffer.byteLength(text));
    const end = lengths.reduce((sum, length) => sum + length, 0);
    const bytes = Buffer.allocUnsafe(end + (lengths.length + 1) * COUNT_BYTES);
    let at = 0;
    for (const text of texts) at += bytes.write(text, at);
    for (const length of [...lengths, this.count]) at = bytes.writeUInt32LE(length, at);
    return bytes;
  }
}

/**
 * Returns where the texts of such a value end, in their order.
 *
 * @throws Error  it is damaged.
 */
export function textEnds(bytes: Uint8Array): number[] {
  const table = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length);
  const count = table.length < COUNT_BYTES ? 0 : table.readUInt32LE(table.length - COUNT_BYTES);
  const tableAt = table.length - (count + 2) * COUNT_BYTES;
  if (tableAt < 0) throw damagedTexts();
  const ends: number[] = [];
  let end = 0;
  for (let index = 0; index <= count; index += 1) {
    end += table.readUInt32LE(tableAt + index * COUNT_BYTES);
    ends.push(end);
  }
  // The last one is that of the JSON.
  if (ends.pop() !== tableAt) throw damagedTexts();
  return ends;
}

/**
 * Reads such a value, with each text in its place.
 *
 * @throws Error  it is damaged.
 */
export function readTexts(bytes: Buffer): unknown {
  const ends = textEnds(bytes);
  const jsonAt = ends.at(-1) ?? 0;
  const jsonEnd = bytes.length - (ends.length + 2) * COUNT_BYTES;
  const top: Record<string, unknown> = { "": JSON.parse(bytes.toString("utf8", jsonAt, jsonEnd)) };
  const isTaken = new Set<unknown>();
  const take = (index: unknown): string => {
    const end = typeof index === "number" ? ends[index] : undefined;
    // Each is named once: a value does not become larger than its bytes.
    if (end === undefined || isTaken.has(index)) throw damagedTexts();
    isTaken.add(index);
    return bytes.toString("utf8", ends[Number(index) - 1] ?? 0, end);
  };
  const holders: Record<string, unknown>[] = [top];
  for (let holder = holders.pop(); holder !== undefined; holder = holders.pop()) {
    for (const key of Object.keys(holder)) {
      const value = holder[key];
      if (typeof value !== "object" || value === null) continue;
      const { lc, type, n } = value as Partial<Marked>;
      if (lc === 2 && type === "text") holder[key] = take(n);
      else holders.push(value as Record<string, unknown>);
    }
  }
  return top[""];
}

function damagedTexts(): Error {
  return new Error("The texts of a value are damaged.");
}
