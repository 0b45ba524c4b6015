import { pythonHolder } from "../python-holder.ts";

/** All are watched by one epoll, whose answers are part of the state. */
export const descriptors = pythonHolder(
  "eventfd, timerfd, signalfd, epoll, inotify, pidfd",
  `
import ctypes, os, select, signal, struct
libc = ctypes.CDLL(None, use_errno=True)
os.makedirs("/root/watched", exist_ok=True)
child = os.fork()
if child == 0: signal.pause()
signal.pthread_sigmask(signal.SIG_BLOCK, [signal.SIGUSR1])
mask = (ctypes.c_ulong * 16)(1 << (signal.SIGUSR1 - 1))
names = {
    os.eventfd(0, os.EFD_NONBLOCK): "event",
    libc.timerfd_create(1, 0): "timer",
    libc.signalfd(-1, mask, 0): "signal",
    libc.inotify_init1(0): "watch",
    os.pidfd_open(child): "child",
}
by_name = {name: fd for fd, name in names.items()}
assert min(names) >= 0
assert libc.inotify_add_watch(by_name["watch"], b"/root/watched", 0x100) >= 0
spec = struct.pack("qqqq", 0, 0, 0, 1000000)
epoll = select.epoll()
for fd in names: epoll.register(fd, select.EPOLLIN)
state = []
def drain(wanted):
    got = set()
    while not wanted <= got:
        for fd, _ in epoll.poll(20):
            os.read(fd, 4096)
            got.add(names[fd])
    return sorted(got)
def see(): return f"{state} {os.waitpid(child, os.WNOHANG)}"
def change(mark):
    os.eventfd_write(by_name["event"], 3)
    assert libc.timerfd_settime(by_name["timer"], 0, spec, None) == 0
    os.kill(os.getpid(), signal.SIGUSR1)
    open(f"/root/watched/{mark}", "w").close()
    state.append((mark, drain({"event", "timer", "signal", "watch"})))
`,
);
