import { messageField, numberField, numberFields, type WireMessage } from "./image-format.ts";
import { readEntries } from "./read-image-processes.ts";

/** One end of a connection. */
export interface SocketEnd {
  /** IPv4 also for an IPv6 socket that speaks IPv4. */
  address: string;
  port: number;
}

/** A TCP or UDP socket of an image directory. */
export interface ImageSocket {
  protocol: "tcp" | "udp";
  local: SocketEnd;
  /** Null where it is not connected. */
  remote: SocketEnd | null;
}

// file_entry, fd_types
const FILE_INET_SOCKET = 4;
// inet_sk_entry
const SOCKET_PROTOCOL = 5;
const SOCKET_STATE = 6;
const SOCKET_LOCAL_PORT = 7;
const SOCKET_REMOTE_PORT = 8;
const SOCKET_LOCAL_ADDRESS = 11;
const SOCKET_REMOTE_ADDRESS = 12;

const PROTOCOLS = new Map<number, ImageSocket["protocol"]>([
  [6, "tcp"],
  [17, "udp"],
]);
const TCP_CLOSE = 7;
const TCP_LISTEN = 10;

/**
 * Returns the TCP and UDP sockets that an image directory would bring back.
 *
 * @throws CHECKPOINT_INCOMPLETE  the image is missing or cannot be read.
 */
export async function readImageSockets(imagesDir: string): Promise<ImageSocket[]> {
  const files = await readEntries(imagesDir, "files.img", "files");
  return files.flatMap((entry) => {
    const socket = messageField(entry, FILE_INET_SOCKET);
    return socket === undefined ? [] : readSocket(socket);
  });
}

function readSocket(socket: WireMessage): ImageSocket[] {
  const protocol = PROTOCOLS.get(numberField(socket, SOCKET_PROTOCOL));
  if (protocol === undefined) return [];
  const state = numberField(socket, SOCKET_STATE);
  const end = (address: number, port: number): SocketEnd => ({
    address: formatAddress(numberFields(socket, address)),
    port: numberField(socket, port),
  });
  const isConnected = state !== TCP_CLOSE && state !== TCP_LISTEN;
  return [
    {
      protocol,
      local: end(SOCKET_LOCAL_ADDRESS, SOCKET_LOCAL_PORT),
      remote: isConnected ? end(SOCKET_REMOTE_ADDRESS, SOCKET_REMOTE_PORT) : null,
    },
  ];
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
