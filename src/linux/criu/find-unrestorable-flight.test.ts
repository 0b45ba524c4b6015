import { expect, test } from "vitest";
import type { WireMessage } from "../../formats/criu-images/index.ts";
import { findUnsendable } from "./find-unrestorable-flight.ts";
import type { Message } from "./rights-in-flight.ts";

const UNIX = { type: 5, dgram: 2, stream: 1 };
const TIMER_TYPE = 17;

function bytes(numbers: Record<number, number>): Buffer {
  return Buffer.from(
    Object.entries(numbers).flatMap(([field, value]) => [Number(field) << 3, value]),
  );
}

/** An entry of files.img: a unix socket whose inode is its id, and the inode of its other end. */
function socket(id: number, { peer = 0, kind = UNIX.stream, state = 1 } = {}): WireMessage {
  const entry = bytes({ 1: id, 2: id, 3: kind, 4: state, 8: peer });
  return new Map<number, (bigint | Buffer)[]>([
    [1, [BigInt(UNIX.type)]],
    [2, [BigInt(id)]],
    [16, [entry]],
  ]);
}

function file(id: number, type: number): WireMessage {
  return new Map([
    [1, [BigInt(type)]],
    [2, [BigInt(id)]],
  ]);
}

/** What process 7 has open, and the messages that are on their way. */
function find(files: WireMessage[], open: number[], messages: Message[]) {
  return findUnsendable({
    files,
    open: open.map((id) => ({ pid: 7, id, descriptor: id })),
    messages,
  });
}

const PAIR = [socket(1, { peer: 2 }), socket(2, { peer: 1 })];
const INNER = [socket(3, { peer: 4 }), socket(4, { peer: 3 })];

test("a socket that is in flight in itself, or whose two ends are, is found", () => {
  expect(find(PAIR, [2], [{ receiver: 2, rights: [1] }])).toMatchObject({
    reason: "in_flight",
    pid: 7,
  });
  const within: Message = { receiver: 4, rights: [9] };
  const both: Message = { receiver: 2, rights: [3, 4] };
  expect(find([...PAIR, ...INNER], [1, 2], [within, both])).toMatchObject({ pid: 7 });
  expect(find([...PAIR, ...INNER], [1, 2], [both, within])).toBe(null);
});

test("descriptors in flight in a socket with an end that is open are none", () => {
  const messages = [
    { receiver: 4, rights: [9] },
    { receiver: 2, rights: [4] },
  ];

  expect(find([...PAIR, ...INNER], [1, 2, 3], messages)).toBe(null);
});

test("a datagram socket to which nobody is connected must be open", () => {
  const receiver = socket(5, { kind: UNIX.dgram, state: 7 });
  const message = { receiver: 2, rights: [5] };

  expect(find([...PAIR, receiver], [1, 2], [message])).toMatchObject({ pid: 7 });
  expect(find([...PAIR, receiver], [1, 2, 5], [message])).toBe(null);
});

test("a timer must be open, another file need not", () => {
  const message = { receiver: 2, rights: [6] };

  expect(find([...PAIR, file(6, TIMER_TYPE)], [1, 2], [message])?.resource).toBe(
    "a timerfd in flight",
  );
  expect(find([...PAIR, file(6, TIMER_TYPE)], [1, 2, 6], [message])).toBe(null);
  expect(find([...PAIR, file(6, 1)], [1, 2], [message])).toBe(null);
});

test("descriptors in both directions between two processes are found", () => {
  const messages = [
    { receiver: 1, rights: [9] },
    { receiver: 2, rights: [9] },
  ];
  const between = (sender: number, reader: number) =>
    findUnsendable({
      files: PAIR,
      open: [
        { pid: sender, id: 1, descriptor: 3 },
        { pid: reader, id: 2, descriptor: 4 },
      ],
      messages,
    });

  expect(between(7, 8)).toMatchObject({ reason: "in_flight", pid: 7 });
  expect(between(7, 7)).toBe(null);
});
