import { createHash } from "node:crypto";

/** The SHA-256 of an object's bytes, in 43 characters of base64url. */
export type ObjectId = string;

/** Bytes kept under the hash of what they are: the same bytes are kept once, whoever hands them over. */
export interface ObjectStore {
  /** Keeps the bytes, unless they are there already. */
  put(bytes: Uint8Array): ObjectId;

  /** Returns the bytes as they were put; undefined where there are none. */
  get(id: ObjectId): Uint8Array | undefined;
}

/** Objects that outlive the program. */
export interface KeptObjects extends ObjectStore, Disposable {
  /** Runs `change`: what it puts is kept for good when this returns, or nothing of it is. */
  transaction<T>(change: () => T): T;
  /** Removes all objects but these, and returns how many went. */
  keepOnly(ids: ReadonlySet<ObjectId>): number;
}

/** Returns the name that bytes have in every store. */
export function objectIdOf(bytes: Uint8Array): ObjectId {
  return createHash("sha256").update(bytes).digest("base64url");
}
