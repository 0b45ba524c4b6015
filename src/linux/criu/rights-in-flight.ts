import { readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import {
  messageField,
  messageFields,
  numberField,
  numberFields,
  readImageEntries,
  type WireMessage,
  withEntriesLast,
} from "../../formats/criu-images/index.ts";
import { readEntries, readImageProcesses } from "./read-image-processes.ts";
import { type OpenFile, readOpenFiles } from "./read-open-files.ts";

/** A message that is on its way in a unix socket, and brings descriptors. */
export interface Message {
  /** File id of the socket that will read it. */
  receiver: number;
  /** File ids. */
  rights: readonly number[];
}

/** What of the images tells who has and who sends which file. */
export interface Flight {
  files: readonly WireMessage[];
  open: readonly OpenFile[];
  /** In CRIU's order. */
  messages: readonly Message[];
}

/** Two sockets that are connected to each other, with messages for one of them that bring descriptors. */
export interface PairInFlight {
  /** File ids. */
  receiver: number;
  sender: number;
  /** Of the processes that have the sender open, the one with the lowest id: CRIU sends from there. */
  senderPid: number;
  /** Whether the same process is the first one of the receiver, too. */
  isShared: boolean;
  /** Whether the sender itself has such messages to read. */
  isCrossed: boolean;
  messageCount: number;
}

/** A process that sends messages anew when it is restored. */
export interface RightsSender {
  /** Inside the session. */
  pid: number;
  /** How many messages it sends that bring descriptors. */
  count: number;
}

// file_entry, unix_sk_entry, sk_packet_entry, scm_entry
const FILE_UNIX_SOCKET = 16;
const UNIX_ID = 1;
const UNIX_INODE = 2;
const UNIX_PEER = 8;
const PACKET_RECEIVER = 1;
const PACKET_BYTES = 2;
const PACKET_CONTROLS = 4;
const CONTROL_RIGHTS = 2;

/**
 * Puts sockets last in fresh images from which messages are sent anew that bring descriptors.
 *
 * CRIU makes both sockets of a pair in the first process of the one that comes last in its image. It looks
 * whether what a message brings is open in the process that sends it: where it has made the pair in
 * another, it never finds that so, and leaves the message out.
 *
 * @throws CHECKPOINT_INCOMPLETE  an image is missing or damaged.
 */
export async function placeSenders(imagesDir: string): Promise<void> {
  const pairs = findPairs(await readFlight(imagesDir));
  const senders = new Set(pairs.filter(({ isShared }) => !isShared).map(({ sender }) => sender));
  if (senders.size === 0) return;
  const path = join(imagesDir, "files.img");
  const isSender = (file: WireMessage) => senders.has(socketId(file));
  await writeFile(path, withEntriesLast(await readFile(path), "files", isSender));
}

/**
 * Returns who sends messages anew that bring descriptors, for `native/criu-preload/rights-preload.c`.
 *
 * @throws CHECKPOINT_INCOMPLETE  an image is missing or damaged.
 */
export async function findRightsSenders(imagesDir: string): Promise<RightsSender[]> {
  const counts = new Map<number, number>();
  for (const { senderPid, messageCount } of findPairs(await readFlight(imagesDir)))
    counts.set(senderPid, (counts.get(senderPid) ?? 0) + messageCount);
  return [...counts].map(([pid, count]) => ({ pid, count }));
}

async function readFlight(imagesDir: string): Promise<Flight> {
  const messages = await readMessages(imagesDir);
  if (messages.length === 0) return { files: [], open: [], messages };
  const processes = await readImageProcesses(imagesDir);
  return {
    files: await readEntries(imagesDir, "files.img", "files"),
    open: await readOpenFiles(
      imagesDir,
      processes.map(({ pid }) => pid),
    ),
    messages,
  };
}

/** Reads the messages of an image directory that bring descriptors. */
export async function readMessages(imagesDir: string): Promise<Message[]> {
  const queues = await readFile(join(imagesDir, "sk-queues.img")).catch(() => null);
  return queues === null ? [] : toMessages(queues);
}

/** Returns the messages that bring descriptors; the bytes of each lie behind its entry. */
export function toMessages(image: Buffer): Message[] {
  const packets = readImageEntries(image, "skQueues", (packet) =>
    numberField(packet, PACKET_BYTES),
  );
  return packets
    .map((packet) => ({
      receiver: numberField(packet, PACKET_RECEIVER),
      rights: messageFields(packet, PACKET_CONTROLS).flatMap((control) =>
        numberFields(control, CONTROL_RIGHTS),
      ),
    }))
    .filter(({ rights }) => rights.length > 0);
}

/** Returns the pairs of sockets between which descriptors are on their way. */
export function findPairs({ files, open, messages }: Flight): PairInFlight[] {
  const sockets = files.flatMap((file) => messageField(file, FILE_UNIX_SOCKET) ?? []);
  const receivers = new Set(messages.map(({ receiver }) => receiver));
  const firstOf = (id: number) =>
    Math.min(...open.filter((each) => each.id === id).map(({ pid }) => pid));
  return [...receivers].flatMap((receiver) => {
    const sender = senderOf(receiver, sockets);
    if (sender === undefined || senderOf(sender, sockets) !== receiver) return [];
    const senderPid = firstOf(sender);
    if (!Number.isFinite(senderPid)) return [];
    return [
      {
        receiver,
        sender,
        senderPid,
        isShared: firstOf(receiver) === senderPid,
        isCrossed: receivers.has(sender),
        messageCount: messages.filter((each) => each.receiver === receiver).length,
      },
    ];
  });
}

function socketId(file: WireMessage): number {
  const socket = messageField(file, FILE_UNIX_SOCKET);
  return socket === undefined ? -1 : numberField(socket, UNIX_ID);
}

/** Returns the file id of the first socket that is connected to the one with that file id. */
export function senderOf(id: number, sockets: readonly WireMessage[]): number | undefined {
  const socket = sockets.find((each) => numberField(each, UNIX_ID) === id);
  if (socket === undefined) return undefined;
  const inode = numberField(socket, UNIX_INODE);
  const sender = sockets.find((each) => inode !== 0 && numberField(each, UNIX_PEER) === inode);
  return sender && numberField(sender, UNIX_ID);
}
