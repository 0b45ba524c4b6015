import net from "node:net";

/** Stands before a server and loses connections when it is told to. */
export class CuttingProxy implements AsyncDisposable {
  readonly #server: net.Server;
  readonly #sockets = new Set<net.Socket>();
  #cutsLeft = 0;
  #cutsDone = 0;
  #isAnswer: (data: Buffer) => boolean = () => true;

  private constructor(targetPort: number) {
    this.#server = net.createServer((client) => {
      const target = net.connect(targetPort, "127.0.0.1");
      const both = [client, target];
      const end = () => {
        for (const socket of both) socket.destroy();
      };
      for (const socket of both) {
        this.#sockets.add(socket);
        socket.on("error", end);
        socket.on("close", () => {
          this.#sockets.delete(socket);
          end();
        });
      }
      client.on("data", (data) => target.write(data));
      target.on("data", (data) => {
        if (this.#cutsLeft === 0 || !this.#isAnswer(data)) {
          client.write(data);
          return;
        }
        this.#cutsLeft -= 1;
        this.#cutsDone += 1;
        end();
      });
    });
  }

  static async open(targetPort: number): Promise<CuttingProxy> {
    const proxy = new CuttingProxy(targetPort);
    await new Promise<void>((resolve) => proxy.#server.listen(0, "127.0.0.1", resolve));
    return proxy;
  }

  get port(): number {
    return (this.#server.address() as net.AddressInfo).port;
  }

  /** How many answers were lost. */
  get cuts(): number {
    return this.#cutsDone;
  }

  /** Lets the server do what comes next, and loses its answers: so many of those that are meant. */
  loseAnswers(count: number, isAnswer: (data: Buffer) => boolean = () => true): void {
    this.#cutsLeft = count;
    this.#isAnswer = isAnswer;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    for (const socket of this.#sockets) socket.destroy();
    await new Promise((resolve) => this.#server.close(resolve));
  }
}
