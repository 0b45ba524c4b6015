import { afterAll, beforeAll, expect, test } from "vitest";
import type { Session } from "../../src/index.ts";
import { eventually, openTestWaypoint, type TestWaypoint } from "../support/test-waypoint.ts";

const DIRECTORY = "/srv/moved";
const LONG = "long".repeat(40);

/**
 * Answers at each socket with what it is, and with the name that the socket says it has. All were bound to
 * one name, as programs do that make a socket aside and put it in place when it is ready.
 */
const SERVER = `import os, select, socket
os.makedirs("${DIRECTORY}/below", exist_ok=True); os.chdir("${DIRECTORY}")
served = {}
def serve(what, path="${DIRECTORY}/new", kind=socket.SOCK_STREAM):
    made = socket.socket(socket.AF_UNIX, kind)
    made.bind(path)
    if kind != socket.SOCK_DGRAM: made.listen()
    served[made] = what
    return made

serve("renamed"); os.chmod("new", 0o640); os.chown("new", 1, 2); os.rename("new", "renamed")
serve("freed", "${DIRECTORY}/taken"); os.rename("taken", "freed"); open("taken", "w").write("mine")
serve("linked"); os.link("new", "linked"); os.unlink("new")
serve("several"); os.link("new", "several"); os.link("new", "below/several"); os.unlink("new")
datagrams = serve("datagram", kind=socket.SOCK_DGRAM); os.rename("new", "datagram")
serve("packets", kind=socket.SOCK_SEQPACKET); os.rename("new", "packets")
serve("relative", "new"); os.rename("new", "below/relative")
serve("dotted", "below/../new"); os.rename("new", "dotted")
serve("both", "${DIRECTORY}/both"); os.link("both", "both.too")
serve("elsewhere", "${DIRECTORY}/below/deep"); os.mkdir("was"); os.rename("below/deep", "was/deep"); os.rename("was", "is")
serve("bytes"); os.rename("new", b"by\\xfftes \\n")
serve("long"); os.link("new", "${LONG}"); os.rename("new", "short")
serve("gone"); os.unlink("new")
serve("abstract", "\\0${DIRECTORY}")
client = socket.socket(socket.AF_UNIX); client.connect("renamed")
accepted = next(iter(served)).accept()[0]
sender = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM); sender.connect("datagram")

def connected():
    client.send(b"stream"); sender.send(b"datagram")
    return accepted.recv(20) + b" " + datagrams.recv(20)

os.mkdir("jail")
if os.fork() == 0:
    os.chroot("jail")
    served.clear()
    serve("jailed", "/inside")
else:
    serve("last"); open("ready", "w").close()
while True:
    for ready in select.select(list(served), [], [])[0]:
        name = ready.getsockname()
        said = ("%s at %r, %r" % (served[ready], name, served[ready] == "last" and connected())).encode()
        if ready.type == socket.SOCK_DGRAM:
            ready.sendto(said, ready.recvfrom(10)[1])
        else:
            answered, _ = ready.accept()
            answered.sendall(said); answered.close()
`;

/** Connects to every socket that there is, and says which answers what, with owner and mode. */
const CLIENT = `import os, socket, stat
def ask(path, kind):
    asking = socket.socket(socket.AF_UNIX, kind)
    if kind == socket.SOCK_DGRAM: asking.bind("\\0asking.%d" % os.getpid())
    os.chdir(os.path.dirname(path)) if not path.startswith("\\0") else None
    name = path if path.startswith("\\0") else os.path.basename(path)
    if len(os.fsencode(name)) > 100: os.symlink(path, "/tmp/short"); name = "/tmp/short"
    asking.connect(name)
    if kind == socket.SOCK_DGRAM: asking.send(b"?")
    asking.settimeout(20)
    answer = asking.recv(200).decode()
    if name == "/tmp/short": os.unlink(name)
    return answer
for directory, _, names in sorted(os.walk("${DIRECTORY}")):
    for path in sorted(os.path.join(directory, name) for name in names):
        status = os.lstat(path)
        if not stat.S_ISSOCK(status.st_mode): continue
        kind = socket.SOCK_DGRAM if path.endswith("datagram") else socket.SOCK_SEQPACKET if path.endswith("packets") else socket.SOCK_STREAM
        try: answer = ask(path, kind)
        except OSError as error: answer = repr(error)
        print(ascii(path), answer, status.st_uid, status.st_gid, oct(status.st_mode), status.st_nlink)
print(ask("\\0${DIRECTORY}", socket.SOCK_STREAM), open("${DIRECTORY}/taken").read())
`;

let own: TestWaypoint;

beforeAll(async () => {
  own = await openTestWaypoint();
});

afterAll(async () => {
  await own?.[Symbol.asyncDispose]();
});

const look = async (session: Session) => {
  const { stdout, stderr } = await session.exec("/usr/bin/python3 /srv/client.py", {
    shell: "own",
  });
  return stdout + stderr;
};

async function startServer(): Promise<Session> {
  const session = await own.waypoint.new();
  await session.exec(["tee", "/srv/server.py"], { shell: "own", input: SERVER });
  await session.exec(["tee", "/srv/client.py"], { shell: "own", input: CLIENT });
  await session.exec("/usr/bin/python3 /srv/server.py 2> /srv/errors &");
  await eventually(
    "the sockets",
    () =>
      session.exec(`cat /srv/errors; ls ${DIRECTORY}/ready ${DIRECTORY}/jail/inside`, {
        shell: "own",
      }),
    ({ exitCode }) => exitCode === 0,
  );
  return session;
}

test("sockets that were renamed or linked answer where they were, in restores and forks", async () => {
  const session = await startServer();
  const before = await look(session);
  const checkpoint = await session.checkpoint();
  const [fork] = await checkpoint.fork();
  const [grandchild] = await (await (fork as Session).checkpoint()).fork();
  await session.restore(checkpoint, { check: true });

  expect(before).not.toContain("Error");
  expect(before).toContain("b'stream datagram'");
  expect(before.split("\n")).toHaveLength(19);
  for (const each of [session, fork as Session, grandchild as Session])
    expect(await look(each)).toBe(before);
});
