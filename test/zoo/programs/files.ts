import { pythonHolder } from "../python-holder.ts";

export const files = pythonHolder(
  "flock, FIFO, deleted open, sparse and hard-linked files, xattrs",
  `
import errno, fcntl, os
os.makedirs("/root/f", exist_ok=True); os.chdir("/root/f")
deleted = open("deleted", "w+"); os.unlink("deleted")
locked = open("locked", "w"); fcntl.flock(locked, fcntl.LOCK_EX)
ranged = open("ranged", "w"); fcntl.lockf(ranged, fcntl.LOCK_EX, 10, 5)
os.mkfifo("fifo"); fifo = os.open("fifo", os.O_RDWR | os.O_NONBLOCK)
sparse = open("sparse", "w+b"); sparse.truncate(1 << 40)
linked = open("linked", "w+"); os.link("linked", "other"); os.unlink("linked")
state = "none"; os.write(fifo, b"none")
def held(path, lock):
    read, write = os.pipe()
    if os.fork() == 0:
        try: lock(open(path, "r+")); os.write(write, b"free")
        except OSError as error: os.write(write, errno.errorcode[error.errno].encode())
        os._exit(0)
    os.close(write); os.wait()
    answer = os.read(read, 100).decode(); os.close(read)
    return answer
def see():
    queued = os.read(fifo, 100); os.write(fifo, queued)
    deleted.seek(0); sparse.seek(1 << 39); linked.seek(0)
    return " ".join(map(str, [
        deleted.read(), os.fstat(deleted.fileno()).st_nlink, queued,
        held("locked", lambda file: fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)),
        held("ranged", lambda file: fcntl.lockf(file, fcntl.LOCK_EX | fcntl.LOCK_NB, 1, 6)),
        held("ranged", lambda file: fcntl.lockf(file, fcntl.LOCK_EX | fcntl.LOCK_NB, 1, 50)),
        sparse.read(8), os.stat("sparse").st_size, os.stat("sparse").st_blocks < 1000,
        linked.read(), open("other").read(), os.path.samestat(os.fstat(linked.fileno()), os.stat("other")),
        os.getxattr("locked", "user.mark") if state != "none" else "",
    ]))
def change(mark):
    global state
    state = mark
    for file in (deleted, linked): file.seek(0); file.truncate(); file.write(mark); file.flush()
    os.read(fifo, 100); os.write(fifo, mark.encode())
    sparse.seek(1 << 39); sparse.write(mark.encode().ljust(8)); sparse.flush()
    os.setxattr("locked", "user.mark", mark.encode())
`,
);
