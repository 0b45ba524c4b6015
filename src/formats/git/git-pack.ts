import { inflateSync } from "node:zlib";

const INDEX_MAGIC = 0xff744f63;
const FANOUT_BYTES = 256 * 4;
const INDEX_HEAD_BYTES = 8;
const HEADER_BYTES_MAX = 64;
/** Longer chains of differences are refused; git makes none. */
const DELTAS_MAX = 4096;
/** Differences and what they make, all together, for one object: commits are small. */
const CHAIN_BYTES_MAX = 64 * 1024 * 1024;
/** So much of an index is read at once. */
const NAMES_BYTES_MAX = 64 * 1024;
/** Twice what git needs for any object of this size that compresses badly. */
const CHUNK_BYTES_MIN = 4096;

/** Types that are stored as a difference from another object. */
const OFFSET_DELTA = 6;
const ID_DELTA = 7;
/** Type of an entry, as a name. */
const TYPES: readonly (string | undefined)[] = [undefined, "commit", "tree", "blob", "tag"];

/** What is read of in small parts. */
export interface PartlyRead {
  read(
    buffer: Buffer,
    offset: number,
    length: number,
    position: number,
  ): Promise<{ bytesRead: number }>;
  close(): Promise<void>;
}

/** An object out of a repository. */
export interface GitObject {
  type: string;
  content: Buffer;
}

/** What may still be read for one object, whatever other objects and packs it takes. */
export class ReadRoom {
  readonly objectBytesMax: number;
  #chainBytesLeft = CHAIN_BYTES_MAX;

  constructor(objectBytesMax: number) {
    this.objectBytesMax = objectBytesMax;
  }

  /** @throws Error  there is no room for one more of this size. */
  take(sizeBytes: number): void {
    if (sizeBytes > this.objectBytesMax) throw new Error("an object is too large");
    this.#chainBytesLeft -= sizeBytes;
    if (this.#chainBytesLeft < 0) throw new Error("an object is made of too many differences");
  }
}

/** One pack of objects with its index, read in small parts: packs can be huge. */
export class GitPack implements AsyncDisposable {
  readonly #index: PartlyRead;
  readonly #pack: PartlyRead;
  readonly #hashBytes: number;
  readonly #fanout: Buffer;

  /** @throws Error  its index is of an unknown kind. The files are its own from then on. */
  static async open(index: PartlyRead, pack: PartlyRead, hashBytes: number): Promise<GitPack> {
    const head = await readAt(index, 0, INDEX_HEAD_BYTES + FANOUT_BYTES);
    if (head.readUInt32BE(0) !== INDEX_MAGIC || head.readUInt32BE(4) !== 2) {
      throw new Error("a pack has an index of an unknown kind");
    }
    return new GitPack({ index, pack, hashBytes, fanout: head.subarray(INDEX_HEAD_BYTES) });
  }

  private constructor(parts: {
    index: PartlyRead;
    pack: PartlyRead;
    hashBytes: number;
    fanout: Buffer;
  }) {
    this.#index = parts.index;
    this.#pack = parts.pack;
    this.#hashBytes = parts.hashBytes;
    this.#fanout = parts.fanout;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await Promise.all([this.#index.close(), this.#pack.close()]);
  }

  /** Returns where an object begins in the pack, or `null`. */
  async find(id: Buffer): Promise<number | null> {
    const bucket = id[0] ?? 0;
    const first = bucket === 0 ? 0 : this.#fanout.readUInt32BE((bucket - 1) * 4);
    const count = this.#fanout.readUInt32BE(bucket * 4) - first;
    if (count <= 0) return null;
    const index = await this.#search(id, first, first + count);
    return index === null ? null : await this.#offsetOf(index);
  }

  /** @throws Error  it is damaged, or there is not enough room for it. */
  async read(
    offset: number,
    room: ReadRoom,
    readById: (id: string) => Promise<GitObject | null>,
  ): Promise<GitObject> {
    const deltas: Buffer[] = [];
    for (let at = offset; ; ) {
      const entry = await this.#readEntry(at, room);
      if (entry.baseOffset === null && entry.baseId === null) {
        return applyAll({ type: entry.type, content: entry.content }, deltas, room);
      }
      deltas.push(entry.content);
      if (deltas.length > DELTAS_MAX) throw new Error("an object is made of too many differences");
      if (entry.baseId !== null) {
        const base = await readById(entry.baseId);
        if (base === null) throw new Error("an object lacks what it differs from");
        return applyAll(base, deltas, room);
      }
      at = entry.baseOffset ?? 0;
    }
  }

  /** Halves what may hold the name until it is short enough to be read: an index can be huge. */
  async #search(id: Buffer, first: number, end: number): Promise<number | null> {
    const readNames = (from: number, count: number) => {
      const at = INDEX_HEAD_BYTES + FANOUT_BYTES + from * this.#hashBytes;
      return readAt(this.#index, at, count * this.#hashBytes);
    };
    let [low, high] = [first, end];
    while ((high - low) * this.#hashBytes > NAMES_BYTES_MAX) {
      const middle = Math.floor((low + high) / 2);
      const name = await readNames(middle, 1);
      if (name.length < this.#hashBytes) throw new Error("the index of a pack is damaged");
      if (name.compare(id) <= 0) low = middle;
      else high = middle;
    }
    const index = search(await readNames(low, high - low), id);
    return index === null ? null : low + index;
  }

  async #offsetOf(index: number): Promise<number> {
    const total = this.#fanout.readUInt32BE(255 * 4);
    const offsetsAt = INDEX_HEAD_BYTES + FANOUT_BYTES + total * (this.#hashBytes + 4);
    const small = (await readAt(this.#index, offsetsAt + index * 4, 4)).readUInt32BE(0);
    if (small < 0x80000000) return small;
    const largeAt = offsetsAt + total * 4 + (small - 0x80000000) * 8;
    return Number((await readAt(this.#index, largeAt, 8)).readBigUInt64BE(0));
  }

  async #readEntry(offset: number, room: ReadRoom) {
    const header = await readAt(this.#pack, offset, HEADER_BYTES_MAX);
    let [at, byte] = [1, header[0] ?? 0];
    const kind = (byte >> 4) & 7;
    let sizeBytes = byte & 15;
    for (let scale = 16; byte & 0x80; scale *= 128) {
      byte = header[at++] ?? 0;
      sizeBytes += (byte & 0x7f) * scale;
    }
    room.take(sizeBytes);
    let [baseOffset, baseId]: [number | null, string | null] = [null, null];
    if (kind === OFFSET_DELTA) {
      byte = header[at++] ?? 0;
      let back = byte & 0x7f;
      while (byte & 0x80) {
        byte = header[at++] ?? 0;
        back = (back + 1) * 128 + (byte & 0x7f);
      }
      baseOffset = offset - back;
      if (back <= 0 || baseOffset < 0) throw new Error("an object differs from itself");
    } else if (kind === ID_DELTA) {
      baseId = header.subarray(at, at + this.#hashBytes).toString("hex");
      at += this.#hashBytes;
    }
    const type = TYPES[kind] ?? "";
    if (type === "" && baseOffset === null && baseId === null) throw new Error("a pack is damaged");
    return { type, baseOffset, baseId, content: await this.#inflate(offset + at, sizeBytes) };
  }

  /** How long the compressed bytes are is known only when they have been taken apart. */
  async #inflate(offset: number, sizeBytes: number): Promise<Buffer> {
    for (let chunkBytes = CHUNK_BYTES_MIN + sizeBytes; ; chunkBytes *= 2) {
      const chunk = await readAt(this.#pack, offset, chunkBytes);
      try {
        return inflateSync(chunk, { maxOutputLength: sizeBytes + 1 });
      } catch (error) {
        if (chunk.length < chunkBytes || chunkBytes > 4 * (CHUNK_BYTES_MIN + sizeBytes)) {
          throw new Error("a pack is damaged", { cause: error });
        }
      }
    }
  }
}

/** Takes the differences away one by one, so that none is kept longer than it is needed. */
function applyAll(base: GitObject, deltas: Buffer[], room: ReadRoom): GitObject {
  let { content } = base;
  for (let delta = deltas.pop(); delta !== undefined; delta = deltas.pop()) {
    content = applyDelta(content, delta, room);
  }
  return { type: base.type, content };
}

function applyDelta(base: Buffer, delta: Buffer, room: ReadRoom): Buffer {
  let at = 0;
  const varint = () => {
    let value = 0;
    for (let scale = 1; ; scale *= 128) {
      const byte = delta[at++] ?? 0;
      value += (byte & 0x7f) * scale;
      if ((byte & 0x80) === 0) return value;
    }
  };
  varint(); // the size of what it differs from
  const sizeBytes = varint();
  room.take(sizeBytes);
  const content = Buffer.alloc(sizeBytes);
  let made = 0;
  while (at < delta.length) {
    const code = delta[at++] ?? 0;
    if (code === 0) throw new Error("a pack is damaged");
    let [source, from, count] = [delta, at, code];
    if (code & 0x80) {
      [source, from, count] = [base, 0, 0];
      for (let bit = 0; bit < 4; bit++)
        if (code & (1 << bit)) from += (delta[at++] ?? 0) * 256 ** bit;
      for (let bit = 0; bit < 3; bit++) {
        if (code & (16 << bit)) count += (delta[at++] ?? 0) * 256 ** bit;
      }
      count ||= 0x10000;
    } else {
      at += count;
    }
    const copied = source.copy(content, made, from, from + count);
    if (copied < count) throw new Error("a pack is damaged");
    made += count;
  }
  if (made < sizeBytes) throw new Error("a pack is damaged");
  return content;
}

function search(names: Buffer, id: Buffer): number | null {
  let [low, high] = [0, Math.floor(names.length / id.length)];
  while (low < high) {
    const middle = Math.floor((low + high) / 2);
    const order = names.compare(id, 0, id.length, middle * id.length, (middle + 1) * id.length);
    if (order === 0) return middle;
    if (order < 0) low = middle + 1;
    else high = middle;
  }
  return null;
}

/** Returns the bytes at an offset; fewer at the end of the file. */
async function readAt(file: PartlyRead, offset: number, sizeBytes: number): Promise<Buffer> {
  const bytes = Buffer.alloc(sizeBytes);
  const { bytesRead } = await file.read(bytes, 0, sizeBytes, offset);
  return bytes.subarray(0, bytesRead);
}
