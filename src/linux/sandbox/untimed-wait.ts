/**
 * Tells from /proc/PID/task/TID/syscall whether a thread waits for something that only another
 * thread, or somebody outside, can bring about: then it does not run on by itself.
 */

/** Reads a wait's arguments; `true` when it has no end of its own. */
type IsUntimed = (args: readonly bigint[], readsPipe: (fd: number) => boolean) => boolean;

const FUTEX_COMMAND_MASK = 0x7fn;
const FUTEX_WAIT = 0n;
const FUTEX_WAIT_BITSET = 9n;

const always: IsUntimed = () => true;
const isNull =
  (index: number): IsUntimed =>
  (args) =>
    args[index] === 0n;
/** A timeout of milliseconds, as an int: below zero means none. */
const isNegative =
  (index: number): IsUntimed =>
  (args) =>
    BigInt.asIntN(32, args[index] ?? 0n) < 0n;

/** What is not in this list may have a timeout. Numbers of x86_64. */
const WAITS: ReadonlyMap<number, IsUntimed> = new Map([
  // Other files have timeouts of their own: timers, sockets (SO_RCVTIMEO), terminals (VTIME).
  [0, (args, readsPipe) => readsPipe(Number(args[0]))], // read
  [7, isNegative(2)], // poll
  [23, isNull(4)], // select
  [34, always], // pause
  [61, always], // wait4
  [
    202, // futex
    (args) => {
      const command = (args[1] ?? 0n) & FUTEX_COMMAND_MASK;
      return (command === FUTEX_WAIT || command === FUTEX_WAIT_BITSET) && args[3] === 0n;
    },
  ],
  [130, always], // rt_sigsuspend
  [232, isNegative(3)], // epoll_wait
  [247, always], // waitid
  [270, isNull(4)], // pselect6
  [271, isNull(2)], // ppoll
  [281, isNegative(3)], // epoll_pwait
  [441, isNull(3)], // epoll_pwait2
]);

/**
 * Returns whether a thread waits without end.
 *
 * @param syscall  content of /proc/PID/task/TID/syscall.
 * @param readsPipe  tells whether a descriptor of its process is a pipe.
 */
export function isUntimedWait(syscall: string, readsPipe: (fd: number) => boolean): boolean {
  if (process.arch !== "x64") return false;
  const words = syscall.trim().split(" ");
  const isUntimed = WAITS.get(Number(words[0]));
  // "running", or "-1 SP PC" outside of any call.
  if (isUntimed === undefined || words.length < 9) return false;
  return isUntimed(words.slice(1, 7).map(BigInt), readsPipe);
}
