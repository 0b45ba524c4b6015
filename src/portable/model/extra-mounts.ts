import { z } from "zod";
import { type Bind, bindSchema } from "../../shared/protocol/index.ts";

/** What a session has mounted besides its root; the same for all that descends from it. */
export interface ExtraMounts {
  /** Directories of the host, shared with it. */
  binds: readonly Bind[];
  /** Mounts of the host; the nth has its own overlay, in `mounts/<n>` of the subvolume. */
  hostMounts: readonly string[];
}

/** The same in a record; those of before there were any have none. */
export const extraMountsShape = {
  binds: z.array(bindSchema).default([]),
  hostMounts: z.array(z.string()).default([]),
};
