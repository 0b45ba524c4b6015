/**
 * Every page holds its own number and a mark. Does what a file `ask` says, by numbers of pages, and
 * answers how many pages are not what they should be.
 */
export const ASKED_MEMORY = `import ctypes, os, sys, time
PAGES = int(sys.argv[1]) * 256
is_fresh = sys.argv[2:] == ["fresh"]
libc = ctypes.CDLL(None, use_errno=True)
libc.mmap.restype = libc.mremap.restype = ctypes.c_void_p
libc.mmap.argtypes = [ctypes.c_void_p, ctypes.c_size_t, *[ctypes.c_int] * 3, ctypes.c_long]
libc.madvise.argtypes = [ctypes.c_void_p, ctypes.c_size_t, ctypes.c_int]
libc.mremap.argtypes = [ctypes.c_void_p, ctypes.c_size_t, ctypes.c_size_t, ctypes.c_int, ctypes.c_void_p]
anonymous = lambda count: libc.mmap(None, count * 4096, 3, 0x22, -1, 0)
base = anonymous(PAGES)
moved, marks, dropped = [], {}, []
def place(n):
    for first, last, address in reversed(moved):
        if first <= n < last: return address + (n - first) * 4096
    return base + n * 4096
def page(n, mark): return (n + 1).to_bytes(8, "little") * 256 + mark.to_bytes(8, "little") * 256
def expected(n):
    if n not in marks and (is_fresh or any(a <= n < b for a, b in dropped)): return bytes(4096)
    return page(n, marks.get(n, 0))
def write(a, b, mark):
    for n in range(a, b): ctypes.memmove(place(n), page(n, mark), 4096); marks[n] = mark
def read(a, b):
    for n in range(a, b): ctypes.string_at(place(n), 1)
def drop(a, b):
    assert libc.madvise(place(a), (b - a) * 4096, 4) == 0
    dropped.append((a, b))
    for n in range(a, b): marks.pop(n, None)
def move(a, b):
    target, size = anonymous(b - a), (b - a) * 4096
    assert libc.mremap(place(a), size, size, 3, target) == target
    moved.append((a, b, target))
def cover(a, b, c):
    # Pages a to b get their place where those from c on are; these are empty, where the others were.
    source, target, size = place(a), place(c), (b - a) * 4096
    assert libc.mremap(source, size, size, 3, target) == target
    assert libc.mmap(source, size, 3, 0x32, -1, 0) == source
    moved.extend([(a, b, target), (c, c + b - a, source)])
    dropped.append((c, c + b - a))
def check():
    return "%d wrong" % sum(ctypes.string_at(place(n), 4096) != expected(n) for n in range(PAGES))
def answer(name, text):
    open("/root/new", "w").write(text)
    os.rename("/root/new", "/root/" + name)
def have_child():
    if os.fork() > 0: return
    while not os.path.exists("/root/ask-child"): time.sleep(0.005)
    os.unlink("/root/ask-child")
    answer("answer-child", check())
    os._exit(0)
def rerun():
    answer("answer", "")
    os.execvp("setarch", ["setarch", "-R", sys.executable, *sys.argv[:2], "fresh"])
if not is_fresh:
    for n in range(PAGES): ctypes.memmove(base + n * 4096, page(n, 0), 4096)
open("/root/ready", "w").close()
while True:
    time.sleep(0.005)
    if not os.path.exists("/root/ask"): continue
    words = open("/root/ask").read().split()
    os.unlink("/root/ask")
    done = {"read": read, "write": write, "drop": drop, "move": move, "cover": cover, "check": check, "child": have_child, "rerun": rerun}
    answer("answer", done[words[0]](*map(int, words[1:])) or "")`;
