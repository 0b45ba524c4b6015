import { type FileHandle, open } from "node:fs/promises";

const ELF_MAGIC = 0x464c457f;
const CLASS_64 = 2;
const LITTLE_ENDIAN = 1;
const HEADER_BYTES = 64;
const PROGRAM_HEADER_BYTES = 56;
const SECTION_HEADER_BYTES = 64;
const SYMBOL_BYTES = 24;
const PT_LOAD = 1;
const SHT_DYNSYM = 11;
/** Shells have some thousand symbols. */
const TABLE_BYTES_MAX = 16 * 1024 * 1024;

/**
 * Returns where a program has the symbols that it shows to libraries and modules, by name, counted
 * from the beginning of its file in memory. Those that it does not define are missing.
 *
 * @throws Error  the file is no 64-bit program of this kind of machine.
 */
export async function readSymbols(
  programPath: string | Buffer,
  names: readonly string[],
): Promise<Map<string, number>> {
  await using file = await open(programPath);
  const header = await readBytes(file, 0, HEADER_BYTES);
  const isKnown =
    header.readUInt32LE(0) === ELF_MAGIC && header[4] === CLASS_64 && header[5] === LITTLE_ENDIAN;
  if (!isKnown) throw new Error("the shell is no 64-bit program");
  const firstAddress = await readFirstAddress(file, header);
  const sections = await readTable(file, {
    offset: Number(header.readBigUInt64LE(40)),
    count: header.readUInt16LE(60),
    entryBytes: SECTION_HEADER_BYTES,
  });
  const table = sections.find((section) => section.readUInt32LE(4) === SHT_DYNSYM);
  const strings = table === undefined ? undefined : sections[table.readUInt32LE(40)];
  if (table === undefined || strings === undefined) return new Map();
  const symbols = await readSection(file, table);
  const texts = await readSection(file, strings);
  const wanted = new Set(names);
  const found = new Map<string, number>();
  for (let at = 0; at + SYMBOL_BYTES <= symbols.length; at += SYMBOL_BYTES) {
    const address = Number(symbols.readBigUInt64LE(at + 8));
    const start = symbols.readUInt32LE(at);
    const name = texts.toString("latin1", start, texts.indexOf(0, start));
    if (address !== 0 && wanted.has(name)) found.set(name, address - firstAddress);
  }
  return found;
}

/** Returns the address for which the beginning of the file was linked. */
async function readFirstAddress(file: FileHandle, header: Buffer): Promise<number> {
  const headers = await readTable(file, {
    offset: Number(header.readBigUInt64LE(32)),
    count: header.readUInt16LE(56),
    entryBytes: PROGRAM_HEADER_BYTES,
  });
  const first = headers.find(
    (each) => each.readUInt32LE(0) === PT_LOAD && each.readBigUInt64LE(8) === 0n,
  );
  if (first === undefined) throw new Error("the shell's program has no beginning in memory");
  return Number(first.readBigUInt64LE(16));
}

async function readTable(
  file: FileHandle,
  { offset, count, entryBytes }: { offset: number; count: number; entryBytes: number },
): Promise<Buffer[]> {
  const bytes = await readBytes(file, offset, count * entryBytes);
  return Array.from({ length: count }, (_, index) =>
    bytes.subarray(index * entryBytes, (index + 1) * entryBytes),
  );
}

function readSection(file: FileHandle, section: Buffer): Promise<Buffer> {
  return readBytes(file, Number(section.readBigUInt64LE(24)), Number(section.readBigUInt64LE(32)));
}

async function readBytes(file: FileHandle, offset: number, sizeBytes: number): Promise<Buffer> {
  if (sizeBytes > TABLE_BYTES_MAX) throw new Error("the shell's program has a table too large");
  const bytes = Buffer.alloc(sizeBytes);
  const { bytesRead } = await file.read(bytes, 0, sizeBytes, offset);
  if (bytesRead < sizeBytes) throw new Error("the shell's program is cut off");
  return bytes;
}
