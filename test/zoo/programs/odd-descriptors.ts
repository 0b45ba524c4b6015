import { pythonHolder } from "../python-holder.ts";

/** Queues keep what was put into them, and each end still knows whether there is another. */
export const oddDescriptors = pythonHolder(
  "queued data, descriptors and signals; pipes without an end; packet, raw and unaccepted sockets",
  `
import errno, fcntl, os, select, signal, socket as s, subprocess, termios
def put(path, text): open(path, "w").write(text); return path
signal.pthread_sigmask(signal.SIG_BLOCK, [signal.SIGUSR1])
signal.signal(signal.SIGPIPE, signal.SIG_IGN)
_, no_reader = os.pipe(); os.close(_)
no_writer, _ = os.pipe(); os.write(_, b"left"); os.close(_)
packets = s.socketpair(s.AF_UNIX, s.SOCK_SEQPACKET)
datagrams = s.socketpair(s.AF_UNIX, s.SOCK_DGRAM)
passing = s.socketpair()
listener = s.socket(s.AF_UNIX); listener.bind("/root/listener"); listener.listen()
waiting = s.socket(s.AF_UNIX); waiting.connect("/root/listener")
server = s.create_server(("127.0.0.1", 0))
half = s.create_connection(server.getsockname()); other_half = server.accept()[0]
half.sendall(b"last"); half.shutdown(s.SHUT_WR)
wire = s.socket(s.AF_PACKET, s.SOCK_RAW, s.htons(0x800)); wire.bind(("lo", 0))
raw = s.socket(s.AF_INET, s.SOCK_RAW, s.IPPROTO_ICMP)
epoll = select.epoll(); _ = os.pipe(); woken = os.dup(_[0]); epoll.register(_[0]); os.close(_[0])
inner = select.epoll(); inner.register(_[1], 0); epoll.register(inner.fileno(), select.EPOLLIN)
terminal = os.openpty(); os.write(terminal[0], b"typed ahead\\n")
unnamed = os.open("/root", os.O_TMPFILE | os.O_RDWR)
pointer = os.open("/etc/hostname", os.O_PATH)
listing = open("/proc/self/status")
sealed = os.memfd_create("sealed", os.MFD_ALLOW_SEALING)
os.write(sealed, b"sealed"); fcntl.fcntl(sealed, fcntl.F_ADD_SEALS, fcntl.F_SEAL_WRITE)
state = "none"
def fill():
    for pair in (packets, datagrams): pair[0].send(state.encode()); pair[0].send(b"second")
    held = open(put("/root/passed", state)); s.send_fds(passing[0], [b"one"], [held.fileno()]); held.close()
    os.kill(os.getpid(), signal.SIGUSR1)
    os.pwrite(unnamed, state.encode().ljust(16), 0)
def drain():
    message, passed, *_ = s.recv_fds(passing[1], 10, 1)
    text = os.pread(passed[0], 100, 0); os.close(passed[0])
    pending = [int(number) for number in signal.sigpending()]; signal.sigwait([signal.SIGUSR1])
    return [*(pair[1].recv(100) for pair in (packets, datagrams) for _ in "12"), message, text, pending]
def refusal(call, *words):
    try: return call(*words)
    except OSError as error: return errno.errorcode[error.errno]
def seen_on_wire():
    wire.settimeout(20)
    with s.socket(s.AF_INET, s.SOCK_DGRAM) as sender: sender.sendto(b"on the wire", ("127.0.0.1", 9))
    while b"on the wire" not in wire.recv(2000): pass
    return True
def see():
    queued = drain(); fill()
    listing.seek(0)
    return str([
        queued, refusal(os.write, no_reader, b"x"), fcntl.fcntl(sealed, fcntl.F_GET_SEALS),
        refusal(os.write, sealed, b"x"), os.pread(unnamed, 16, 0), os.readlink(f"/proc/self/fd/{pointer}"),
        listing.readline(), select.select([listener, no_writer, other_half], [], [], 0)[0] == [listener, no_writer, other_half],
        seen_on_wire(), raw.getsockopt(s.SOL_SOCKET, s.SO_TYPE),
        os.ttyname(terminal[1]), termios.tcgetattr(terminal[1])[3], select.select([terminal[1]], [], [], 0)[0] == [terminal[1]],
        len(epoll.poll(0)),
    ])
def change(mark):
    global state
    drain(); state = mark; fill()
fill()
`,
);
