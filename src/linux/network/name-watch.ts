import { close } from "node:fs";
import { type DnsAnswer, messageInPacket, readAnswer } from "../../formats/dns/index.ts";
import { type FilterInstruction, openPacketSocket, receivePacket } from "../kernel/index.ts";

/** Answers of one session that the kernel keeps until they are read; more are lost. */
const BUFFER_BYTES = 256 * 1024;
const PACKET_BYTES_MAX = 4096;
/** A session that asks without end must not keep the daemon from all else. */
const PACKETS_AT_ONCE = 500;

const RETURN = 0x06;
const LOAD_BYTE = 0x30;
const LOAD_HALF = 0x28;
const LOAD_WORD = 0x20;
const LOAD_HALF_AFTER_HEADER = 0x48;
const LOAD_HEADER_LENGTH = 0xb1;
const JUMP_IF_EQUAL = 0x15;
const JUMP_IF_BITS = 0x45;
const PACKET_TYPE = 0xfffff004;
const PACKET_PROTOCOL = 0xfffff000;
const OUTGOING = 4;

/** Lets packets to the session through that come from port 53, over TCP or UDP. */
const ANSWERS_OF_NAMES: readonly FilterInstruction[] = [
  [LOAD_WORD, 0, 0, PACKET_TYPE],
  [JUMP_IF_EQUAL, 0, 17, OUTGOING],
  [LOAD_WORD, 0, 0, PACKET_PROTOCOL],
  [JUMP_IF_EQUAL, 0, 8, 0x0800],
  [LOAD_BYTE, 0, 0, 9],
  [JUMP_IF_EQUAL, 1, 0, 17],
  [JUMP_IF_EQUAL, 0, 12, 6],
  [LOAD_HALF, 0, 0, 6],
  [JUMP_IF_BITS, 10, 0, 0x1fff],
  [LOAD_HEADER_LENGTH, 0, 0, 0],
  [LOAD_HALF_AFTER_HEADER, 0, 0, 0],
  [JUMP_IF_EQUAL, 6, 7, 53],
  [JUMP_IF_EQUAL, 0, 6, 0x86dd],
  [LOAD_BYTE, 0, 0, 6],
  [JUMP_IF_EQUAL, 1, 0, 17],
  [JUMP_IF_EQUAL, 0, 3, 6],
  [LOAD_HALF, 0, 0, 40],
  [JUMP_IF_EQUAL, 0, 1, 53],
  [RETURN, 0, 0, PACKET_BYTES_MAX],
  [RETURN, 0, 0, 0],
];

/** Names that an instance has been told the addresses of. */
export interface LearnedNames {
  instanceId: string;
  answers: DnsAnswer[];
}

/**
 * Reads along which names sessions ask for: the kernel keeps a copy of each answer that goes to them.
 *
 * Nothing that a session asks passes through here, so it resolves names whether this lives or not.
 */
export class NameWatch {
  readonly #sockets = new Map<string, number>();
  readonly #buffer = new Uint8Array(PACKET_BYTES_MAX);

  /** Begins to keep the answers that go to an instance; idempotent. */
  watch(instanceId: string, linkName: string): void {
    if (this.#sockets.has(instanceId)) return;
    this.#sockets.set(instanceId, openPacketSocket(linkName, ANSWERS_OF_NAMES, BUFFER_BYTES));
  }

  rename(fromId: string, toId: string): void {
    const fd = this.#sockets.get(fromId);
    if (fd === undefined) return;
    this.#sockets.delete(fromId);
    this.#sockets.set(toId, fd);
  }

  /** Forgets an instance; idempotent. Beside everything else: the kernel waits for all processors, some 8 ms. */
  forget(instanceId: string): void {
    const fd = this.#sockets.get(instanceId);
    this.#sockets.delete(instanceId);
    if (fd !== undefined) close(fd, () => {});
  }

  /** Returns what has been answered since the last time. */
  take(): LearnedNames[] {
    return [...this.#sockets].flatMap(([instanceId, fd]) => {
      const answers = this.#takeFrom(fd);
      return answers.length === 0 ? [] : [{ instanceId, answers }];
    });
  }

  close(): void {
    for (const instanceId of [...this.#sockets.keys()]) this.forget(instanceId);
  }

  #takeFrom(fd: number): DnsAnswer[] {
    const answers: DnsAnswer[] = [];
    for (let count = 0; count < PACKETS_AT_ONCE; count += 1) {
      const length = receivePacket(fd, this.#buffer);
      if (length === null) break;
      const message = messageInPacket(this.#buffer.subarray(0, length));
      const answer = message === null ? null : readAnswer(message);
      if (answer !== null) answers.push(answer);
    }
    return answers;
  }
}
