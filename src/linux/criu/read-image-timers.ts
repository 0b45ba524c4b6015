import { messageField, numberField, type WireMessage } from "../../formats/criu-images/index.ts";
import { readEntries, readImageProcesses } from "./read-image-processes.ts";

// core_entry, task_core_entry, task_timers_entry, itimer_entry
const CORE_TASK = 3;
const TASK_TIMERS = 7;
const TIMERS_REAL = 1;
const ITIMER_LEFT_S = 3;
const ITIMER_LEFT_US = 4;

/**
 * Tells whether a process of an image directory had set an alarm (alarm(2), setitimer(2)), which
 * nothing in /proc shows of a process that runs.
 *
 * @throws CHECKPOINT_INCOMPLETE  an image is missing or cannot be read.
 */
export async function hasAlarm(imagesDir: string): Promise<boolean> {
  const processes = await readImageProcesses(imagesDir);
  const armed = await Promise.all(
    processes.map(async ({ pid }) => {
      const [core] = await readEntries(imagesDir, `core-${pid}.img`, "core");
      const real = messageAt(core, [CORE_TASK, TASK_TIMERS, TIMERS_REAL]);
      if (real === undefined) return false;
      return numberField(real, ITIMER_LEFT_S) > 0 || numberField(real, ITIMER_LEFT_US) > 0;
    }),
  );
  return armed.includes(true);
}

function messageAt(
  message: WireMessage | undefined,
  fields: readonly number[],
): WireMessage | undefined {
  return fields.reduce<WireMessage | undefined>(
    (found, field) => (found === undefined ? undefined : messageField(found, field)),
    message,
  );
}
