import { pythonHolder } from "../python-holder.ts";

/** Mapped, and written to in its last page. */
export const largeFile = pythonHolder(
  "a file of 2 GiB, written and mapped",
  `
import mmap, os
SIZE = 2 << 30
with open("/root/large", "wb") as file:
    block = os.urandom(1 << 20)
    for _ in range(SIZE >> 20): file.write(block)
file = open("/root/large", "r+b")
mapped = mmap.mmap(file.fileno(), SIZE)
def see():
    file.seek(SIZE - 16)
    return f"{file.read(16)} {mapped[0] == block[0]} {os.stat('/root/large').st_size}"
def change(mark): mapped[SIZE - 16:] = mark.encode().ljust(16); mapped.flush(SIZE - 4096, 4096)
`,
);
