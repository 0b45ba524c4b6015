import { pythonHolder } from "../python-holder.ts";

/** Marks go through a queue to the thread that keeps the state. */
export const pythonThreads = pythonHolder(
  "Python, threads",
  `
import queue, threading
state, marks = [], queue.Queue()
def keep():
    while True:
        state.append(marks.get()); marks.task_done()
threading.Thread(target=keep, daemon=True).start()
gate = threading.Event()
others = [threading.Thread(target=gate.wait, daemon=True) for _ in range(20)]
for other in others: other.start()
def see(): return f"{state} {sum(other.is_alive() for other in others)}"
def change(mark): marks.put(mark); marks.join()
`,
);
