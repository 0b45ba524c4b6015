/** Networks that have a name; an allow-list is another one. */
export const NET_MODES = ["nat", "none", "host"] as const;

/** Each becomes a rule of its own. */
export const NET_ALLOW_ENTRIES_MAX = 100;
/** The whole text is no longer. */
export const NET_ALLOW_CHARACTERS_MAX = 8192;
const PREFIX = "allow:";

/** What a session may reach: a name, all names below one, or a range of addresses. */
export type NetAllowEntry = { port: number | null } & (
  | { kind: "name"; name: string; isBelow: boolean }
  | { kind: "range"; family: 4 | 6; range: string }
);

const LABEL = "[a-z0-9_](?:[a-z0-9_-]{0,61}[a-z0-9_])?";
const NAME = new RegExp(String.raw`^(\*\.)?((?:${LABEL}\.)*${LABEL})$`);
const IPV4 = /^(\d{1,3}(?:\.\d{1,3}){3})(?:\/(\d{1,2}))?$/;
const IPV6 = /^([0-9a-f:]*:[0-9a-f:.]*)(?:\/(\d{1,3}))?$/;

/** A number of an IPv4 address: 0 to 255, without a zero before it. */
const OCTET = /^(?:25[0-5]|2[0-4]\d|1\d\d|[1-9]?\d)$/;

/** What such a text has to be, for who typed another one. */
export const NET_ALLOW_WORDS = `allow: and 1 to ${NET_ALLOW_ENTRIES_MAX} of NAME, *.NAME, ADDRESS or ADDRESS/BITS, each with :PORT or without, and commas between them`;

/** Parses `allow:api.example.com,*.npmjs.org:443,10.1.2.0/24,[fd00::1]:443`; `null` of anything else. */
export function parseNetAllow(text: string): NetAllowEntry[] | null {
  if (!text.startsWith(PREFIX)) return null;
  const words = splitNetAllow(text);
  if (words.length === 0 || words.length > NET_ALLOW_ENTRIES_MAX) return null;
  const entries = words.map(parseEntry);
  return entries.every((entry) => entry !== null) ? entries : null;
}

/** Returns the entries of such a text as they are told: in small letters, without the word before. */
export function splitNetAllow(text: string): string[] {
  const list = text.slice(PREFIX.length).split(",");
  return list.map((word) => word.trim().toLowerCase()).filter((word) => word !== "");
}

/** Tells whether a name is one of those that may be reached, and by which ports; `null` is any. */
export function allowedPorts(
  entries: readonly NetAllowEntry[],
  name: string,
): (number | null)[] | undefined {
  const ports = entries.flatMap((entry) => {
    if (entry.kind !== "name") return [];
    const fits = entry.isBelow ? name.endsWith(`.${entry.name}`) : name === entry.name;
    return fits ? [entry.port] : [];
  });
  return ports.length === 0 ? undefined : [...new Set(ports)];
}

function parseEntry(word: string): NetAllowEntry | null {
  const split = splitPort(word);
  if (split === null) return null;
  const { host, port } = split;
  const range = parseRange(host);
  if (range !== undefined) return range === null ? null : { ...range, port };
  const [, below, name] = NAME.exec(host) ?? [];
  // One that is all digits would be an address that is not whole.
  if (name === undefined || name.length > 253 || /(^|\.)\d+$/.test(name)) return null;
  return { kind: "name", name, isBelow: below !== undefined, port };
}

/** An address of IPv6 with a port is in brackets. */
function splitPort(word: string): { host: string; port: number | null } | null {
  const bracketed = /^\[([^\]]*)\](?::(\d{1,5}))?$/.exec(word);
  const plain = /^([^:]*)(?::(\d{1,5}))?$/.exec(word);
  const [, host = word, digits] = bracketed ?? plain ?? [];
  if (bracketed !== null && !IPV6.test(host)) return null;
  if (digits === undefined) return { host, port: null };
  const port = Number(digits);
  return port < 1 || port > 65_535 ? null : { host, port };
}

/** Returns `undefined` of what is no address, `null` of one that is wrong. */
function parseRange(
  host: string,
): { kind: "range"; family: 4 | 6; range: string } | null | undefined {
  const family = IPV4.test(host) ? 4 : IPV6.test(host) ? 6 : null;
  if (family === null) return host.includes("/") ? null : undefined;
  const [, address = "", bits] = (family === 4 ? IPV4 : IPV6).exec(host) ?? [];
  const bitsMax = family === 4 ? 32 : 128;
  if (!isAddress(family, address) || Number(bits ?? 0) > bitsMax) return null;
  return { kind: "range", family, range: `${address}/${bits ?? bitsMax}` };
}

/** Without the checks of the contract: the command line loads this, and not those. */
function isAddress(family: 4 | 6, address: string): boolean {
  if (family === 4) return address.split(".").every((octet) => OCTET.test(octet));
  return URL.canParse(`http://[${address}]/`);
}
