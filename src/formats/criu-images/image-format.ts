/**
 * Reader of CRIU's image files, and writer of single fields: two magic numbers, then entries of a 32-bit length and a protobuf
 * message each. The few fields we need are read from the wire format itself; the field numbers
 * are those of CRIU's `images/*.proto`, which are never renumbered.
 */

/** First word of an image (v1.1), and of a service file such as `stats-dump`. */
const COMMON_MAGIC = 0x54564319;
const SERVICE_MAGIC = 0x55105940;

const HEADER_BYTES = 8;

/** Second word: what the file holds. */
export const IMAGE_MAGIC = {
  pstree: 0x50273030,
  core: 0x55053847,
  files: 0x56303138,
  ids: 0x54432030,
  fdinfo: 0x56213732,
  fs: 0x51403912,
  mm: 0x57492820,
  pagemap: 0x56084025,
  tcpStream: 0x51465506,
  ttyInfo: 0x59453036,
  skQueues: 0x56264026,
  remapFpath: 0x59133954,
  ghostFile: 0x52583605,
  fileLocks: 0x54323616,
  stats: 0x57093306,
} as const;

/** Fields of one message: number → values, as varint or as bytes. */
export type WireMessage = ReadonlyMap<number, readonly (bigint | Buffer)[]>;

/**
 * Returns the messages of an image file.
 *
 * @param dataBytes  how many bytes of other data lie behind a message, none by default
 * @throws Error  the file is not an image of this kind, or ends within an entry.
 */
export function readImageEntries(
  file: Buffer,
  kind: keyof typeof IMAGE_MAGIC,
  dataBytes: (message: WireMessage) => number = () => 0,
): WireMessage[] {
  checkMagic(file, kind);
  const entries: WireMessage[] = [];
  for (let offset = HEADER_BYTES; offset < file.length; ) {
    const entry = readEntryAt(file, offset, kind);
    entries.push(entry.message);
    offset = entry.next + dataBytes(entry.message);
  }
  return entries;
}

/**
 * Returns the first message of an image file, whose beginning is enough; other data may follow.
 *
 * @throws Error  the file is not an image of this kind, or ends within that entry.
 */
export function readFirstImageEntry(head: Buffer, kind: keyof typeof IMAGE_MAGIC): WireMessage {
  checkMagic(head, kind);
  return readEntryAt(head, HEADER_BYTES, kind).message;
}

/** Returns an integer field as a number, 0 where it is absent. */
export function numberField(message: WireMessage, field: number): number {
  const value = message.get(field)?.[0];
  return typeof value === "bigint" ? Number(value) : 0;
}

/** Returns all values of a repeated integer field, one by one or packed. */
export function numberFields(message: WireMessage, field: number): number[] {
  return (message.get(field) ?? []).flatMap((value) => {
    if (typeof value === "bigint") return [Number(value)];
    const numbers: number[] = [];
    for (let offset = 0; offset < value.length; ) {
      const number = readVarint(value, offset);
      numbers.push(Number(number.value));
      offset = number.next;
    }
    return numbers;
  });
}

/** Returns a string field, or undefined where it is absent. */
export function stringField(message: WireMessage, field: number): string | undefined {
  const value = message.get(field)?.[0];
  return Buffer.isBuffer(value) ? value.toString("utf8") : undefined;
}

/** Returns a field of bytes, or undefined where it is absent. */
export function bytesField(message: WireMessage, field: number): Buffer | undefined {
  const value = message.get(field)?.[0];
  return Buffer.isBuffer(value) ? value : undefined;
}

/** Returns all values of a repeated field of bytes. */
export function bytesFields(message: WireMessage, field: number): Buffer[] {
  return (message.get(field) ?? []).filter(Buffer.isBuffer);
}

/** Returns all embedded messages of a repeated field. */
export function messageFields(message: WireMessage, field: number): WireMessage[] {
  return bytesFields(message, field).map(readMessage);
}

/** Returns an embedded message, or undefined where it is absent. */
export function messageField(message: WireMessage, field: number): WireMessage | undefined {
  const value = message.get(field)?.[0];
  return Buffer.isBuffer(value) ? readMessage(value) : undefined;
}

/** New values of fields; no value takes a field away. */
export type FieldValues = readonly (readonly [
  field: number,
  values: readonly (number | Buffer)[],
])[];

/**
 * Returns the file with fields of its messages set anew; all else stays as it was written.
 *
 * @param choose  returns the new values, or undefined to leave that message as it is
 */
export function withImageFields(
  file: Buffer,
  kind: keyof typeof IMAGE_MAGIC,
  choose: (message: WireMessage) => FieldValues | undefined,
): Buffer {
  checkMagic(file, kind);
  const parts = [file.subarray(0, HEADER_BYTES)];
  for (let offset = HEADER_BYTES; offset < file.length; ) {
    const { message, next } = readEntryAt(file, offset, kind);
    const values = choose(message);
    if (values === undefined) parts.push(file.subarray(offset, next));
    else {
      const body = withFields(file.subarray(offset + 4, next), values);
      const length = Buffer.alloc(4);
      length.writeUInt32LE(body.length);
      parts.push(length, body);
    }
    offset = next;
  }
  return Buffer.concat(parts);
}

/** Returns the file with those messages last that are chosen; each part keeps its order. */
export function withEntriesLast(
  file: Buffer,
  kind: keyof typeof IMAGE_MAGIC,
  isChosen: (message: WireMessage) => boolean,
): Buffer {
  checkMagic(file, kind);
  const first: Buffer[] = [];
  const last: Buffer[] = [];
  for (let offset = HEADER_BYTES; offset < file.length; ) {
    const { message, next } = readEntryAt(file, offset, kind);
    (isChosen(message) ? last : first).push(file.subarray(offset, next));
    offset = next;
  }
  return Buffer.concat([file.subarray(0, HEADER_BYTES), ...first, ...last]);
}

/** Returns a message with fields in a new place, the end. */
export function withFields(message: Buffer, values: FieldValues): Buffer {
  const replaced = new Set(values.map(([field]) => field));
  const parts: Buffer[] = [];
  for (let offset = 0; offset < message.length; ) {
    const tag = readVarint(message, offset);
    const { next } = readField(message, tag.next, Number(tag.value & 7n));
    if (!replaced.has(Number(tag.value >> 3n))) parts.push(message.subarray(offset, next));
    offset = next;
  }
  for (const [field, each] of values) parts.push(...each.map((value) => toField(field, value)));
  return Buffer.concat(parts);
}

function toField(field: number, value: number | Buffer): Buffer {
  if (typeof value === "number") return Buffer.concat([toVarint(field << 3), toVarint(value)]);
  return Buffer.concat([toVarint((field << 3) | 2), toVarint(value.length), value]);
}

function checkMagic(file: Buffer, kind: keyof typeof IMAGE_MAGIC): void {
  const first = file.length >= HEADER_BYTES ? file.readUInt32LE(0) : 0;
  const isImage = first === COMMON_MAGIC || first === SERVICE_MAGIC;
  if (isImage && file.readUInt32LE(4) === IMAGE_MAGIC[kind]) return;
  throw new Error(`this is not a CRIU ${kind} image`);
}

function readEntryAt(
  file: Buffer,
  offset: number,
  kind: string,
): { message: WireMessage; next: number } {
  const start = offset + 4;
  const end = start <= file.length ? start + file.readUInt32LE(offset) : start;
  if (end > file.length) throw new Error(`the CRIU ${kind} image is cut off`);
  return { message: readMessage(file.subarray(start, end)), next: end };
}

function readMessage(bytes: Buffer): WireMessage {
  const fields = new Map<number, (bigint | Buffer)[]>();
  for (let offset = 0; offset < bytes.length; ) {
    const tag = readVarint(bytes, offset);
    const field = readField(bytes, tag.next, Number(tag.value & 7n));
    const number = Number(tag.value >> 3n);
    fields.set(number, [...(fields.get(number) ?? []), field.value]);
    offset = field.next;
  }
  return fields;
}

function readField(
  bytes: Buffer,
  offset: number,
  wireType: number,
): { value: bigint | Buffer; next: number } {
  if (wireType === 0) return readVarint(bytes, offset);
  if (wireType === 1) return { value: readSlice(bytes, offset, 8), next: offset + 8 };
  if (wireType === 5) return { value: readSlice(bytes, offset, 4), next: offset + 4 };
  if (wireType !== 2) throw new Error(`unknown protobuf wire type ${wireType}`);
  const length = readVarint(bytes, offset);
  const sizeBytes = Number(length.value);
  return { value: readSlice(bytes, length.next, sizeBytes), next: length.next + sizeBytes };
}

function readSlice(bytes: Buffer, offset: number, sizeBytes: number): Buffer {
  if (offset + sizeBytes > bytes.length) throw new Error("a protobuf field is cut off");
  return bytes.subarray(offset, offset + sizeBytes);
}

function readVarint(bytes: Buffer, offset: number): { value: bigint; next: number } {
  let value = 0n;
  for (let index = 0; index < 10; index++) {
    const byte = bytes[offset + index];
    if (byte === undefined) throw new Error("a protobuf number is cut off");
    value |= BigInt(byte & 0x7f) << BigInt(7 * index);
    if (byte < 0x80) return { value, next: offset + index + 1 };
  }
  throw new Error("a protobuf number is too long");
}

function toVarint(value: number): Buffer {
  const bytes: number[] = [];
  let left = BigInt(value);
  for (; left >= 0x80n; left >>= 7n) bytes.push(Number(left & 0x7fn) | 0x80);
  return Buffer.from([...bytes, Number(left)]);
}
