import { pythonHolder } from "../python-holder.ts";

/** A pool of processes with pipes and semaphores, a manager process, shared memory. */
export const pythonMultiprocessing = pythonHolder(
  "Python, multiprocessing",
  `
import multiprocessing as mp
from multiprocessing import shared_memory
shared = mp.Value("i", 0)
def add(mark):
    with shared.get_lock(): shared.value += 1
    return mark + "!"
pool = mp.Pool(4)
state = mp.Manager().list()
block = shared_memory.SharedMemory(create=True, size=4096)
def see(): return f"{list(state)} {shared.value} {bytes(block.buf[:8])}"
def change(mark):
    state.extend(pool.map(add, [mark]))
    block.buf[:8] = mark.encode().ljust(8)[:8]
`,
);
