import { pythonHolder } from "../python-holder.ts";

export const sharedMemory = pythonHolder(
  "SysV shared memory, semaphores, queues; POSIX semaphores; memfd",
  `
import ctypes, os, mmap
libc = ctypes.CDLL(None, use_errno=True)
libc.shmat.restype = libc.sem_open.restype = ctypes.c_void_p
def ok(value):
    assert value not in (-1, None), ctypes.get_errno()
    return value
segment = ok(libc.shmget(77, 4096, 0o1600))
memory = (ctypes.c_char * 4096).from_address(ok(libc.shmat(segment, None, 0)))
semaphores = ok(libc.semget(78, 2, 0o1600))
messages = ok(libc.msgget(79, 0o1600))
posix = ctypes.c_void_p(ok(libc.sem_open(b"/zoo", 0o100, 0o600, 0)))
memfd = os.memfd_create("zoo")
os.ftruncate(memfd, 4096)
mapped = mmap.mmap(memfd, 4096)
count = 0
if os.fork() == 0:
    import signal
    signal.pause()
class Message(ctypes.Structure): _fields_ = [("kind", ctypes.c_long), ("text", ctypes.c_char * 64)]
def see():
    value = ctypes.c_int()
    ok(libc.sem_getvalue(posix, ctypes.byref(value)))
    queued = Message()
    taken = ok(libc.msgrcv(messages, ctypes.byref(queued), 64, 0, 0o4000)) if count else 0
    if count: ok(libc.msgsnd(messages, ctypes.byref(queued), taken, 0))
    text = bytes(mapped[:16]).rstrip(b"\\0")
    return f"{memory.value} {libc.semctl(semaphores, 1, 12)} {value.value} {queued.text} {text}"
def change(mark):
    global count
    memory.value = mark.encode()
    ok(libc.semctl(semaphores, 1, 16, len(mark) + count))
    ok(libc.sem_post(posix))
    if count: ok(libc.msgrcv(messages, ctypes.byref(Message()), 64, 0, 0))
    ok(libc.msgsnd(messages, ctypes.byref(Message(1, mark.encode())), 64, 0))
    mapped[:16] = mark.encode().ljust(16, b"\\0")
    count += 1
`,
);
