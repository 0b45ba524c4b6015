/** Returns a field of /proc/meminfo in bytes, 0 where there is none. */
export function memoryField(text: string, name: string): number {
  return Number(new RegExp(`^${name}:\\s+(\\d+) kB$`, "m").exec(text)?.[1] ?? 0) * 1024;
}
