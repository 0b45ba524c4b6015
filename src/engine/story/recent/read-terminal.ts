import type { Screen } from "../../../shared/protocol/index.ts";
import type { MomentReader } from "../section.ts";
import { readMainTerminal } from "./main-terminal.ts";

/** So long a sequence may have lost its beginning where the ring has gone round. */
const CUT_SEQUENCE_BYTES_MAX = 256;

/**
 * The screen of the session's terminal.
 *
 * It is made from the output that init holds in the images: the memory of the very instant of the
 * capture. What the daemon itself knows of a terminal is a little older or newer.
 */
export const TERMINAL_READER: MomentReader = {
  sections: ["terminal"],
  read: async ({ to }, { engine }) => {
    const kept = await readMainTerminal(to, engine);
    if (kept === null) throw new Error("the first process is of an older Waypoint");
    if (kept.columns === 0 || kept.rows === 0) throw new Error("the terminal has no size");
    const { columns, rows, output, outputStart } = kept;
    const screen = engine.createScreen(columns, rows);
    try {
      await screen.write(outputStart > 0 ? withoutCutSequence(output) : output);
      const terminal: Screen = {
        ...{ columns, rows, lines: screen.text(), cells: screen.cells() },
        ...{ ansi: screen.serialize({ withHistory: false }), cursor: screen.cursor() },
      };
      return { terminal };
    } finally {
      screen.dispose();
    }
  },
};

/** Returns output that begins with a whole sequence: what comes before the first one may be cut. */
function withoutCutSequence(output: Buffer): Buffer {
  const next = output.subarray(0, CUT_SEQUENCE_BYTES_MAX).findIndex((byte) => {
    return byte === 0x1b || byte === 0x0a || byte === 0x0d;
  });
  return next === -1 ? output : output.subarray(next);
}
