import { closeSync, openSync, readSync } from "node:fs";
import { join } from "node:path";
import { isSystemError } from "../../base/index.ts";
import {
  messageField,
  numberField,
  parseInetSocket,
  readFirstImageEntry,
  type SocketEnd,
  type WireMessage,
} from "../../formats/criu-images/index.ts";
import { WaypointError } from "../../shared/errors/index.ts";
import { readEntries } from "./read-image-processes.ts";

/** A TCP or UDP socket of an image directory. */
export interface ImageSocket {
  protocol: "tcp" | "udp";
  local: SocketEnd;
  /** Null where it is not connected. */
  remote: SocketEnd | null;
  /** What a TCP connection has to send that its other end has not acknowledged. */
  queuedBytes: number;
}

// file_entry, fd_types
const FILE_INET_SOCKET = 4;
// tcp_stream_entry
const STREAM_SEND_QUEUE_BYTES = 3;
/** The entry; the bytes of both queues come after it. */
const STREAM_ENTRY_BYTES_MAX = 512;

/**
 * Returns the TCP and UDP sockets that an image directory would bring back.
 *
 * @throws CHECKPOINT_INCOMPLETE  the image is missing or cannot be read.
 */
export async function readImageSockets(imagesDir: string): Promise<ImageSocket[]> {
  const files = await readEntries(imagesDir, "files.img", "files");
  return files.flatMap((entry) => {
    const socket = messageField(entry, FILE_INET_SOCKET);
    return socket === undefined ? [] : readSocket(socket, imagesDir);
  });
}

function readSocket(socket: WireMessage, imagesDir: string): ImageSocket[] {
  const parsed = parseInetSocket(socket);
  if (parsed === null) return [];
  const { protocol, local, remote, inode } = parsed;
  const hasQueue = remote !== null && protocol === "tcp";
  return [
    { protocol, local, remote, queuedBytes: hasQueue ? readQueuedBytes(imagesDir, inode) : 0 },
  ];
}

/** Reads the beginning of a connection's image; the queues behind it may be megabytes. */
function readQueuedBytes(imagesDir: string, inode: number): number {
  const path = join(imagesDir, `tcp-stream-${inode.toString(16)}.img`);
  const head = Buffer.alloc(STREAM_ENTRY_BYTES_MAX);
  try {
    const fd = openSync(path, "r");
    try {
      const length = readSync(fd, head, 0, head.length, 0);
      const entry = readFirstImageEntry(head.subarray(0, length), "tcpStream");
      return numberField(entry, STREAM_SEND_QUEUE_BYTES);
    } finally {
      closeSync(fd);
    }
  } catch (cause) {
    // A connection without a state has none, and CRIU asks for no more than it needs.
    if (isSystemError(cause, "ENOENT")) return 0;
    throw new WaypointError("CHECKPOINT_INCOMPLETE", "The image of a connection cannot be read.", {
      detail: { path, reason: String(cause) },
      cause,
    });
  }
}
