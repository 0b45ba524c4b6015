import type { Contact, Contacts } from "../../shared/protocol/index.ts";
import { printable } from "./text/printable.ts";
import { formatSize } from "./text/quantities.ts";

/** Names and addresses of one contact that are shown. */
const SHOWN_MAX = 2;

/** Returns whom a session talked to, a line each; none where it talked to nobody. */
export function renderContacts({
  contacts,
  moreSentBytes,
  moreReceivedBytes,
  unknown,
}: Contacts): string[] {
  const more = { sentBytes: moreSentBytes, receivedBytes: moreReceivedBytes };
  return [
    ...contacts.map(renderContact),
    ...(moreSentBytes + moreReceivedBytes === 0 ? [] : [`others (${renderBytes(more)})`]),
    ...(unknown === null ? [] : [`unknown: ${printable(unknown)}`]),
  ];
}

/** "api.example.com:443 (12 KiB out, 3 KiB in; 192.0.2.7)". */
export function renderContact(contact: Contact): string {
  const { names, addresses, protocol, port } = contact;
  const place = names.length > 0 ? shorten(names, " = ") : hostOf(addresses[0] ?? "");
  const where = port === null ? place : `${place}:${port}`;
  const by = protocol === "tcp" ? "" : ` by ${printable(protocol)}`;
  const at = names.length === 0 && addresses.length < 2 ? "" : `; ${shorten(addresses, ", ")}`;
  return `${where}${by} (${renderBytes(contact)}${at})`;
}

function renderBytes({ sentBytes, receivedBytes }: Pick<Contact, "sentBytes" | "receivedBytes">) {
  const received = receivedBytes === 0 ? "no answer" : `${formatSize(receivedBytes)} in`;
  return `${formatSize(sentBytes)} out, ${received}`;
}

function shorten(words: readonly string[], between: string): string {
  const shown = words.slice(0, SHOWN_MAX).map(printable).join(between);
  const left = words.length - SHOWN_MAX;
  return left > 0 ? `${shown} and ${left} more` : shown;
}

/** An address of IPv6 has colons of its own. */
function hostOf(address: string): string {
  return address.includes(":") ? `[${printable(address)}]` : printable(address);
}
