import { SENT } from "./contact-rules.ts";

/** Somebody outside, and how much went there and came back; with the headers of IP. */
export interface CountedContact {
  address: string;
  /** "tcp", "udp", …; a number where it has no name. */
  protocol: string;
  /** `null` where the protocol has none. */
  port: number | null;
  sentBytes: number;
  receivedBytes: number;
}

/** What was counted on one link since it was made. */
export interface LinkCounters {
  contacts: CountedContact[];
  /** To and from those for whom there was no room in the list. */
  more: { sentBytes: number; receivedBytes: number };
}

interface NftElement {
  elem?: { val?: { concat?: unknown[] }; counter?: { bytes?: number } };
}
interface NftObject {
  set?: { elem?: NftElement[] };
}

/** Stands for all that had no room in the list. */
const MORE = "0.0.0.0";

/** Parses what nft prints, in JSON, of the sets of a link. */
export function parseCounters(outputs: readonly string[]): LinkCounters {
  const contacts = new Map<string, CountedContact>();
  const more = { sentBytes: 0, receivedBytes: 0 };
  for (const { elem } of outputs.flatMap(elementsOf)) {
    if (elem?.val?.concat === undefined) continue;
    const [address, protocol, port, direction] = elem.val.concat;
    const field = Number(direction) === SENT ? "sentBytes" : "receivedBytes";
    const bytes = elem.counter?.bytes ?? 0;
    if (address === MORE) {
      more[field] += bytes;
      continue;
    }
    const key = JSON.stringify([address, protocol, port]);
    const known = contacts.get(key) ?? contactOf(String(address), String(protocol), Number(port));
    known[field] += bytes;
    contacts.set(key, known);
  }
  return { contacts: [...contacts.values()], more };
}

function contactOf(address: string, protocol: string, port: number): CountedContact {
  return { address, protocol, port: port === 0 ? null : port, sentBytes: 0, receivedBytes: 0 };
}

function elementsOf(output: string): NftElement[] {
  const { nftables = [] } = JSON.parse(output) as { nftables?: NftObject[] };
  return nftables.flatMap(({ set }) => set?.elem ?? []);
}
