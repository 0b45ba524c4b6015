import {
  messageField,
  numberField,
  parseInetSocket,
  type SocketEnd,
  type WireMessage,
} from "../../formats/criu-images/index.ts";
import { boundName } from "./moved-sockets.ts";

/** A socket that a program waits at for others. */
export interface ImageListener {
  protocol: "tcp" | "udp" | "unix";
  /** Path of a unix socket; an abstract one begins with "@". */
  address: string;
  port: number | null;
}

/** A connection, to another process or to the outside. */
export interface ImageConnection {
  protocol: "tcp" | "udp";
  local: SocketEnd;
  remote: SocketEnd;
}

// file_entry
const FILE_INET_SOCKET = 4;
const FILE_UNIX_SOCKET = 16;
// unix_sk_entry
const UNIX_TYPE = 3;
const UNIX_STATE = 4;
const UNIX_PEER = 8;

const SOCK_DGRAM = 2;
const TCP_LISTEN = 10;

/** Returns the socket of a file at which others are waited for, or null when it is none. */
export function listenerOf(file: WireMessage): ImageListener | null {
  const unix = messageField(file, FILE_UNIX_SOCKET);
  if (unix !== undefined) return unixListener(unix);
  const entry = messageField(file, FILE_INET_SOCKET);
  const socket = entry === undefined ? null : parseInetSocket(entry);
  if (socket === null || socket.remote !== null || socket.local.port === 0) return null;
  const { protocol, local, isListening } = socket;
  return isListening || protocol === "udp" ? { protocol, ...local } : null;
}

/** Returns the connection of a file, or null when it is none. */
export function connectionOf(file: WireMessage): ImageConnection | null {
  const entry = messageField(file, FILE_INET_SOCKET);
  const socket = entry === undefined ? null : parseInetSocket(entry);
  if (socket === null || socket.remote === null) return null;
  const { protocol, local, remote } = socket;
  return { protocol, local, remote };
}

function unixListener(socket: WireMessage): ImageListener | null {
  const name = boundName(socket);
  const isDatagram = numberField(socket, UNIX_TYPE) === SOCK_DGRAM;
  const isWaiting = numberField(socket, UNIX_STATE) === TCP_LISTEN || isDatagram;
  if (name === "" || !isWaiting || numberField(socket, UNIX_PEER) !== 0) return null;
  const isAbstract = name.startsWith("\0");
  const address = isAbstract ? `@${name.slice(1)}` : name.replace(/\0.*$/s, "");
  return { protocol: "unix", address, port: null };
}
