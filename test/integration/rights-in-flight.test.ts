import { afterAll, beforeAll, expect, test } from "vitest";
import { openTestWaypoint, type TestWaypoint } from "../support/test-waypoint.ts";

/** Passes a descriptor between a process and its child; the other one reads it when /srv/go is there. */
const PASSER = `
import os, socket, sys, time
_, sender, what, kept = sys.argv
a, b = socket.socketpair()
is_sender = (os.fork() == 0) == (sender == "child")
if is_sender:
    b.close()
    r, w = os.pipe()
    os.write(w, b"in the pipe")
    fd = r if what == "pipe" else os.open("/etc/hosts", os.O_RDONLY)
    socket.send_fds(a, [b"with"], [fd])
    a.send(b"after")
    if kept == "closed": os.close(fd)
    open("/srv/sent", "w").write("yes")
    time.sleep(1000)
a.close()
while not os.path.exists("/srv/go"): time.sleep(0.02)
b.settimeout(2)
got = []
for _ in range(2):
    try: data, fds, *_ = socket.recv_fds(b, 4, 1)
    except TimeoutError: break
    got += [data.decode()] + [os.read(fd, 11).decode() for fd in fds]
open("/srv/got.new", "w").write(repr(got))
os.rename("/srv/got.new", "/srv/got")
time.sleep(1000)
`;
const START = 'cat > /srv/p.py; setsid python3 /srv/p.py "$@" </dev/null >/dev/null 2>&1 &';
const AWAIT = (path: string) => `while [ ! -e ${path} ]; do sleep 0.02; done`;

let own: TestWaypoint;

beforeAll(async () => {
  own = await openTestWaypoint();
});

afterAll(async () => {
  await own?.[Symbol.asyncDispose]();
});

test.each(
  ["parent", "child"].flatMap((sender) =>
    ["file kept", "pipe closed"].map((what) => ({ sender, what })),
  ),
)(
  "a $what that the $sender has passed on arrives in a fork and after each restore",
  async (each) => {
    const session = await own.waypoint.new();
    await session.exec(
      ["sh", "-c", `${START}\n${AWAIT("/srv/sent")}`, "sh", each.sender, ...each.what.split(" ")],
      { shell: "own", input: PASSER },
    );
    const checkpoint = await session.checkpoint();
    const [fork] = await checkpoint.fork();

    const got: string[] = [];
    const take = ["sh", "-c", `touch /srv/go; ${AWAIT("/srv/got")}; cat /srv/got`];
    for (let round = 0; round < 3; round++) {
      await session.restore(checkpoint);
      got.push((await session.exec(take, { shell: "own" })).stdout);
    }
    got.push((await fork?.exec(take, { shell: "own" }))?.stdout ?? "");

    const content = each.what === "pipe closed" ? "in the pipe" : (await hosts()).slice(0, 11);
    const wanted = `['with', ${quoted(content)}, 'afte']`;
    expect(got).toEqual([wanted, wanted, wanted, wanted]);
  },
);

async function hosts(): Promise<string> {
  const session = await own.waypoint.new();
  return (await session.exec("cat /etc/hosts")).stdout;
}

/** As Python writes a text. */
function quoted(text: string): string {
  return `'${text.replaceAll("\t", "\\t").replaceAll("\n", "\\n")}'`;
}
