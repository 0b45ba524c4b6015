import { load } from "@langchain/core/load";
import {
  DeltaSnapshot,
  MemorySaver,
  type SerializerProtocol,
} from "@langchain/langgraph-checkpoint";

/** A record that stands for something that JSON has not. */
interface Marked {
  lc: 2;
  type: string;
  [key: string]: unknown;
}

/** A record of LangChain's that stands for an object of one of its classes. */
interface Constructed {
  lc: 1;
  type: "constructor";
  id: readonly string[];
  kwargs: unknown;
}

/** What data may be made an object of: messages and documents. They only hold what they are given. */
const CLASSES = new Set(
  [
    ...["AIMessage", "AIMessageChunk", "ChatMessage", "ChatMessageChunk", "FunctionMessage"],
    ...["FunctionMessageChunk", "HumanMessage", "HumanMessageChunk", "RemoveMessage"],
    ...["SystemMessage", "SystemMessageChunk", "ToolMessage", "ToolMessageChunk"],
  ].map((name) => `langchain_core/messages/${name}`),
).add("langchain_core/documents/Document");

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
      // A value at the top that JSON leaves out is one all the same.
      const text = JSON.stringify(value === undefined ? mark("undefined", {}) : value, replace);
      return ["json", Buffer.from(text ?? "null")];
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
    if (type !== "json") throw new Error(`Unknown serialization type: ${type}`);
    const text = typeof data === "string" ? data : Buffer.from(data).toString();
    const value: unknown = JSON.parse(text);
    // Most values have nothing in them that has to be made.
    return text.includes('"lc":') ? await revive(value) : value;
  }
}

/** Called by JSON with the holder as `this`: `value` has been through toJSON already. */
function replace(this: unknown, key: string, value: unknown): unknown {
  const original = (this as Record<string, unknown>)[key];
  if (value === undefined) return Array.isArray(this) || key !== "" ? mark("undefined", {}) : value;
  if (typeof value === "bigint") return mark("bigint", { value: String(value) });
  if (typeof value !== "object" || value === null) return value;
  if (original instanceof Uint8Array) return mark("bytes", { base64: base64Of(original) });
  if (value instanceof DeltaSnapshot) return mark("delta_snapshot", { value: value.value });
  if (value instanceof Map || value instanceof Set)
    return made(value.constructor.name, [[...value]]);
  if (value instanceof RegExp) return made("RegExp", [value.source, value.flags]);
  if (value instanceof Error) return made("Error", [value.message]);
  if ("lg_name" in value && value.lg_name === "Send") return sendOf(value);
  if (isForged(value)) return mark("entries", { entries: Object.entries(value) });
  return value;
}

const marked = new WeakSet<object>();

function mark(type: string, more: object): Marked {
  const record: Marked = { lc: 2, type, ...more };
  marked.add(record);
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

async function revive(value: unknown): Promise<unknown> {
  if (typeof value !== "object" || value === null) return value;
  if (Array.isArray(value)) return await Promise.all(value.map(revive));
  if (isConstructed(value) && isHarmless(value)) return await load(JSON.stringify(value));
  const entries = await Promise.all(
    Object.entries(value).map(async ([key, each]) => [key, await revive(each)] as const),
  );
  const record = Object.fromEntries(entries);
  return record["lc"] === 2 ? madeOf(record as Marked) : record;
}

function isConstructed(value: object): value is Constructed {
  const { lc, type, id } = value as Partial<Constructed>;
  return lc === 1 && type === "constructor" && Array.isArray(id);
}

/** Tells whether everything in it is of the known classes, and no secret of the environment. */
function isHarmless(value: unknown): boolean {
  if (typeof value !== "object" || value === null) return true;
  if (Array.isArray(value)) return value.every(isHarmless);
  if ("lc" in value && !(isConstructed(value) && CLASSES.has(value.id.join("/")))) return false;
  return Object.values(value).every(isHarmless);
}

/** Returns what a record stands for; a record that stands for nothing known stays one. */
function madeOf(record: Marked): unknown {
  const { type } = record;
  if (type === "undefined") return undefined;
  if (type === "delta_snapshot" && "value" in record) return new DeltaSnapshot(record["value"]);
  if (type === "bytes") return new Uint8Array(Buffer.from(String(record["base64"]), "base64"));
  if (type === "bigint" && /^-?\d+$/.test(String(record["value"]))) {
    return BigInt(String(record["value"]));
  }
  if (type === "entries" && isEntries(record["entries"]))
    return Object.fromEntries(record["entries"]);
  return type === "constructor" ? (constructedOf(record) ?? record) : record;
}

function constructedOf({ id, args, method }: Marked): unknown {
  const [name] = Array.isArray(id) ? id : [];
  const [first, second] = Array.isArray(args) ? args : [];
  if (name === "Uint8Array" && isBytes(first)) return Uint8Array.from(first);
  if (method !== null && method !== undefined) return undefined;
  if (name === "Set" && Array.isArray(first)) return new Set(first);
  if (name === "Map" && isEntries(first)) return new Map(first);
  if (name === "Error" && typeof first === "string") return new Error(first);
  if (name === "RegExp" && typeof first === "string" && typeof second === "string") {
    return regExpOf(first, second);
  }
  return undefined;
}

function regExpOf(source: string, flags: string): RegExp | undefined {
  try {
    return new RegExp(source, flags);
  } catch {
    return undefined;
  }
}

function isEntries(value: unknown): value is [string, unknown][] {
  return Array.isArray(value) && value.every((each) => Array.isArray(each) && each.length === 2);
}

function isBytes(value: unknown): value is number[] {
  const isByte = (each: unknown) =>
    Number.isInteger(each) && Number(each) >= 0 && Number(each) < 256;
  return Array.isArray(value) && value.every(isByte);
}
