import { boundedSize } from "../../shared/protocol/index.ts";
import { parseTyped, type TypedCommand } from "./parse-typed.ts";

/** Sizes and places of what init keeps of a terminal; docs/init-protocol.md has the layout. */
const PAGE_BYTES = 4096;
const MARK = Buffer.from("waypoint-term-", "latin1");
/** A terminal of the first layout has no notes of what was typed. */
const LAYOUTS = ["1\0", "2\0"];
const AT = { id: 16, columns: 20, rows: 22, output: 24, typed: 56 } as const;
const RING_AT = { data: 0, sizeBytes: 8, start: 16, end: 24 } as const;
const HEAD_BYTES = 88;
/** No ring of a terminal is larger; more is no ring. */
const RING_BYTES_MAX = 16 * 1024 * 1024;
/** A session has one terminal, and one more for each that was ended just now. */
const TERMINALS_MAX = 16;
const UNKNOWN_WAY = "the first process keeps its terminals in an unknown way";

/** A part of a process's memory, which begins with a page. */
export interface MemoryPart {
  address: number;
  bytes: Buffer;
}

/** A terminal as its init had it in memory. */
export interface KeptTerminal {
  id: number;
  columns: number;
  rows: number;
  /** What was printed last. */
  output: Buffer;
  /** How much had been printed before that. */
  outputStart: number;
  /** What was typed into its shell; `null` where init does not note it. */
  typed: TypedCommand[] | null;
}

/**
 * Finds the terminals in the memory of a session's first process; none in that of an older init.
 *
 * @throws Error  what is found is not a terminal after all.
 */
export function findTerminals(memory: readonly MemoryPart[]): KeptTerminal[] {
  const found: KeptTerminal[] = [];
  for (const { bytes } of memory) {
    for (let at = 0; at + HEAD_BYTES <= bytes.length; at += PAGE_BYTES) {
      if (found.length === TERMINALS_MAX) return found;
      if (bytes.compare(MARK, 0, MARK.length, at, at + MARK.length) !== 0) continue;
      const layout = bytes.toString("latin1", at + MARK.length, at + AT.id);
      if (!LAYOUTS.includes(layout)) continue;
      found.push(readTerminal(bytes.subarray(at, at + HEAD_BYTES), memory, layout));
    }
  }
  return found;
}

function readTerminal(head: Buffer, memory: readonly MemoryPart[], layout: string): KeptTerminal {
  const output = readRing(head.subarray(AT.output), memory);
  if (output.sizeBytes === 0) throw new Error(UNKNOWN_WAY);
  const shownUntil = output.start + output.bytes.length;
  const isNoted = layout !== LAYOUTS[0];
  const notes = isNoted ? readRing(head.subarray(AT.typed), memory).bytes.toString("utf8") : "";
  return {
    id: head.readUInt32LE(AT.id),
    ...boundedSize({
      columns: head.readUInt16LE(AT.columns),
      rows: head.readUInt16LE(AT.rows),
    }),
    output: output.bytes,
    outputStart: output.start,
    typed: isNoted ? parseTyped(notes, shownUntil) : null,
  };
}

/** Returns what a ring holds, oldest first, and how much it has forgotten. */
function readRing(ring: Buffer, memory: readonly MemoryPart[]) {
  const sizeBytes = ring.readUInt32LE(RING_AT.sizeBytes);
  const [start, end] = [ring.readBigUInt64LE(RING_AT.start), ring.readBigUInt64LE(RING_AT.end)];
  const usedBytes = Number(end - start);
  if (sizeBytes > RING_BYTES_MAX || usedBytes < 0 || usedBytes > sizeBytes) {
    throw new Error(UNKNOWN_WAY);
  }
  if (sizeBytes === 0) return { sizeBytes, start: 0, bytes: Buffer.alloc(0) };
  const data = Number(ring.readBigUInt64LE(RING_AT.data));
  const from = Number(start % BigInt(sizeBytes));
  const firstBytes = Math.min(usedBytes, sizeBytes - from);
  const bytes = Buffer.concat([
    copyFrom(memory, data + from, firstBytes),
    copyFrom(memory, data, usedBytes - firstBytes),
  ]);
  return { sizeBytes, start: Number(start), bytes };
}

/** Pages that were never written are not in the images; they hold zeros. */
function copyFrom(memory: readonly MemoryPart[], address: number, sizeBytes: number): Buffer {
  const copy = Buffer.alloc(sizeBytes);
  for (const part of memory) {
    const from = Math.max(address, part.address);
    const until = Math.min(address + sizeBytes, part.address + part.bytes.length);
    if (from < until)
      part.bytes.copy(copy, from - address, from - part.address, until - part.address);
  }
  return copy;
}
