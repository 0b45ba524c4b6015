import { z } from "zod";

const PATHS_MAX = 1000;
const somePaths = z.array(z.string().min(1).max(4096)).max(PATHS_MAX).default([]);

/** What of a checkpoint to put back; everything, unless it is said. */
export const partsInput = {
  only: z
    .enum(["files", "processes", "machine", "state"])
    .optional()
    .describe(
      "files: under what runs now; processes: on today's files; machine: both; state: the agent's",
    ),
  paths: somePaths.describe("Only these paths and what is below them: files alone"),
  except: somePaths.describe("Not these paths and what is below them: files alone"),
};

/** The parts of a checkpoint that were put back, or are to be. */
export const partsSchema = z.object({
  only: z.enum(["files", "processes", "machine", "state"]).nullable().describe("null: all of it"),
  paths: z.array(z.string()).describe("Only at or below these; all, if there are none"),
  except: z.array(z.string()).describe("Not at or below these"),
});
export type RestoreParts = z.infer<typeof partsSchema>;
