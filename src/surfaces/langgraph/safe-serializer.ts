import {
  DeltaSnapshot,
  MemorySaver,
  type SerializerProtocol,
} from "@langchain/langgraph-checkpoint";
import { LongTexts, readTexts, TEXTS_TYPE } from "./long-texts.ts";
import { type Marked, revive } from "./revive-value.ts";

/**
 * Makes bytes of values and values of bytes, in the form of LangGraph's own serializer.
 *
 * No class is loaded and no function called by a name that stands in the data, but for LangChain's
 * messages and documents: anything else that says it is an object stays a record.
 */
export class SafeSerializer implements SerializerProtocol {
  /** That of LangGraph, which is known by its users alone. */
  readonly #lenient = new MemorySaver().serde;

  async dumpsTyped(value: unknown): Promise<[string, Uint8Array]> {
    if (value instanceof Uint8Array) return ["bytes", value];
    try {
      const texts = new LongTexts();
      // Called by JSON with the holder as `this`.
      const left = function (this: unknown, key: string, each: unknown): unknown {
        const replaced = replace.call(this, key, each);
        return (typeof replaced === "string" && asOurs(texts.take(replaced))) || replaced;
      };
      // A value at the top that JSON leaves out is one all the same.
      const json = JSON.stringify(value === undefined ? mark("undefined", {}) : value, left);
      if (texts.count > 0) return [TEXTS_TYPE, texts.before(json)];
      return ["json", Buffer.from(json ?? "null")];
    } catch (error) {
      // Circles, which LangGraph's own cuts.
      if (error instanceof TypeError) return await this.#lenient.dumpsTyped(value);
      throw error;
    }
  }

  async loadsTyped(type: string, data: Uint8Array | string): Promise<unknown> {
    if (type === "bytes") {
      return typeof data === "string" ? new TextEncoder().encode(data) : Uint8Array.from(data);
    }
    if (type === TEXTS_TYPE) return await revive(readTexts(Buffer.from(data)));
    if (type !== "json") throw new Error(`Unknown serialization type: ${type}`);
    const text = typeof data === "string" ? data : Buffer.from(data).toString();
    const value: unknown = JSON.parse(text);
    // Most values have nothing in them that has to be made.
    return text.includes('"lc":') ? await revive(value) : value;
  }
}

/** `this` is the holder, `value` has been through toJSON already. */
function replace(this: unknown, key: string, value: unknown): unknown {
  const original = (this as Record<string, unknown>)[key];
  if (value === undefined) return Array.isArray(this) || key !== "" ? mark("undefined", {}) : value;
  if (typeof value === "bigint") return mark("bigint", { value: String(value) });
  if (typeof value !== "object" || value === null) return value;
  if (original instanceof Uint8Array) return mark("bytes", { base64: base64Of(original) });
  if (value instanceof DeltaSnapshot) return mark("delta_snapshot", { value: value.value });
  // By what they are: a class of the user's own is read as the one that it extends.
  if (value instanceof Map) return made("Map", [[...value]]);
  if (value instanceof Set) return made("Set", [[...value]]);
  if (value instanceof RegExp) return made("RegExp", [value.source, value.flags]);
  if (value instanceof Error) return made("Error", [value.message]);
  if ("lg_name" in value && value.lg_name === "Send") return sendOf(value);
  if (isForged(value)) return mark("entries", { entries: Object.entries(value) });
  return value;
}

const marked = new WeakSet<object>();

function mark(type: string, more: object): Marked {
  return asOurs({ lc: 2, type, ...more });
}

function asOurs<Kept extends Marked | null>(record: Kept): Kept {
  if (record !== null) marked.add(record);
  return record;
}

function made(name: string, args: readonly unknown[]): Marked {
  return mark("constructor", { id: [name], method: null, args, kwargs: {} });
}

/** Tells whether a record of the user's looks like one of ours. */
function isForged(value: object): boolean {
  return "lc" in value && value.lc === 2 && !marked.has(value);
}

function sendOf(value: object): object {
  const { node, args, timeout } = value as Record<string, unknown>;
  return timeout === undefined ? { node, args } : { node, args, timeout };
}

function base64Of(bytes: Uint8Array): string {
  return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length).toString("base64");
}
