import { expect } from "vitest";

/** What a program of a session can hold that CRIU refuses, and how that is said. */
export const HOLDERS = [
  {
    what: "a process that another one traces",
    program: `import ctypes, os, time
child = os.fork()
if child == 0: time.sleep(1000)
ctypes.CDLL(None).ptrace(0x4206, child, 0, 0)`,
    message: /^Process \d+ \(python3\) is traced by process \d+ \(python3\)\.$/,
    resource: "ptrace",
  },
  {
    what: "a large deleted file",
    program: `import os
f = open("/tmp/big", "w+b")
for i in range(257): f.write(bytes([i % 251]) * (1 << 20))
f.flush(); os.unlink("/tmp/big")`,
    message: /^Process \d+ \(python3\) has the deleted file \/tmp\/big of 257 MiB open, more than/,
    resource: "deleted file /tmp/big",
  },
  {
    what: "a connection that is not accepted",
    program: `import socket
s = socket.socket(); s.bind(("127.0.0.1", 4000)); s.listen()
c = socket.create_connection(("127.0.0.1", 4000))`,
    message:
      /^Process \d+ \(python3\) has a connection in its queue that it has not accepted yet\.$/,
    resource: "connection that is not yet accepted",
  },
  {
    what: "a datagram socket whose nameless peer went elsewhere",
    program: `import socket
a, b = socket.socketpair(socket.AF_UNIX, socket.SOCK_DGRAM)
c = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM); c.bind("/tmp/c"); b.connect("/tmp/c")`,
    message: /^Process \d+ \(python3\) has a unix socket whose other end is connected elsewhere/,
    resource: "unix socket",
  },
  {
    what: "a corked UDP socket",
    program: `import socket
s = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
s.setsockopt(17, 1, 1); s.connect(("127.0.0.1", 9)); s.send(b"x")`,
    message: /^Process \d+ \(python3\) has a UDP socket that holds back unsent data \(UDP_CORK\)/,
    resource: "corked UDP socket",
  },
  {
    what: "a POSIX message queue",
    program: `import ctypes
assert ctypes.CDLL(None).mq_open(b"/queue", 0o102, 0o600, None) >= 0`,
    message: /^Process \d+ \(python3\) has the POSIX message queue \/queue open \(descriptor 3\)/,
    resource: "POSIX message queue /queue (descriptor 3)",
  },
  {
    what: "a pidfd of a thread",
    program: `import ctypes, os
assert ctypes.CDLL(None).syscall(434, os.getpid(), 0o200) >= 0`,
    message: /^Process \d+ \(python3\) has a pidfd of a thread \(PIDFD_THREAD\)/,
    resource: "pidfd of a thread",
  },
  {
    what: "a memfd of huge pages",
    program: `import os
os.memfd_create("pool", 4)`,
    message: /^Process \d+ \(python3\) has the memfd pool of huge pages \(descriptor 3\)/,
    resource: "memfd pool (descriptor 3)",
  },
  {
    what: "a terminal that is open as a path only",
    program: `import os
os.open("/dev/tty", os.O_PATH)`,
    message: /^Process \d+ \(python3\) has \/dev\/tty open as a path only \(O_PATH\)/,
    resource: "/dev/tty (descriptor 3)",
  },
  {
    what: "a message with credentials that is not read yet",
    program: `import socket
here, there = socket.socketpair()
there.setsockopt(socket.SOL_SOCKET, socket.SO_PASSCRED, 1)
here.send(b"x")`,
    message:
      /^Process \d+ \(python3\) has a unix socket with a message .* who sent it \(SO_PASSCRED\)/,
    resource: "unread message with credentials",
  },
  {
    what: "a socket pair of two processes with a descriptor on its way in each direction",
    program: `import os, socket, time
here, there = socket.socketpair()
if os.fork() == 0:
    here.close()
    socket.send_fds(there, [b"x"], [0])
    time.sleep(1000)
there.close()
socket.send_fds(here, [b"x"], [0])`,
    message: /^Process \d+ \(python3\) has a unix socket .* descriptors in both directions/,
    resource: "descriptors in both directions in flight",
    isFoundAfterwards: true,
  },
  {
    what: "a terminal that is on its way in a message",
    program: `import os, pty, socket
here, there = socket.socketpair()
ends = pty.openpty()
socket.send_fds(here, [b"x"], ends)
for end in ends: os.close(end)`,
    message: /^Process \d+ \(python3\) has a unix socket .* a terminal is passed on \(SCM_RIGHTS\)/,
    resource: "terminal in flight",
  },
  {
    what: "a working directory that two processes share",
    program: `import ctypes, time
if ctypes.CDLL(None).syscall(56, 0x200 | 17, 0, 0, 0, 0) == 0: time.sleep(1000)`,
    message: /^Process \d+ \(python3\) shares its working directory and root \(CLONE_FS\)/,
    resource: "its working directory and root (CLONE_FS)",
  },
  {
    what: "an epoll that watches what only another process has",
    program: `import os, select, socket, time
here, there = socket.socketpair()
select_ends = select.epoll(); select_ends.register(here.fileno())
if os.fork() == 0: time.sleep(1000)
here.close()`,
    message: /^Process \d+ \(python3\) has an epoll that watches a file which it has closed/,
    resource: "epoll",
  },
  {
    what: "a process that may open no other file",
    program: `import os, resource, time
if os.fork() == 0:
    resource.setrlimit(resource.RLIMIT_NOFILE, (0, 0))
    time.sleep(1000)
time.sleep(0.5)`,
    message: /^Process \d+ \(python3\) may not open another file \(RLIMIT_NOFILE\)/,
    resource: "RLIMIT_NOFILE",
  },
  {
    what: "a process that waits for a vfork",
    program: `import ctypes, os, time
if os.fork() == 0:
    ctypes.CDLL(None).syscall(56, 0x4000 | 17, 0, 0, 0, 0)  # clone with CLONE_VFORK
    time.sleep(1000)`,
    message: /^Process \d+ \(python3\) could not be stopped in time: it waits in the kernel/,
    resource: "uninterruptible wait",
  },
  {
    what: "a pipe in packet mode",
    program: `import os
ends = os.pipe2(os.O_DIRECT)`,
    message: /^Process \d+ \(python3\) has a pipe in packet mode \(O_DIRECT\)/,
    resource: "pipe in packet mode",
  },
  {
    what: "more pipes than CRIU can note",
    program: `import os, resource
resource.setrlimit(resource.RLIMIT_NOFILE, (resource.getrlimit(resource.RLIMIT_NOFILE)[1],) * 2)
ends = [os.pipe() for _ in range(1025)]`,
    message: /^Process \d+ \(python3\) has a pipe that is one too many: more than 1024/,
    resource: "pipes",
  },
  {
    what: "a process without its main thread",
    program: `import ctypes, os, threading, time
if os.fork() == 0:
    threading.Thread(target=time.sleep, args=[1000]).start()
    ctypes.CDLL(None).pthread_exit(None)
time.sleep(0.5)`,
    message: /^Process \d+ \(python3\) has ended its main thread while others run on/,
    resource: "main thread",
  },
  {
    what: "a watch on /proc",
    program: `import ctypes
libc = ctypes.CDLL(None)
assert libc.inotify_add_watch(libc.inotify_init1(0), b"/proc/self/status", 2) >= 0`,
    message:
      /^Process \d+ \(python3\) watches a file whose path cannot be found again \(inotify\)\.$/,
    resource: "inotify watch",
  },
  {
    what: "unread messages of the kernel",
    program: `import socket, struct
s = socket.socket(socket.AF_NETLINK, socket.SOCK_RAW, 0)
s.send(struct.pack("IHHII4x", 20, 18, 0x301, 1, 0))`,
    message:
      /^Process \d+ \(python3\) has a netlink socket with messages that it has not read yet\.$/,
    resource: "netlink socket",
  },
  {
    what: "a program in a memfd",
    program: `import os
m = os.memfd_create("program", 0)
os.write(m, open("/usr/bin/python3", "rb").read())
if os.fork() == 0: os.execve(m, ["python3", "-c", "import time; time.sleep(1000)"], {})`,
    message: /^Process \d+ \(\S+\) runs a program that lies in memory only/,
    resource: "program in a memfd",
    isFoundAfterwards: true,
  },
  {
    what: "an orphan adopted by another process than the first",
    program: `import ctypes, os, time
ctypes.CDLL(None).prctl(36, 1, 0, 0, 0)
child = os.fork()
if child == 0:
    os.setsid()
    if os.fork() == 0: time.sleep(1000)
    os._exit(0)
os.waitpid(child, 0)`,
    message: /^Process \d+ \(python3\) was adopted by process \d+ as a subreaper/,
    resource: expect.stringMatching(/^session \d+$/),
    isFoundAfterwards: true,
  },
  {
    what: "a file of a thread",
    program: `import threading, time
thread = threading.Thread(target=time.sleep, args=[1000], daemon=True); thread.start()
f = open(f"/proc/self/task/{thread.native_id}/stat")`,
    message: /^Process \d+ \(python3\) is watched through \/proc\/\d+\/task\/\d+\/stat/,
    resource: expect.stringMatching(/^\/proc\/\d+\/task\/\d+\/stat$/),
    isFoundAfterwards: true,
  },
  {
    what: "a socket in flight in which descriptors are in flight",
    program: `import socket
here, there = socket.socketpair()
socket.send_fds(here, [b"x"], [here.fileno()])
here.close()`,
    message: /^Process \d+ \(python3\) has a unix socket .* a socket in which descriptors are on/,
    resource: "a socket in which descriptors are on their way in flight",
    isFoundAfterwards: true,
  },
  {
    what: "a pipe that is open as a path only",
    program: `import os
reading, writing = os.pipe()
os.open(f"/proc/self/fd/{reading}", os.O_PATH)`,
    message: /^Process \d+ \(python3\) has a terminal or a pipe open as a path only \(O_PATH\)/,
    resource: "terminal or pipe (descriptor 5)",
    isFoundAfterwards: true,
  },
  {
    what: "a timer in flight",
    program: `import ctypes, os, socket
here, there = socket.socketpair()
timer = ctypes.CDLL(None).timerfd_create(1, 0)
socket.send_fds(here, [b"x"], [timer])
os.close(timer)`,
    message: /^Process \d+ \(python3\) has a unix socket .* a timerfd is passed on/,
    resource: "a timerfd in flight",
    isFoundAfterwards: true,
  },
  {
    what: "a removed directory whose path is taken",
    program: `import os
os.mkdir("/srv/gone"); os.chdir("/srv/gone"); os.rmdir("/srv/gone")
os.mkdir("/srv/gone"); open("/srv/gone/file", "w").close()`,
    message: /^Process \d+ \(python3\) has \/srv\/gone open or stands in it, which was removed/,
    resource: "removed /srv/gone",
    isFoundAfterwards: true,
  },
];
