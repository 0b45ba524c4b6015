import { afterAll, beforeAll, expect, test } from "vitest";
import type { Session } from "../../src/index.ts";
import { TestTerminal } from "../support/test-terminal.ts";
import { openTestWaypoint, type TestWaypoint } from "../support/test-waypoint.ts";

/**
 * Holds /dev/tty in every way that we know of, and answers to each line on it what each descriptor
 * leads to: the kernel tells the terminal's number, whatever its name is.
 */
const HOLDER = `
import fcntl, os, pty, signal, socket, struct, sys, time

def terminal(fd):
    try: return "pts/%d" % (struct.unpack("I", fcntl.ioctl(fd, 0x80045432, b"0000"))[0] & 0xff)
    except OSError as error: return "hung up, reads %r" % os.read(fd, 1)

def child(start, work):
    here, there = socket.socketpair()
    pid = start()
    if pid == 0:
        fd = os.open("/dev/tty", os.O_RDWR)
        work(fd, there)
        while there.recv(1): there.send(terminal(fd).encode())
    return here

masters = []
def start_on_terminal():
    pid, master = pty.fork()
    masters.append(master)
    return pid

def leave(fd, there):
    os.setsid()
    for each in (0, 1, 2): os.dup2(os.open("/dev/null", os.O_RDWR), each)

def be_hung_up(fd, there):
    signal.signal(signal.SIGHUP, signal.SIG_IGN)
    leave_to_null = [os.dup2(os.open("/dev/null", os.O_RDWR), each) for each in (0, 1, 2)]

passing, passed = socket.socketpair()
def pass_on(fd, there): socket.send_fds(passing, [b"x"], [fd])

foreground = open("/dev/tty", "r+b", buffering=0)
write_only = os.open("/dev/tty", os.O_WRONLY)
children = {"left": child(os.fork, leave), "elsewhere": child(start_on_terminal, pass_on)}
got = socket.recv_fds(passed, 1, 1)[1][0]
children["hung up"] = child(start_on_terminal, be_hung_up)
def ask(there):
    there.send(b"?")
    return there.recv(100).decode()
ask(children["hung up"])
os.close(masters.pop())
flying, landing = socket.socketpair()
fd = os.open("/dev/tty", os.O_RDWR | os.O_NONBLOCK)
socket.send_fds(flying, [b"x"], [fd])
os.close(fd)

foreground.write(b"ready\\r\\n")
while True:
    mark = foreground.readline().strip().decode()
    landed = socket.recv_fds(landing, 1, 1, socket.MSG_DONTWAIT)[1][0]
    states = [terminal(foreground.fileno()), terminal(write_only), terminal(got), terminal(landed)]
    states += [ask(each) for each in children.values()]
    os.write(write_only, f"{mark}: {states} {fcntl.fcntl(landed, fcntl.F_GETFL) == 0o104002}\\r\\n".encode())
`;

const STATES = [
  ...["pts/0", "pts/0", "pts/1", "pts/0"],
  ...["pts/0", "pts/1", "hung up, reads b''"],
];

let own: TestWaypoint;

beforeAll(async () => {
  own = await openTestWaypoint();
});

afterAll(async () => {
  await own?.[Symbol.asyncDispose]();
});

async function startHolder(session: Session): Promise<void> {
  await session.exec(["sh", "-c", "cat > /srv/holder.py"], { shell: "own", input: HOLDER });
  await using terminal = await TestTerminal.attach(session);
  await terminal.type("clear; stty -echo columns 400; python3 /srv/holder.py\r");
  await terminal.waitFor(/^ready$/);
}

/** Types a word to the program, and returns what it says of its descriptors. */
async function ask(session: Session): Promise<string> {
  await using terminal = await TestTerminal.attach(session);
  await terminal.type("states\r");
  const [, states = ""] = await terminal.waitFor(/^states: (.*)/).catch(async (error: Error) => {
    const running = (await session.ps()).map((each) => `${each.state} ${each.command}`);
    throw new Error(`${error.message}\n${running.join("\n").slice(0, 2000)}`);
  });
  const lines = terminal.screen().map((line) => line.trimEnd());
  const first = lines.findIndex((line) => line.startsWith("states:"));
  return `${states.trimEnd()}${lines[first + 1]}`;
}

test("each descriptor of /dev/tty leads to its own terminal in a fork, in its fork and after a restore", async () => {
  const session = await own.waypoint.new();
  await startHolder(session);
  const checkpoint = await session.checkpoint();

  const [fork] = await checkpoint.fork();
  const again = await fork?.checkpoint();
  const [second] = (await again?.fork()) ?? [];
  const states = [await ask(session)];
  await session.restore(checkpoint);
  for (const each of [session, fork, second]) states.push(await ask(each as Session));

  const wanted = `[${STATES.map((state) => (state.includes("'") ? `"${state}"` : `'${state}'`)).join(", ")}] True`;
  expect(states).toEqual([wanted, wanted, wanted, wanted]);
});
