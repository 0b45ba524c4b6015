import { encode } from "dns-packet";
import { expect, test } from "vitest";
import { messageInPacket, readAnswer, readQuestion, refuse } from "./index.ts";

const NAME = "api.example.com";
const questions = [{ type: "A", name: NAME, class: "IN" }] as const;
const QUESTION = encode({ id: 7, type: "query", flags: 0x0100, questions: [...questions] });
const ANSWER = encode({
  ...{ id: 7, type: "response", questions: [...questions] },
  answers: [
    { type: "CNAME", name: NAME, ttl: 5, data: "cdn.example.net" },
    { type: "A", name: "cdn.example.net", ttl: 60, data: "192.0.2.7" },
    { type: "AAAA", name: "cdn.example.net", ttl: 60, data: "fd00::7" },
  ],
});

function ipv4(protocol: number, transport: Uint8Array): Uint8Array {
  return Buffer.concat([
    Buffer.from([0x45, 0, 0, 0, 0, 0, 0, 0, 64, protocol]),
    Buffer.alloc(10),
    transport,
  ]);
}
const UDP = Buffer.concat([Buffer.from([0, 53, 0x80, 0, 0, 0, 0, 0]), ANSWER]);
function tcp(message: Uint8Array): Uint8Array {
  const header = Buffer.alloc(22);
  header.writeUInt16BE(53);
  header[12] = 5 << 4;
  header.writeUInt16BE(message.length, 20);
  return Buffer.concat([header, message]);
}

test("a question and an answer, with the name that was asked for", () => {
  expect(readQuestion(QUESTION)).toEqual({ id: 7, name: NAME, type: "A" });
  expect(readAnswer(ANSWER)).toEqual({
    name: NAME,
    addresses: [
      { address: "192.0.2.7", ttlS: 60 },
      { address: "fd00::7", ttlS: 60 },
    ],
  });
  expect(readAnswer(QUESTION)).toBeNull();
  expect(readQuestion(ANSWER)).toBeNull();
});

test("nothing of a name reaches a terminal but plain characters", () => {
  const name = "Red\u001b[31m \u00e4\\.Example.com";
  const asked = encode({ type: "query", questions: [{ type: "A", name, class: "IN" }] });
  expect(readQuestion(asked)?.name).toBe("red\\027[31m\\032\\195\\164\\092.example.com");
});

test("a refusal has the id and the question", () => {
  const refusal = Buffer.from(refuse(QUESTION) ?? []);
  expect(refusal.readUInt16BE(0)).toBe(7);
  expect((refusal[3] ?? 0) & 15).toBe(5);
  expect(refusal.includes("example")).toBe(true);
});

test("what is cut or random is nothing, and never thrown", () => {
  for (let length = 0; length < ANSWER.length; length += 1) {
    expect(() => readAnswer(ANSWER.subarray(0, length))).not.toThrow();
    expect(() => readQuestion(QUESTION.subarray(0, length))).not.toThrow();
    expect(() => refuse(QUESTION.subarray(0, length))).not.toThrow();
  }
  // A name that points at itself.
  const loop = Buffer.concat([QUESTION.subarray(0, 12), Buffer.from([0xc0, 12, 0, 1, 0, 1])]);
  expect(readQuestion(loop)).toBeNull();
});

test("an answer is found in packets of both families and both transports", () => {
  const ipv6 = Buffer.concat([Buffer.from([0x60, 0, 0, 0, 0, 0, 17, 64]), Buffer.alloc(32), UDP]);
  for (const packet of [ipv4(17, UDP), ipv4(6, tcp(ANSWER)), ipv6]) {
    expect(readAnswer(messageInPacket(packet) ?? new Uint8Array())?.name).toBe(NAME);
  }
});

test("packets that are cut, or of others, hold none", () => {
  const whole = ipv4(6, tcp(ANSWER));
  for (let length = 0; length < whole.length; length += 1) {
    expect(messageInPacket(whole.subarray(0, length))).toBeNull();
  }
  expect(messageInPacket(ipv4(1, UDP))).toBeNull();
  expect(messageInPacket(ipv4(17, Buffer.from([0, 54, 0, 0, 0, 0, 0, 0, ...ANSWER])))).toBeNull();
});
