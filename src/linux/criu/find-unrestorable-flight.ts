import { messageField, numberField, type WireMessage } from "../../formats/criu-images/index.ts";
import type { Unrestorable } from "./find-unrestorable.ts";
import { readOpenFiles } from "./read-open-files.ts";
import { type Flight, findPairs, readMessages, senderOf } from "./rights-in-flight.ts";

// file_entry, unix_sk_entry
const FILE_TYPE = 1;
const FILE_ID = 2;
const FILE_UNIX_SOCKET = 16;
const UNIX_ID = 1;
const UNIX_TYPE = 3;
const UNIX_STATE = 4;
const UNIX_FLAGS = 6;
const UNIX_PEER = 8;

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
  const messages = await readMessages(imagesDir);
  if (messages.length === 0) return null;
  return findUnsendable({ files, open: await readOpenFiles(imagesDir, pids), messages });
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
  const pairs = findPairs({ files, open, messages });
  const crossed = pairs.find((pair) => !pair.isShared && pair.isCrossed);
  return crossed === undefined
    ? null
    : crossedFlight(holderOf(crossed.receiver, { files, open, messages }));
}

/** Whether CRIU makes another end for a socket that has none, in a process that has it open. */
function needsSender(socket: WireMessage, sockets: readonly WireMessage[]): boolean {
  const isOutside = (numberField(socket, UNIX_FLAGS) & UNIX_OUTSIDE) !== 0;
  if (isOutside || senderOf(numberField(socket, UNIX_ID), sockets) !== undefined) return false;
  const isAlone =
    numberField(socket, UNIX_STATE) === TCP_ESTABLISHED && numberField(socket, UNIX_PEER) === 0;
  return isAlone || numberField(socket, UNIX_TYPE) === SOCK_DGRAM;
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

function crossedFlight(pid: number): Unrestorable {
  return {
    reason: "in_flight",
    pid,
    resource: "descriptors in both directions in flight",
    predicate:
      "has a unix socket to another process with messages that are not read yet and that bring descriptors in both directions, which cannot be restored.",
    hint: "Try again once the programs have read the messages.",
  };
}
