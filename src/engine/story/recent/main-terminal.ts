import type { KeptTerminal } from "../../../linux/terminal/index.ts";
import type { Moment, ReadingEngine } from "../../moment/index.ts";
import { readMemory } from "../processes/process-picture.ts";

const INIT_PID = 1;

/**
 * Returns the session's terminal as init had it in its memory at a moment; `null` where an older
 * init kept it in another way.
 *
 * @throws Error  there is no memory, or it cannot be read; the message says why.
 */
export function readMainTerminal(
  moment: Moment,
  engine: ReadingEngine,
): Promise<KeptTerminal | null> {
  return moment.once("main-terminal", async () => {
    const terminals = engine.findTerminals(await readMemory(moment, INIT_PID, engine));
    const id = moment.checkpoint?.terminal ?? null;
    return terminals.find((each) => each.id === id) ?? terminals[0] ?? null;
  });
}
