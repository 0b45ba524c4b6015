/**
 * Returns the control group that /proc/PID/cgroup names for memory, below the mount of its hierarchy; "/"
 * where it names none.
 *
 * @param version  of the hierarchy that has the controller.
 */
export function ownGroupPath(text: string, version: 1 | 2): string {
  const lines = text.split("\n").map((line) => /^(\d+):([^:]*):(\/.*)$/.exec(line));
  const isOurs = ([, number, controllers = ""]: RegExpExecArray) =>
    version === 2 ? number === "0" : controllers.split(",").includes("memory");
  return lines.find((line) => line !== null && isOurs(line))?.[3] ?? "/";
}
