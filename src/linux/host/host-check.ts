/** One thing that Waypoint looked at on this machine. */
export interface HostCheck {
  id: string;
  /** False only for what keeps Waypoint from working. */
  ok: boolean;
  detail: string;
  /** A command or a sentence that helps; null where there is nothing to do. */
  fix: string | null;
}

/** Returns a check that is fine or only informs. */
export function passed(id: string, detail: string, fix: string | null = null): HostCheck {
  return { id, ok: true, detail, fix };
}

/** Returns a check of something that keeps Waypoint from working. */
export function failed(id: string, detail: string, fix: string): HostCheck {
  return { id, ok: false, detail, fix };
}
