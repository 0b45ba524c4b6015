/** Returns the path by which Node's functions use an open file, whatever becomes of the way to it. */
export function fdPath(fd: number): string {
  return `/proc/self/fd/${fd}`;
}
