import { spawn, spawnSync } from "node:child_process";
import path from "node:path";
import { nativePath } from "../../src/linux/host/index.ts";
import type { SessionNetwork } from "../../src/linux/network/index.ts";

export const NETNS_DIR = "/run/netns";
export const LINK_MAKER = nativePath(path.resolve(import.meta.dirname, "../.."), "link-maker");
export const FORWARD = "/proc/sys/net/ipv4/ip_forward";
/** The world has no route back to the sessions: only translated packets get an answer. */
export const WORLD_ADDRESS = "198.51.100.2";
export const HOST_ADDRESS = "198.51.100.1";
export const ECHO_SERVER = `
import socket, threading
def echo(connection, peer):
    connection.sendall((peer[0] + "\\n").encode())
    while True:
        data = connection.recv(100)
        if not data: return
        connection.sendall(data)
server = socket.create_server(("", 8000))
while True:
    threading.Thread(target=echo, args=server.accept(), daemon=True).start()
`;
export const NAME_SERVER = `
import socket, threading
names = socket.socket(socket.AF_INET6, socket.SOCK_DGRAM); names.bind(("::", 53))
def answer_names():
    while True:
        query, peer = names.recvfrom(512)
        names.sendto(query[:2] + b"\\x81\\x80" + query[4:], peer)
threading.Thread(target=answer_names, daemon=True).start()
`;

export const HOST_NAMESPACE = { netnsPath: "/proc/self/ns/net", address: null, linkIndex: null };

export function enter(session: SessionNetwork): string[] {
  return [`--net=${session.netnsPath}`, "--"];
}

export function run(session: SessionNetwork, command: string): string {
  return spawnSync("nsenter", [...enter(session), "sh", "-c", command], { encoding: "utf8" })
    .stdout;
}

/**
 * First line of the server at an address, which is the client's address as it sees it; "" when it does
 * not answer in `limitS`.
 */
export function reach(session: SessionNetwork, address: string, limitS = 10): string {
  const script = `exec 3<>/dev/tcp/${address}/8000 && read -u3 line && echo $line`;
  return run(session, `timeout ${limitS} bash -c '${script}' 2>/dev/null`).trim();
}

const ASK = `import socket, sys
family = socket.AF_INET6 if ":" in sys.argv[1] else socket.AF_INET
s = socket.socket(family, socket.SOCK_DGRAM); s.settimeout(10)
s.connect((sys.argv[1], 53)); s.send(b"\\x12\\x34\\x01\\x00\\x00\\x01\\x00\\x00\\x00\\x00\\x00\\x00")
print("answered" if s.recv(512)[:2] == b"\\x12\\x34" else "wrong")`;

export function askName(session: SessionNetwork, server: string): string {
  return spawnSync("nsenter", [...enter(session), "/usr/bin/python3", "-c", ASK, server], {
    encoding: "utf8",
  }).stdout.trim();
}

/** Like {@link askName}, while this process answers. */
export async function askNameLater(session: SessionNetwork, server: string): Promise<string> {
  const child = spawn("nsenter", [...enter(session), "/usr/bin/python3", "-c", ASK, server]);
  let said = "";
  for await (const chunk of child.stdout) said += String(chunk);
  return said.trim();
}

const SEND_FRAME = `import socket, struct, sys
interface, mac, source, target, port, word = sys.argv[1:]
def checksum(header):
    total = sum(struct.unpack("!10H", header))
    return ~((total >> 16) + (total & 0xffff)) & 0xffff
data = struct.pack("!4H", 4000, int(port), 8 + len(word), 0) + word.encode()
header = lambda sum: struct.pack("!BBHHHBBH4s4s", 0x45, 0, 20 + len(data), 0, 0, 64, 17, sum,
    socket.inet_aton(source), socket.inet_aton(target))
link = socket.socket(socket.AF_PACKET, socket.SOCK_RAW); link.bind((interface, 0x0800))
link.send(bytes.fromhex(mac.replace(":", "")) + link.getsockname()[4] + b"\\x08\\x00"
    + header(checksum(header(0))) + data)`;

/** Sends a datagram that a session has made itself, down to the frame, over its link. */
export function sendFrame(session: SessionNetwork, target: string, port: number): void {
  const link = spawnSync("ip", ["-o", "link", "show", `wp${session.linkIndex}`]).stdout;
  const mac = /link\/ether (\S+)/.exec(String(link))?.[1] ?? "";
  const words = ["eth0", mac, session.address ?? "", target, String(port), "made up"];
  const command = [...enter(session), "/usr/bin/python3", "-c", SEND_FRAME, ...words];
  const { status, stderr } = spawnSync("nsenter", command, { encoding: "utf8" });
  if (status !== 0) throw new Error(stderr);
}

export function hostState(): string {
  const { stdout } = spawnSync(
    "sh",
    [
      "-c",
      `nft list ruleset; ip -o link show | sed 's/.*: \\(.*\\)@.*/\\1/' | cut -d: -f1,2; ip -4 route; ls ${NETNS_DIR}; cat ${FORWARD}`,
    ],
    { encoding: "utf8" },
  );
  return stdout;
}

export function sh(script: string): void {
  const { status, stderr } = spawnSync("sh", ["-ec", script], { encoding: "utf8" });
  if (status !== 0) throw new Error(`${script}: ${stderr}`);
}
