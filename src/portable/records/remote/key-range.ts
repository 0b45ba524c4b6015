import type { ScanOptions } from "../thread-records.ts";

/** The keys that a scan looks at: from the first one, or right above it, to below the last. */
export interface KeyRange {
  from: string;
  isFromInside: boolean;
  below: string;
}

/** Greater than all characters of keys. */
const BEHIND = "\u{7f}";

export function keyRange({ prefix, after = "", before = BEHIND }: ScanOptions): KeyRange {
  const end = `${prefix}${BEHIND}`;
  const isFromInside = after < prefix;
  return {
    from: isFromInside ? prefix : after,
    isFromInside,
    below: before < end ? before : end,
  };
}
