import { pythonHolder } from "../python-holder.ts";

/** All are children that keep a state of which the kernel knows. */
export const oddProcesses = pythonHolder(
  "processes: zombie, stopped, orphaned, chrooted, 500 threads, deleted program",
  `
import ctypes, os, shutil, signal, subprocess as sub, threading
libc = ctypes.CDLL(None, use_errno=True)
def child(work):
    read, write = os.pipe()
    pid = os.fork()
    if pid == 0:
        work()
        os.close(write)
        while True: signal.pause()
    os.close(write); os.read(read, 1); os.close(read)
    return pid
def start(*words): return sub.Popen(words, stdout=sub.DEVNULL).pid
def in_deleted():
    os.mkdir("/root/gone"); os.chdir("/root/gone"); os.rmdir("/root/gone")
def in_jail():
    os.makedirs("/srv/jail", exist_ok=True); os.chroot("/srv/jail"); os.chdir("/")
def filtered():
    class Rule(ctypes.Structure):
        _fields_ = [("code", ctypes.c_ushort), ("yes", ctypes.c_ubyte), ("no", ctypes.c_ubyte), ("k", ctypes.c_uint)]
    class Rules(ctypes.Structure):
        _fields_ = [("count", ctypes.c_ushort), ("first", ctypes.POINTER(Rule))]
    allow = (Rule * 1)(Rule(6, 0, 0, 0x7FFF0000))
    libc.prctl(38, 1, 0, 0, 0)
    assert libc.prctl(22, 2, ctypes.byref(Rules(1, allow)), 0, 0) == 0
shutil.copy("/usr/bin/sleep", "/root/deleted-program")
deleted = start("/root/deleted-program", "100000"); os.unlink("/root/deleted-program")
stopped = start("sleep", "100000"); os.kill(stopped, signal.SIGSTOP)
nobody = start("setpriv", "--reuid", "nobody", "--regid", "nogroup", "--clear-groups", "sleep", "100000")
orphan = int(sub.run(["setsid", "sh", "-c", "sleep 100000 > /dev/null & echo $!"], stdout=sub.PIPE).stdout)
zombie = os.fork()
if zombie == 0: os._exit(7)
os.waitid(os.P_PID, zombie, os.WEXITED | os.WNOWAIT)
lost, jailed, sandboxed = child(in_deleted), child(in_jail), child(filtered)
gate = threading.Event(); threading.stack_size(1 << 16)
for _ in range(500): threading.Thread(target=gate.wait, daemon=True).start()
def of(pid, *keys):
    facts = dict(line.rstrip("\\n").split(":\\t", 1) for line in open(f"/proc/{pid}/status"))
    return [facts[key] for key in keys]
state = []
def see():
    exited = os.waitid(os.P_PID, zombie, os.WEXITED | os.WNOWAIT | os.WNOHANG)
    return str([
        state, of("self", "Threads"), of(zombie, "State"), exited.si_status, of(stopped, "State"),
        of(nobody, "Uid"), of(sandboxed, "Seccomp_filters", "NoNewPrivs"),
        of(orphan, "PPid"), os.getsid(orphan) not in (os.getsid(0), 1),
        [os.readlink(f"/proc/{pid}/{name}") for pid, name in [(lost, "cwd"), (jailed, "root"), (deleted, "exe")]],
    ])
def change(mark):
    os.kill(stopped, signal.SIGCONT); os.waitid(os.P_PID, stopped, os.WCONTINUED)
    os.kill(stopped, signal.SIGSTOP); os.waitid(os.P_PID, stopped, os.WSTOPPED)
    state.append(mark)
`,
);
