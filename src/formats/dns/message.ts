import { decode, encode, type Packet } from "dns-packet";

/** Further addresses of one answer are not read. */
const ADDRESSES_MAX = 32;
/** A name has 255 bytes at most; each that is no letter takes four characters. */
const NAME_CHARACTERS_MAX = 300;
const RCODE_MASK = 0x0f;
const OPCODE_MASK = 0x7800;
const REFUSED = 5;

/** What a program asked for. */
export interface DnsQuestion {
  id: number;
  /** In small letters, without a dot at its end; what is no plain character is written `\ddd`. */
  name: string;
  type: string;
}

/** The addresses that a name was said to have. */
export interface DnsAnswer {
  name: string;
  addresses: { address: string; ttlS: number }[];
}

/** Returns the one question of a message, `null` of anything else. */
export function readQuestion(message: Uint8Array): DnsQuestion | null {
  const packet = decoded(message);
  const [question, ...more] = packet?.questions ?? [];
  if (packet?.type !== "query" || question === undefined || more.length > 0) return null;
  if (((packet.flags ?? 0) & OPCODE_MASK) !== 0 || question.class !== "IN") return null;
  return { id: packet.id ?? 0, name: nameOf(question.name), type: question.type };
}

/** Returns the addresses of an answer, `null` where there are none or it is damaged. */
export function readAnswer(message: Uint8Array): DnsAnswer | null {
  const packet = decoded(message);
  const [question] = packet?.questions ?? [];
  if (packet?.type !== "response" || question === undefined) return null;
  if (((packet.flags ?? 0) & RCODE_MASK) !== 0) return null;
  const addresses = (packet.answers ?? []).flatMap((record) =>
    record.type === "A" || record.type === "AAAA"
      ? [{ address: record.data, ttlS: record.ttl ?? 0 }]
      : [],
  );
  if (addresses.length === 0) return null;
  return { name: nameOf(question.name), addresses: addresses.slice(0, ADDRESSES_MAX) };
}

/** Returns the answer that a question is refused with. */
export function refuse(message: Uint8Array): Uint8Array | null {
  const packet = decoded(message);
  if (packet?.type !== "query") return null;
  const { id = 0, flags = 0, questions = [] } = packet;
  return encode({ id, type: "response", flags: (flags & 0x0100) | REFUSED, questions });
}

function decoded(message: Uint8Array): Packet | null {
  try {
    return decode(Buffer.from(message.buffer, message.byteOffset, message.byteLength));
  } catch {
    return null;
  }
}

/** A label may hold any bytes; nothing of them may reach a terminal. */
function nameOf(name: string): string {
  return name
    .toLowerCase()
    .replace(/\.$/, "")
    .replace(/[^!-[\]-~]/gu, (character) => {
      const codes = [...new TextEncoder().encode(character)];
      return codes.map((code) => `\\${String(code).padStart(3, "0")}`).join("");
    })
    .slice(0, NAME_CHARACTERS_MAX);
}
