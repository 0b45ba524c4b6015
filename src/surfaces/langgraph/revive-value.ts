import { load } from "@langchain/core/load";
import { DeltaSnapshot } from "@langchain/langgraph-checkpoint";

/** A record that stands for something that JSON has not. */
export interface Marked {
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

/** What LangChain wraps around a user's record that looks like one of its own. */
const ESCAPED = "__lc_escaped__";
/** Deeper messages stay records: LangChain calls itself for each level. */
const MESSAGE_DEPTH_MAX = 1000;

/** A place in a value that holds an object. */
interface Slot {
  holder: Record<string, unknown>;
  key: string;
  value: object;
  /** Null at the top. */
  parent: Slot | null;
  /** Whether something in it may not be made an object. */
  isHarmful: boolean;
  /** Whether it becomes an object of LangChain's, or is a part of one. */
  isConstructed: boolean;
}

/**
 * Returns a value of JSON with what its records stand for; it is changed in place.
 *
 * No step calls itself: however deep a value is, reading it is as safe as writing it was.
 */
export async function revive(value: unknown): Promise<unknown> {
  const top = { "": value };
  const slots = slotsOf(top);
  for (const slot of slots.toReversed()) {
    if (isForbidden(slot.value)) slot.isHarmful = true;
    // What LangChain has escaped, it makes nothing of.
    if (slot.isHarmful && slot.parent !== null && slot.key !== ESCAPED)
      slot.parent.isHarmful = true;
  }
  const loading: Promise<void>[] = [];
  const outer: Slot[] = [];
  const inner: Slot[] = [];
  const messages: Slot[] = [];
  for (const slot of slots) {
    if (slot.parent?.isConstructed === true) {
      slot.isConstructed = true;
      inner.push(slot);
    } else if (isConstructor(slot.value) && !slot.isHarmful) {
      slot.isConstructed = true;
      messages.push(slot);
    } else outer.push(slot);
  }
  // In this order, since each is made of what is in it.
  for (const slot of inner.toReversed()) make(slot);
  for (const slot of messages) loading.push(construct(slot));
  await Promise.all(loading);
  for (const slot of outer.toReversed()) make(slot);
  return top[""];
}

/** Returns all places that hold an object, each behind the one that it is in. */
function slotsOf(top: Record<string, unknown>): Slot[] {
  const slots: Slot[] = [];
  const add = (holder: Record<string, unknown>, parent: Slot | null) => {
    for (const key of Object.keys(holder)) {
      const value = holder[key];
      if (typeof value !== "object" || value === null) continue;
      slots.push({ holder, key, value, parent, isHarmful: false, isConstructed: false });
    }
  };
  add(top, null);
  for (let at = 0; at < slots.length; at += 1) {
    const slot = slots[at] as Slot;
    add(slot.value as Record<string, unknown>, slot);
  }
  return slots;
}

function make({ holder, key, value }: Slot): void {
  if ("lc" in value && value.lc === 2) holder[key] = madeOf(value as Marked);
}

/** Makes a message or a document; one that LangChain refuses stays a record. */
async function construct({ holder, key, value }: Slot): Promise<void> {
  try {
    const text = JSON.stringify(value, (_, each: unknown) =>
      typeof each === "bigint" ? String(each) : each,
    );
    holder[key] = await load(text, { maxDepth: MESSAGE_DEPTH_MAX });
  } catch {
    holder[key] = value;
  }
}

function isConstructor(value: object): value is Constructed {
  const { lc, type, id } = value as Partial<Constructed>;
  return lc === 1 && type === "constructor" && Array.isArray(id);
}

/** Tells whether it says that it is something which is not known to be harmless. */
function isForbidden(value: object): boolean {
  if (!("lc" in value) || value.lc === 2) return false;
  return !(isConstructor(value) && CLASSES.has(value.id.join("/")));
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
