import { lstatSync } from "node:fs";
import { type RawPath, toBytes } from "../../base/index.ts";
import { isLiveBase, type Moment, type TreeEntry, takenAtMs } from "../moment/index.ts";
import type { StreamClient } from "../ports/index.ts";
import { shownPath } from "./place.ts";

/**
 * Says which files are another than at their moment: what the session had not written is read from
 * the base of now.
 */
export class ChangedBase {
  readonly #moment: Moment;
  /** The first of them, and when it was changed. */
  #first: { rawPath: RawPath; atMs: number } | null = null;
  #count = 0;

  constructor(moment: Moment) {
    this.#moment = moment;
  }

  /** Looks at what is about to be read. */
  look(rawPath: RawPath, { type, upperInode, hostPath }: TreeEntry): void {
    const { checkpoint } = this.#moment;
    if (type === "directory" || upperInode !== null) return;
    if (checkpoint === null || !isLiveBase(checkpoint.base)) return;
    const atMs = lstatSync(toBytes(hostPath), { throwIfNoEntry: false })?.ctimeMs ?? 0;
    if (atMs <= takenAtMs(checkpoint)) return;
    this.#first ??= { rawPath, atMs };
    this.#count += 1;
  }

  tell(client: Pick<StreamClient, "notice">): void {
    if (this.#first === null) return;
    const { rawPath, atMs } = this.#first;
    const { id, createdAt } = this.#moment.checkpoint ?? { id: "", createdAt: "" };
    const changed = `changed at ${new Date(atMs).toISOString()}, and ${id} is of ${createdAt}`;
    client.notice(
      this.#count === 1
        ? `${shownPath(rawPath)} is the base's file of now: it was ${changed}.`
        : `${this.#count} files are the base's of now, not of then: ${shownPath(rawPath)} was ${changed}.`,
    );
  }
}
