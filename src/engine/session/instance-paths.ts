/** Returns where CRIU writes its logs of an instance; on the tmpfs of the namespace. */
export function workDirOf(instanceId: string): string {
  return `/run/waypoint/work/${instanceId}`;
}
