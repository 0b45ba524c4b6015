import { readFile } from "node:fs/promises";
import { join } from "node:path";
import {
  messageField,
  messageFields,
  numberField,
  numberFields,
  readImageEntries,
  type WireMessage,
} from "../../formats/criu-images/index.ts";
import type { Unrestorable } from "./find-unrestorable.ts";
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

// file_entry, unix_sk_entry, sk_packet_entry, scm_entry
const FILE_TYPE = 1;
const FILE_ID = 2;
const FILE_UNIX_SOCKET = 16;
const UNIX_ID = 1;
const UNIX_INODE = 2;
const UNIX_TYPE = 3;
const UNIX_STATE = 4;
const UNIX_FLAGS = 6;
const UNIX_PEER = 8;
const PACKET_RECEIVER = 1;
const PACKET_BYTES = 2;
const PACKET_CONTROLS = 4;
const CONTROL_RIGHTS = 2;

const SOCK_DGRAM = 2;
const TCP_ESTABLISHED = 1;
/** Of a socket that CRIU leaves to the outside. */
const UNIX_OUTSIDE = 0b101;
/** File types whose state CRIU sets in the process that has them open, at the very end. */
const NEEDS_HOLDER: ReadonlyMap<number, string> = new Map([
  [8, "an inotify instance"],
  [12, "a fanotify instance"],
  [17, "a timerfd"],
]);

/** Looks in fresh images for descriptors in flight that CRIU would not bring back. */
export async function findLostFlight(
  imagesDir: string,
  pids: readonly number[],
  files: readonly WireMessage[],
): Promise<Unrestorable | null> {
  const queues = await readFile(join(imagesDir, "sk-queues.img")).catch(() => null);
  const messages = queues === null ? [] : toMessages(queues);
  if (messages.length === 0) return null;
  return findUnsendable({ files, open: await readOpenFiles(imagesDir, pids), messages });
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

/**
 * CRIU sends each message anew from the socket at the other end, in a process that has that open. A
 * socket that is only in flight itself is in no process until the message that brings it was looked
 * at; what else is only in flight is in no process when CRIU sets its state.
 */
export function findUnsendable({ files, open, messages }: Flight): Unrestorable | null {
  const held = new Set(open.map(({ id }) => id));
  const sockets = files.flatMap((file) => messageField(file, FILE_UNIX_SOCKET) ?? []);
  const fail = (id: number, what: string) =>
    inFlight({ pid: holderOf(id, { files, open, messages }), what });
  for (const socket of sockets) {
    const id = numberField(socket, UNIX_ID);
    if (needsSender(socket, sockets) && !held.has(id)) return fail(id, "a socket");
  }
  const inHands = new Set(held);
  for (const { receiver, rights } of messages) {
    const sender = senderOf(receiver, sockets);
    const hasSender = sender === undefined ? inHands.has(receiver) : inHands.has(sender);
    if (!hasSender) return fail(receiver, "a socket in which descriptors are on their way");
    for (const id of rights) inHands.add(id);
  }
  for (const id of messages.flatMap(({ rights }) => rights)) {
    const file = files.find((each) => numberField(each, FILE_ID) === id);
    const what = file && NEEDS_HOLDER.get(numberField(file, FILE_TYPE));
    if (what !== undefined && !held.has(id)) return fail(id, what);
  }
  return null;
}

/** Whether CRIU makes another end for a socket that has none, in a process that has it open. */
function needsSender(socket: WireMessage, sockets: readonly WireMessage[]): boolean {
  const isOutside = (numberField(socket, UNIX_FLAGS) & UNIX_OUTSIDE) !== 0;
  if (isOutside || senderOf(numberField(socket, UNIX_ID), sockets) !== undefined) return false;
  const isAlone =
    numberField(socket, UNIX_STATE) === TCP_ESTABLISHED && numberField(socket, UNIX_PEER) === 0;
  return isAlone || numberField(socket, UNIX_TYPE) === SOCK_DGRAM;
}

/** Returns the file id of the first socket that is connected to the one with that file id. */
function senderOf(id: number, sockets: readonly WireMessage[]): number | undefined {
  const socket = sockets.find((each) => numberField(each, UNIX_ID) === id);
  if (socket === undefined) return undefined;
  const inode = numberField(socket, UNIX_INODE);
  const sender = sockets.find((each) => inode !== 0 && numberField(each, UNIX_PEER) === inode);
  return sender && numberField(sender, UNIX_ID);
}

/** Returns the process at which what is in flight would arrive; the first one if that is unknown. */
function holderOf(id: number, { files, open, messages }: Flight): number {
  const sockets = files.flatMap((file) => messageField(file, FILE_UNIX_SOCKET) ?? []);
  let at = id;
  for (let steps = 0; steps <= messages.length; steps++) {
    const sender = senderOf(at, sockets);
    const holder = open.find((each) => each.id === at || each.id === sender);
    if (holder !== undefined) return holder.pid;
    const message = messages.find(({ rights }) => rights.includes(at));
    if (message === undefined) break;
    at = message.receiver;
  }
  return 1;
}

function inFlight({ pid, what }: { pid: number; what: string }): Unrestorable {
  return {
    reason: "in_flight",
    pid,
    resource: `${what} in flight`,
    predicate: `has a unix socket with a message that it has not read yet and in which ${what} is passed on that no process has open, which cannot be restored.`,
    hint: "Try again once the program has read the message.",
  };
}
