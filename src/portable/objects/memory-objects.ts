import { type ObjectId, type ObjectStore, objectIdOf } from "./object-store.ts";

/** Objects in memory: what an agent without a disk has, and what tests count. */
export class MemoryObjects implements ObjectStore {
  readonly #objects = new Map<ObjectId, Uint8Array>();

  put(bytes: Uint8Array): ObjectId {
    const id = objectIdOf(bytes);
    if (!this.#objects.has(id)) this.#objects.set(id, Uint8Array.from(bytes));
    return id;
  }

  get(id: ObjectId): Uint8Array | undefined {
    return this.#objects.get(id);
  }

  /** How many objects there are, and how long they are together. */
  get totals(): { objects: number; bytes: number } {
    let bytes = 0;
    for (const each of this.#objects.values()) bytes += each.length;
    return { objects: this.#objects.size, bytes };
  }
}
