import { numberField, numberFields, type WireMessage } from "./image-format.ts";

/** One end of a connection. */
export interface SocketEnd {
  /** IPv4 also for an IPv6 socket that speaks IPv4. */
  address: string;
  port: number;
}

/** What an entry of a TCP or UDP socket says. */
export interface InetSocket {
  protocol: "tcp" | "udp";
  inode: number;
  isListening: boolean;
  local: SocketEnd;
  /** Null where it is not connected. */
  remote: SocketEnd | null;
}

// inet_sk_entry
const SOCKET_INODE = 2;
const SOCKET_PROTOCOL = 5;
const SOCKET_STATE = 6;
const SOCKET_LOCAL_PORT = 7;
const SOCKET_REMOTE_PORT = 8;
const SOCKET_LOCAL_ADDRESS = 11;
const SOCKET_REMOTE_ADDRESS = 12;

const PROTOCOLS = new Map<number, InetSocket["protocol"]>([
  [6, "tcp"],
  [17, "udp"],
]);
const TCP_CLOSE = 7;
const TCP_LISTEN = 10;

/** Returns what an entry of a socket says; `null` of other protocols. */
export function parseInetSocket(socket: WireMessage): InetSocket | null {
  const protocol = PROTOCOLS.get(numberField(socket, SOCKET_PROTOCOL));
  if (protocol === undefined) return null;
  const state = numberField(socket, SOCKET_STATE);
  const end = (address: number, port: number): SocketEnd => ({
    address: formatAddress(numberFields(socket, address)),
    port: numberField(socket, port),
  });
  const isConnected = state !== TCP_CLOSE && state !== TCP_LISTEN;
  return {
    protocol,
    inode: numberField(socket, SOCKET_INODE),
    isListening: state === TCP_LISTEN,
    local: end(SOCKET_LOCAL_ADDRESS, SOCKET_LOCAL_PORT),
    remote: isConnected ? end(SOCKET_REMOTE_ADDRESS, SOCKET_REMOTE_PORT) : null,
  };
}

/** The words are as they lie in memory: in network order, read by a little-endian machine. */
function formatAddress(words: readonly number[]): string {
  const bytes = Buffer.alloc(words.length * 4);
  for (const [index, word] of words.entries()) bytes.writeUInt32LE(word >>> 0, index * 4);
  if (bytes.length !== 16) return bytes.join(".");
  if (bytes.subarray(0, 12).equals(MAPPED_PREFIX)) return bytes.subarray(12).join(".");
  const groups = Array.from({ length: 8 }, (_, index) => bytes.readUInt16BE(index * 2));
  // URL knows the canonical short form.
  const written = groups.map((group) => group.toString(16)).join(":");
  return new URL(`http://[${written}]`).hostname.slice(1, -1);
}

const MAPPED_PREFIX = Buffer.from("00000000000000000000ffff", "hex");
