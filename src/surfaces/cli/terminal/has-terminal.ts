/** Tells whether this process has a terminal to attach. */
export function hasTerminal(): boolean {
  return process.stdout.isTTY === true && process.stdin.isTTY === true;
}
