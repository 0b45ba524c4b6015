/** Exit code of every failure of the set-up: the machine or its administrator has to act. */
export const EXIT_CODE_HOST = 20;

/**
 * A failure of the set-up that a person can act on.
 *
 * `code` is one of the product's error codes, so that `waypoint setup` reports it unchanged;
 * `message` is one sentence of facts, `hint` the command or the sentence that helps.
 */
export class SetupError extends Error {
  /**
   * @param {"HOST_UNSUPPORTED" | "PRIVILEGE_MISSING" | "SETUP_FAILED"} code
   * @param {string} message
   * @param {{ hint?: string, output?: string }} [options] output: the end of what a tool printed
   */
  constructor(code, message, options = {}) {
    super(message);
    this.name = "SetupError";
    this.code = code;
    this.hint = options.hint ?? null;
    this.output = options.output ?? "";
  }

  /** Returns the wire form that every surface of Waypoint uses. */
  toJSON() {
    const detail = this.output === "" ? {} : { output: this.output };
    return { code: this.code, message: this.message, hint: this.hint, detail };
  }
}
