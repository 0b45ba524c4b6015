import { type KeptObjects, type ObjectId, objectIdOf } from "./object-store.ts";

/** Objects in memory: what an agent without a disk has, and what tests count. */
export class MemoryObjects implements KeptObjects {
  #objects = new Map<ObjectId, Uint8Array>();

  put(bytes: Uint8Array): ObjectId {
    const id = objectIdOf(bytes);
    if (!this.#objects.has(id)) this.#objects.set(id, Uint8Array.from(bytes));
    return id;
  }

  get(id: ObjectId): Uint8Array | undefined {
    return this.#objects.get(id);
  }

  transaction<T>(change: () => T): T {
    const before = new Map(this.#objects);
    try {
      return change();
    } catch (error) {
      this.#objects = before;
      throw error;
    }
  }

  keepOnly(ids: ReadonlySet<ObjectId>): number {
    const gone = [...this.#objects.keys()].filter((id) => !ids.has(id));
    for (const id of gone) this.#objects.delete(id);
    return gone.length;
  }

  [Symbol.dispose](): void {
    this.#objects.clear();
  }

  /** How many objects there are, and how long they are together. */
  get totals(): { objects: number; bytes: number } {
    let bytes = 0;
    for (const each of this.#objects.values()) bytes += each.length;
    return { objects: this.#objects.size, bytes };
  }
}
