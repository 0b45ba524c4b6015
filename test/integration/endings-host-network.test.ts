import { createServer } from "node:net";
import { afterAll, beforeAll, expect, test } from "vitest";
import { type Checkpoint, hasCode, type Session } from "../../src/index.ts";
import { cutImagesShort } from "../support/run-in-daemon.ts";
import { eventually, openTestWaypoint, type TestWaypoint } from "../support/test-waypoint.ts";

/** Answers with a word that only its memory knows, and takes a new one from the path. */
const SERVER = `
import http.server, sys
word = "first"
class Handler(http.server.BaseHTTPRequestHandler):
    def do_GET(self):
        global word
        word = self.path[1:] or word
        self.send_response(200)
        self.end_headers()
        self.wfile.write(word.encode())
    def log_message(self, *words):
        pass
http.server.HTTPServer(("127.0.0.1", int(sys.argv[1])), Handler).serve_forever()
`;

let own: TestWaypoint;
let port: number;
let session: Session;
let checkpoint: Checkpoint;

beforeAll(async () => {
  own = await openTestWaypoint();
  port = await freePort();
  session = await own.waypoint.new({ net: "host" });
  await session.exec(["tee", "/root/server.py"], { shell: "own", input: SERVER });
  await session.exec(`/usr/bin/python3 /root/server.py ${port} &`);
  await eventually(
    "a server that answers",
    () => ask().catch(() => null),
    (answer) => answer === "first",
  );
  checkpoint = await session.checkpoint();
});

afterAll(async () => {
  await own?.[Symbol.asyncDispose]();
});

async function ask(word = ""): Promise<string> {
  return await (await fetch(`http://127.0.0.1:${port}/${word}`)).text();
}

test("on the host's network a restore takes over the port, and an undo does", async () => {
  await ask("second");

  await session.restore(checkpoint);
  expect(await ask()).toBe("first");

  await session.undo();
  expect(await ask()).toBe("second");
});

test("on the host's network a fork is refused", async () => {
  await expect(checkpoint.fork()).rejects.toSatisfy((error: unknown) =>
    hasCode(error, "FORK_REFUSED"),
  );
});

test("on the host's network a failed restore brings the session back as it was", async () => {
  await ask("third");
  const bad = await session.checkpoint();
  await ask("fourth");
  await cutImagesShort(own, bad);

  await expect(session.restore(bad)).rejects.toSatisfy((error: unknown) =>
    hasCode(error, "CHECKPOINT_INCOMPLETE"),
  );

  expect((await session.info()).state).toBe("running");
  expect(await ask()).toBe("fourth");
  await session.restore(checkpoint);
  expect(await ask()).toBe("first");
});

async function freePort(): Promise<number> {
  const server = createServer();
  await new Promise<void>((resolve) => {
    server.listen(0, "127.0.0.1", resolve);
  });
  const address = server.address();
  await new Promise((resolve) => server.close(resolve));
  if (address === null || typeof address === "string") throw new Error("no port");
  return address.port;
}
