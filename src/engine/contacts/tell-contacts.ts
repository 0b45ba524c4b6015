import { type Counted, keepLargest } from "../../portable/contacts/index.ts";
import type { Contact, Contacts } from "../../shared/protocol/index.ts";

/** Further contacts are added up. */
const CONTACTS_MAX = 100;
/** Of one contact. */
const NAMES_MAX = 4;
const ADDRESSES_MAX = 16;

/** Returns what was counted as it is told: addresses with the same names are one contact. */
export function tellContacts(counted: Counted, names: Map<string, string[]>): Contacts {
  const merged = new Map<string, Contact>();
  for (const { address, protocol, port, ...bytes } of counted.contacts) {
    const known = (names.get(address) ?? []).slice(0, NAMES_MAX);
    const [first = address] = known;
    const key = `${first} ${protocol} ${port}`;
    const contact = merged.get(key);
    if (contact === undefined) {
      merged.set(key, { names: known, addresses: [address], protocol, port, ...bytes });
      continue;
    }
    contact.sentBytes += bytes.sentBytes;
    contact.receivedBytes += bytes.receivedBytes;
    if (contact.addresses.length < ADDRESSES_MAX) contact.addresses.push(address);
  }
  const sorted = [...merged.values()].toSorted((a, b) => totalOf(b) - totalOf(a));
  const more = { ...counted.more };
  for (const { sentBytes, receivedBytes } of sorted.slice(CONTACTS_MAX)) {
    more.sentBytes += sentBytes;
    more.receivedBytes += receivedBytes;
  }
  return { contacts: sorted.slice(0, CONTACTS_MAX), ...tellMore(more), unknown: null };
}

/** Returns whom most was exchanged with, and how many others there were: "api.example.com:443". */
export function brieflyTold(counted: Counted, names: Map<string, string[]>): string {
  const { contacts } = tellContacts(keepLargest(counted, CONTACTS_MAX), names);
  const [first, ...others] = contacts.filter(({ port }) => port !== 53);
  if (first === undefined) return "";
  const where = first.names[0] ?? first.addresses[0] ?? "";
  const place = first.port === null ? where : `${where}:${first.port}`;
  return others.length === 0 ? place : `${place} and ${others.length} more`;
}

function tellMore({ sentBytes, receivedBytes }: Counted["more"]) {
  return { moreSentBytes: sentBytes, moreReceivedBytes: receivedBytes };
}

function totalOf({ sentBytes, receivedBytes }: Contact): number {
  return sentBytes + receivedBytes;
}
