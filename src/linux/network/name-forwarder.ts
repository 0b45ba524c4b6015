import { createSocket, type RemoteInfo, type Socket as UdpSocket } from "node:dgram";
import { once } from "node:events";
import { createServer, isIPv6, type Server, type Socket } from "node:net";
import { type DnsAnswer, readAnswer, readQuestion, refuse } from "../../formats/dns/index.ts";
import { allowedPorts, type NetAllowEntry } from "../../shared/protocol/index.ts";
import { askUpstream, firstMessage, withLength } from "./ask-upstream.ts";

/** Questions of one session that are under way; further ones are dropped, and asked again. */
const OPEN_QUESTIONS_MAX = 64;
const CONNECTIONS_MAX = 16;
const CONNECTION_TIMEOUT_MS = 10_000;
const QUESTION_BYTES_MAX = 1024;
const PORT_ATTEMPTS_MAX = 20;

/** What a forwarder is told. */
export interface ForwarderOptions {
  /** Addresses of the host's end of the link, one for each family. */
  addresses: readonly string[];
  servers: readonly string[];
  entries: readonly NetAllowEntry[];
  /** Opens the addresses of an allowed name; they are answered when it is done. */
  open: (answer: DnsAnswer, ports: readonly (number | null)[]) => Promise<void>;
}

/**
 * Answers the names that one session may reach, and refuses all others.
 *
 * What it is sent is foreign: anything but one plain question is refused or dropped.
 */
export class NameForwarder {
  readonly #options: ForwarderOptions;
  readonly #udp: UdpSocket[] = [];
  readonly #servers: Server[] = [];
  readonly #connections = new Set<Socket>();
  #openQuestions = 0;

  private constructor(options: ForwarderOptions) {
    this.#options = options;
  }

  /** Listens on a free port, the same at all addresses. **On failure** nothing listens. */
  static async open(
    options: ForwarderOptions,
  ): Promise<{ forwarder: NameForwarder; port: number }> {
    for (let attempt = 1; ; attempt += 1) {
      const forwarder = new NameForwarder(options);
      try {
        return { forwarder, port: await forwarder.#listen() };
      } catch (error) {
        forwarder.close();
        if (attempt >= PORT_ATTEMPTS_MAX) throw error;
      }
    }
  }

  close(): void {
    for (const socket of this.#udp) socket.close();
    for (const server of this.#servers) server.close();
    for (const connection of this.#connections) connection.destroy();
  }

  async #listen(): Promise<number> {
    let port = 0;
    for (const address of this.#options.addresses) {
      const socket = createSocket(isIPv6(address) ? "udp6" : "udp4");
      this.#udp.push(socket);
      // A session that goes away takes the address with it.
      socket.on("error", () => {});
      socket.on("message", (question, from) => void this.#answerDatagram(socket, question, from));
      socket.bind({ address, port, exclusive: true });
      await once(socket, "listening");
      port = socket.address().port;
      const server = createServer((connection) => this.#accept(connection));
      this.#servers.push(server);
      server.maxConnections = CONNECTIONS_MAX;
      server.listen({ host: address, port });
      await once(server, "listening");
      server.on("error", () => {});
      server.unref();
      socket.unref();
    }
    return port;
  }

  async #answerDatagram(socket: UdpSocket, question: Buffer, from: RemoteInfo): Promise<void> {
    const answer = await this.#answer(question, false);
    if (answer === null) return;
    try {
      socket.send(answer, from.port, from.address, () => {});
    } catch {
      // It was closed meanwhile.
    }
  }

  #accept(connection: Socket): void {
    this.#connections.add(connection);
    connection.setTimeout(CONNECTION_TIMEOUT_MS, () => connection.destroy());
    connection.on("error", () => connection.destroy());
    connection.on("close", () => this.#connections.delete(connection));
    void this.#serve(connection).catch(() => connection.destroy());
  }

  async #serve(connection: Socket): Promise<void> {
    let received = Buffer.alloc(0);
    for await (const chunk of connection) {
      received = Buffer.concat([received, chunk as Buffer]);
      for (let next = firstMessage(received); next !== null; next = firstMessage(received)) {
        received = received.subarray(2 + next.length);
        const answer = await this.#answer(next, true);
        if (answer === null) return void connection.destroy();
        connection.write(withLength(answer));
      }
      if (received.length > QUESTION_BYTES_MAX + 2) return void connection.destroy();
    }
  }

  /** Returns the answer to a question, `null` for none. */
  async #answer(message: Uint8Array, overTcp: boolean): Promise<Uint8Array | null> {
    if (message.length > QUESTION_BYTES_MAX || this.#openQuestions >= OPEN_QUESTIONS_MAX)
      return null;
    const question = readQuestion(message);
    const ports =
      question === null ? undefined : allowedPorts(this.#options.entries, question.name);
    if (question === null || ports === undefined) return refuse(message);
    this.#openQuestions += 1;
    try {
      const answer = await askUpstream(this.#options.servers, message, overTcp);
      const found = answer === null ? null : readAnswer(answer);
      if (found !== null && found.name === question.name) await this.#options.open(found, ports);
      return answer;
    } catch {
      // An address that could not be opened is not answered: whoever asks again may fare better.
      return null;
    } finally {
      this.#openQuestions -= 1;
    }
  }
}
