import type { ApprovalInfo } from "../../../shared/protocol/index.ts";
import { ProgramAsker } from "../../client/index.ts";
import type { CommandContext } from "../context.ts";
import type { KeyPump } from "../terminal/key-pump.ts";
import { printable } from "../text/printable.ts";
import { askOn } from "./ask-here.ts";

const EXIT_CODE_LEFT = 130;

/**
 * The step that a command of this terminal, raw already, waits for before anything of it is shown: its
 * person is asked at once. Ctrl-C leaves; the step waits on.
 */
export class HeldHere implements Disposable {
  readonly #asker: ProgramAsker;
  #waiting: ApprovalInfo | null = null;

  constructor(context: CommandContext, keys: KeyPump) {
    this.#asker = new ProgramAsker(context.stateDir, async (request, { signal }) => {
      const leave = () => process.exit(EXIT_CODE_LEFT);
      process.prependOnceListener("SIGINT", leave);
      try {
        return await askOn(keys, request, signal);
      } finally {
        process.off("SIGINT", leave);
      }
    });
  }

  /** The one that waits; `null` when it has begun or there is none. */
  get waiting(): ApprovalInfo | null {
    return this.#waiting;
  }

  take(approval: ApprovalInfo, notice: string): void {
    this.#waiting = approval.state === "waiting" ? approval : null;
    if (this.#waiting === null) this.#asker.take(approval);
    process.stderr.write(`\r\n[waypoint] ${printable(notice)}\r\n`);
    if (this.#waiting !== null) this.#asker.take(approval);
  }

  [Symbol.dispose](): void {
    this.#asker[Symbol.dispose]();
  }
}
