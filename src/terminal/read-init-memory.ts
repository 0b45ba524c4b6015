/** Sizes and places of what init keeps of a terminal; docs/init-protocol.md has the layout. */
const PAGE_BYTES = 4096;
const MARK = Buffer.from("waypoint-term-1\0", "latin1");
const AT = { id: 16, columns: 20, rows: 22, data: 24, sizeBytes: 32, start: 40, end: 48 } as const;
const HEAD_BYTES = 56;
/** No ring of a terminal is larger; more is no ring. */
const RING_BYTES_MAX = 16 * 1024 * 1024;

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
  /** Whether more had been printed before. */
  isCut: boolean;
}

/**
 * Finds the terminals in the memory of a session's first process; none in that of an older init.
 *
 * @throws Error  what is found is not a terminal after all.
 */
export function findTerminals(memory: readonly MemoryPart[]): KeptTerminal[] {
  return memory.flatMap(({ bytes }) => {
    const found: KeptTerminal[] = [];
    for (let at = 0; at + HEAD_BYTES <= bytes.length; at += PAGE_BYTES) {
      if (bytes.compare(MARK, 0, MARK.length, at, at + MARK.length) !== 0) continue;
      found.push(readTerminal(bytes.subarray(at, at + HEAD_BYTES), memory));
    }
    return found;
  });
}

function readTerminal(head: Buffer, memory: readonly MemoryPart[]): KeptTerminal {
  const sizeBytes = head.readUInt32LE(AT.sizeBytes);
  const [start, end] = [head.readBigUInt64LE(AT.start), head.readBigUInt64LE(AT.end)];
  const usedBytes = Number(end - start);
  if (sizeBytes === 0 || sizeBytes > RING_BYTES_MAX || usedBytes < 0 || usedBytes > sizeBytes) {
    throw new Error("the first process keeps its terminals in an unknown way");
  }
  const data = Number(head.readBigUInt64LE(AT.data));
  const from = Number(start % BigInt(sizeBytes));
  const firstBytes = Math.min(usedBytes, sizeBytes - from);
  return {
    id: head.readUInt32LE(AT.id),
    columns: head.readUInt16LE(AT.columns),
    rows: head.readUInt16LE(AT.rows),
    output: Buffer.concat([
      copyFrom(memory, data + from, firstBytes),
      copyFrom(memory, data, usedBytes - firstBytes),
    ]),
    isCut: start > 0n,
  };
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
