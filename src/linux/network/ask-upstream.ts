import { randomInt } from "node:crypto";
import { createSocket } from "node:dgram";
import { once } from "node:events";
import { createConnection, isIPv6 } from "node:net";

const DNS_PORT = 53;
const TIMEOUT_MS = 3_000;
const MESSAGE_BYTES_MAX = 65_535;
const HEADER_BYTES = 12;

/**
 * Asks name servers, one after the other, until one answers.
 *
 * @returns its answer, with the id of the question; `null` when none has answered in time.
 */
export async function askUpstream(
  servers: readonly string[],
  question: Uint8Array,
  overTcp: boolean,
): Promise<Uint8Array | null> {
  // Whoever guesses answers for a server must guess this, too.
  const asked = Buffer.from(question);
  asked.writeUInt16BE(randomInt(0x10000), 0);
  for (const server of servers) {
    const answer = await (overTcp ? askOverTcp(server, asked) : askOverUdp(server, asked));
    if (answer === null || answer.length < HEADER_BYTES) continue;
    if (answer.readUInt16BE(0) !== asked.readUInt16BE(0)) continue;
    answer.set(question.subarray(0, 2));
    return answer;
  }
  return null;
}

async function askOverUdp(server: string, asked: Buffer): Promise<Buffer | null> {
  const socket = createSocket(isIPv6(server) ? "udp6" : "udp4");
  const signal = AbortSignal.timeout(TIMEOUT_MS);
  try {
    socket.connect(DNS_PORT, server);
    await once(socket, "connect", { signal });
    socket.send(asked);
    for (;;) {
      const [answer] = (await once(socket, "message", { signal })) as [Buffer];
      if (answer.length >= HEADER_BYTES && answer.readUInt16BE(0) === asked.readUInt16BE(0)) {
        return answer;
      }
    }
  } catch {
    return null;
  } finally {
    socket.close();
  }
}

async function askOverTcp(server: string, asked: Buffer): Promise<Buffer | null> {
  const socket = createConnection({ port: DNS_PORT, host: server, timeout: TIMEOUT_MS });
  const stop = setTimeout(() => socket.destroy(), TIMEOUT_MS);
  try {
    socket.on("timeout", () => socket.destroy());
    socket.write(withLength(asked));
    let received = Buffer.alloc(0);
    for await (const chunk of socket) {
      received = Buffer.concat([received, chunk as Buffer]);
      const message = firstMessage(received);
      if (message !== null) return message;
      if (received.length > MESSAGE_BYTES_MAX + 2) return null;
    }
    return null;
  } catch {
    return null;
  } finally {
    clearTimeout(stop);
    socket.destroy();
  }
}

/** Returns a message as it goes over TCP. */
export function withLength(message: Uint8Array): Buffer {
  const length = Buffer.alloc(2);
  length.writeUInt16BE(message.length);
  return Buffer.concat([length, message]);
}

/** Returns the first message of what came over TCP, `null` while it is not all there. */
export function firstMessage(received: Buffer): Buffer | null {
  if (received.length < 2) return null;
  const end = 2 + received.readUInt16BE(0);
  return received.length < end ? null : received.subarray(2, end);
}
