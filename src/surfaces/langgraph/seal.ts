import {
  createCipheriv,
  createDecipheriv,
  createHash,
  createHmac,
  hash,
  randomBytes,
} from "node:crypto";
import * as zlib from "node:zlib";
import { WaypointError } from "../../shared/errors/index.ts";

/** How to encrypt what is kept: AES-256-GCM. */
export interface EncryptionOptions {
  /** 32 bytes. */
  key: Uint8Array;
  /** Keys of before, with which older records are read; null admits those without encryption. */
  previousKeys?: readonly (Uint8Array | null)[];
}

const KEY_BYTES = 32;
const KEY_ID_BYTES = 4;
const IV_BYTES = 12;
const TAG_BYTES = 16;
/** Shorter ones gain less than it takes. */
const COMPRESSED_BYTES_MIN = 2048;
/** Compressed, a sample is so much of itself at most. */
const SHORTER = 0.67;
/** What a record may become when it is inflated: writers close 64 KiB at most. */
const INFLATED_BYTES_MAX = 1024 * 1024;
/** Of the hash by which a record that is not encrypted is known to be whole, and in its place. */
const SUM_BYTES = 8;

/** The first byte of what is kept. */
const PLAIN = 0;
const DEFLATED = 1;
const ZSTD = 2;
const ENCRYPTED_FLAG = 0x10;
const SUMMED_FLAG = 0x20;

interface Compressed {
  form: number;
  bytes: Uint8Array;
}

interface Key {
  id: Buffer;
  key: Uint8Array;
}

/** Compresses, and encrypts where a key was given. */
export class Seal {
  readonly #keys: readonly Key[];
  readonly #isPlainRead: boolean;

  /** @throws USAGE_INVALID  a key has not 32 bytes. */
  constructor(encryption?: EncryptionOptions) {
    const all = encryption === undefined ? [null] : [encryption.key, ...previous(encryption)];
    const keys = all.filter((key) => key !== null);
    this.#isPlainRead = keys.length < all.length;
    if (keys.some((key) => key.length !== KEY_BYTES)) {
      throw new WaypointError("USAGE_INVALID", `A key has to have ${KEY_BYTES} bytes.`);
    }
    this.#keys = keys.map((key) => ({ id: keyIdOf(key), key: Uint8Array.from(key) }));
  }

  /** Names content: where it is encrypted, nobody without the key can tell what it would be. */
  idOf(content: Uint8Array): string {
    const key = this.#keys[0]?.key;
    if (key === undefined) return hash("sha256", content, "base64url");
    return createHmac("sha256", key).update(content).digest("base64url");
  }

  /** @param place  where it will stand: it is read there, and nowhere else */
  close(content: Uint8Array, place: string): Uint8Array {
    const { form, bytes } = compress(content);
    const key = this.#keys[0];
    if (key === undefined) {
      return Buffer.concat([Buffer.of(form | SUMMED_FLAG), sumOf(form, bytes, place), bytes]);
    }
    return this.#encrypt(key, { form, bytes }, place);
  }

  /**
   * Closes content whose name is its hash: that says whether it is whole.
   *
   * @param isCompressed  false leaves it as long as it is
   */
  closeContent(content: Uint8Array, place: string, isCompressed = true): Uint8Array {
    const { form, bytes } = isCompressed ? compress(content) : { form: PLAIN, bytes: content };
    const key = this.#keys[0];
    if (key === undefined) return Buffer.concat([Buffer.of(form), bytes]);
    return this.#encrypt(key, { form, bytes }, place);
  }

  /** Tells whether compressing takes away as much as it has to. */
  shortens(sample: Uint8Array): boolean {
    return compress(sample).bytes.length < sample.length * SHORTER;
  }

  #encrypt(key: Key, { form, bytes }: Compressed, place: string): Uint8Array {
    const iv = randomBytes(IV_BYTES);
    const cipher = createCipheriv("aes-256-gcm", key.key, iv);
    const head = Buffer.of(form | ENCRYPTED_FLAG);
    cipher.setAAD(Buffer.concat([head, Buffer.from(place)]));
    const closed = Buffer.concat([cipher.update(bytes), cipher.final()]);
    return Buffer.concat([head, key.id, iv, cipher.getAuthTag(), closed]);
  }

  /**
   * @throws STORE_KEY_MISSING  it is encrypted with a key that is not among those given.
   * @throws STORE_FAILED  it is not what was kept there.
   * @throws FORMAT_TOO_NEW  this Node or this Waypoint does not know its form.
   */
  open(kept: Uint8Array, place: string): Buffer {
    const { form, body } = partsOf(kept, place);
    if ((form & ENCRYPTED_FLAG) !== 0) return this.#openEncrypted(form, body, place);
    this.#requirePlainRead();
    const bytes = body.subarray(SUM_BYTES);
    const plainForm = form & ~SUMMED_FLAG;
    const sum = sumOf(plainForm, bytes, place);
    if ((form & SUMMED_FLAG) === 0 || !sum.equals(body.subarray(0, SUM_BYTES)))
      throw damaged(place);
    return inflate(plainForm, bytes, place);
  }

  /** Opens content and compares it with its name; what is encrypted is authentic already. */
  openContent(kept: Uint8Array, place: string, id: string): Buffer {
    const { form, body } = partsOf(kept, place);
    if ((form & ENCRYPTED_FLAG) !== 0) return this.#openEncrypted(form, body, place);
    this.#requirePlainRead();
    const content = inflate(form, body, place);
    if (hash("sha256", content, "base64url") !== id) throw damaged(place);
    return content;
  }

  #openEncrypted(form: number, body: Buffer, place: string): Buffer {
    return inflate(form & ~ENCRYPTED_FLAG, this.#decrypt(form, body, place), place);
  }

  #requirePlainRead(): void {
    if (this.#isPlainRead) return;
    throw new WaypointError("STORE_KEY_MISSING", "The checkpoints are not encrypted.", {
      hint: "Add null to encryption.previousKeys to read what was kept without a key.",
    });
  }

  #decrypt(form: number, body: Buffer, place: string): Buffer {
    const id = body.subarray(0, KEY_ID_BYTES);
    const key = this.#keys.find((each) => each.id.equals(id))?.key;
    if (key === undefined) {
      throw new WaypointError(
        "STORE_KEY_MISSING",
        "The checkpoints are encrypted with another key.",
        {
          hint: "Give the key of then: as encryption.key, or among encryption.previousKeys.",
        },
      );
    }
    const iv = body.subarray(KEY_ID_BYTES, KEY_ID_BYTES + IV_BYTES);
    const tag = body.subarray(KEY_ID_BYTES + IV_BYTES, KEY_ID_BYTES + IV_BYTES + TAG_BYTES);
    try {
      const decipher = createDecipheriv("aes-256-gcm", key, iv, { authTagLength: TAG_BYTES });
      decipher.setAAD(Buffer.concat([Buffer.of(form), Buffer.from(place)]));
      decipher.setAuthTag(tag);
      const closed = body.subarray(KEY_ID_BYTES + IV_BYTES + TAG_BYTES);
      return Buffer.concat([decipher.update(closed), decipher.final()]);
    } catch (cause) {
      throw damaged(place, cause);
    }
  }
}

/** Returns the error of a record that is not what was put there. */
export function damaged(place: string, cause?: unknown): WaypointError {
  return new WaypointError("STORE_FAILED", `The record ${place} is damaged.`, {
    hint: "Other checkpoints may not need it: look at the thread's history.",
    ...(cause === undefined ? {} : { cause }),
  });
}

function previous({ previousKeys = [] }: EncryptionOptions): readonly (Uint8Array | null)[] {
  return previousKeys;
}

function keyIdOf(key: Uint8Array): Buffer {
  const hash = createHmac("sha256", key).update("waypoint key").digest();
  return hash.subarray(0, KEY_ID_BYTES);
}

function partsOf(kept: Uint8Array, place: string): { form: number; body: Buffer } {
  const [form] = kept;
  if (form === undefined) throw damaged(place);
  return { form, body: Buffer.from(kept.buffer, kept.byteOffset + 1, kept.length - 1) };
}

/** Against damage and mix-ups; who may write the store can make it. */
function sumOf(form: number, bytes: Uint8Array, place: string): Buffer {
  const hash = createHash("sha256").update(`${place}\n${form}\n`).update(bytes).digest();
  return hash.subarray(0, SUM_BYTES);
}

function compress(content: Uint8Array): Compressed {
  if (content.length < COMPRESSED_BYTES_MIN) return { form: PLAIN, bytes: content };
  // One buffer is enough: what gets longer is not kept.
  const chunkSize = content.length + BUFFER_BYTES_MIN;
  const isZstd = content.length > DEFLATED_BYTES_MAX && "zstdCompressSync" in zlib;
  const bytes = isZstd
    ? zlib.zstdCompressSync(content, {
        ...{ params: ZSTD_PARAMS, pledgedSrcSize: content.length, chunkSize },
      })
    : zlib.deflateRawSync(content, { ...DEFLATE_OPTIONS, chunkSize });
  if (bytes.length >= content.length) return { form: PLAIN, bytes: content };
  return { form: isZstd ? ZSTD : DEFLATED, bytes };
}

const ZSTD_PARAMS = { [zlib.constants.ZSTD_c_compressionLevel ?? 0]: 1 };
/** Up to here the memory that zstd takes for each call costs more than it saves. */
const DEFLATED_BYTES_MAX = 8 * 1024;
const DEFLATE_OPTIONS = { level: 1, windowBits: 13, memLevel: 6 };
const BUFFER_BYTES_MIN = 1024;

function inflate(form: number, bytes: Buffer, place: string): Buffer {
  const bound = { maxOutputLength: INFLATED_BYTES_MAX };
  try {
    if (form === PLAIN) return bytes;
    if (form === DEFLATED) return zlib.inflateRawSync(bytes, bound);
    if (form === ZSTD && "zstdDecompressSync" in zlib) return zlib.zstdDecompressSync(bytes, bound);
  } catch (cause) {
    throw damaged(place, cause);
  }
  throw new WaypointError("FORMAT_TOO_NEW", "A checkpoint is compressed in a way unknown here.", {
    hint: "Read it with Node 22.15 or newer, and with the Waypoint that wrote it.",
    detail: { form },
  });
}
