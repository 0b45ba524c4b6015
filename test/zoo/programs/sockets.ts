import { pythonHolder } from "../python-holder.ts";

/** Each pair has one end in a child, which sends back what it gets. */
export const sockets = pythonHolder(
  "sockets between processes: TCP, UDP, unix of each type, pairs",
  `
import os, select, socket as s
def connected(family, kind, address):
    server = s.socket(family, kind); server.bind(address); server.listen()
    client = s.socket(family, kind); client.connect(server.getsockname())
    return client, server.accept()[0]
def datagrams(family, addresses):
    ends = [s.socket(family, s.SOCK_DGRAM) for _ in addresses]
    for end, address in zip(ends, addresses): end.bind(address)
    for end, other in zip(ends, reversed(ends)): end.connect(other.getsockname())
    return ends
pairs = {
    "tcp4": connected(s.AF_INET, s.SOCK_STREAM, ("127.0.0.1", 0)),
    "tcp6": connected(s.AF_INET6, s.SOCK_STREAM, ("::1", 0)),
    "unix": connected(s.AF_UNIX, s.SOCK_STREAM, "/tmp/stream"),
    "abstract": connected(s.AF_UNIX, s.SOCK_STREAM, "\\0zoo"),
    "packets": connected(s.AF_UNIX, s.SOCK_SEQPACKET, "/tmp/packets"),
    "udp4": datagrams(s.AF_INET, [("127.0.0.1", 0), ("127.0.0.1", 0)]),
    "datagrams": datagrams(s.AF_UNIX, ["/tmp/d1", "/tmp/d2"]),
    "pair": s.socketpair(s.AF_UNIX, s.SOCK_STREAM),
    "dgram pair": s.socketpair(s.AF_UNIX, s.SOCK_DGRAM),
}
netlink = s.socket(s.AF_NETLINK, s.SOCK_RAW, 0); netlink.bind((0, 0))
if os.fork() == 0:
    ends = [there for _, there in pairs.values()]
    while True:
        for end in select.select(ends, [], [])[0]: end.send(end.recv(100) + b"!")
state = {}
def see(): return str(state)
def change(mark):
    for name, (here, _) in pairs.items():
        here.settimeout(20)
        here.send(f"{name} {mark}".encode()); state[name] = here.recv(100).decode()
`,
);
