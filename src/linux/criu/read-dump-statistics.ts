import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { messageField, numberField, readImageEntries } from "../../formats/criu-images/index.ts";

const PAGE_SIZE_BYTES = 4096;

// stats_entry, dump_stats_entry (times in microseconds)
const STATS_DUMP = 1;
const FREEZING_TIME_US = 1;
const FROZEN_TIME_US = 2;
const PAGES_WRITTEN = 7;
const SHARED_PAGES_WRITTEN = 14;

/** What CRIU measured of a dump. */
export interface DumpStatistics {
  /** From the first task being stopped to the last one running on. */
  pauseMs: number;
  /** What CRIU has copied of the memory. */
  copiedBytes: number;
}

/** Reads `stats-dump`, which CRIU leaves in its work directory after a successful dump. */
export async function readDumpStatistics(workDir: string): Promise<DumpStatistics> {
  const [entry] = readImageEntries(await readFile(join(workDir, "stats-dump")), "stats");
  const dump = entry === undefined ? undefined : messageField(entry, STATS_DUMP);
  if (dump === undefined) throw new Error("stats-dump has no statistics of a dump");
  const pauseUs = numberField(dump, FREEZING_TIME_US) + numberField(dump, FROZEN_TIME_US);
  const pagesWritten = numberField(dump, PAGES_WRITTEN) + numberField(dump, SHARED_PAGES_WRITTEN);
  return { pauseMs: pauseUs / 1000, copiedBytes: pagesWritten * PAGE_SIZE_BYTES };
}
