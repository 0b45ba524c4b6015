import { createHash } from "node:crypto";
import { writeFile } from "node:fs/promises";
import { runProcess } from "../../base/index.ts";
import { WaypointError } from "../../shared/errors/index.ts";
import { buildLinkCounters } from "./contact-rules.ts";
import { LINKS_MAX, type LinkAddresses, linkAddresses, linkIndexOf } from "./link-addresses.ts";
import type { LinkMaker } from "./link-maker.ts";
import { linkAlias, type SessionLink } from "./links.ts";
import { isNumberTaken } from "./refusals.ts";
import { buildConnectSteps } from "./session-commands.ts";

const LINK_ATTEMPTS_MAX = 64;

/** The links between one daemon's namespaces and the host; each has a number of its own. */
export class SessionLinks {
  readonly #ownerKey: string;
  readonly #range: string;
  readonly #hasIpv6: boolean;
  readonly #maker: LinkMaker;
  readonly #numbers = new Map<string, number>();
  #next: number;

  /** @param options.existing  links of all daemons that are there already. */
  constructor(options: {
    ownerKey: string;
    range: string;
    hasIpv6: boolean;
    existing: readonly SessionLink[];
    maker: LinkMaker;
  }) {
    this.#maker = options.maker;
    this.#ownerKey = options.ownerKey;
    this.#range = options.range;
    this.#hasIpv6 = options.hasIpv6;
    for (const { ownerKey, instanceId, linkIndex } of options.existing) {
      if (ownerKey === options.ownerKey) this.#numbers.set(instanceId, linkIndex);
    }
    // Daemons start at different numbers, and a number comes round again as late as possible: the
    // kernel still remembers flows of an ended session for minutes.
    const digest = createHash("sha256").update(options.ownerKey).digest();
    this.#next = digest.readUInt16BE(0) % LINKS_MAX;
  }

  /** Returns the ids of all that have a link. */
  ids(): string[] {
    return [...this.#numbers.keys()];
  }

  /** Returns the number of the link that had an address; `null` where somebody else has that number by now. */
  formerIndexOf(address: string): number | null {
    const linkIndex = linkIndexOf(this.#range, address);
    const isTaken = linkIndex !== null && [...this.#numbers.values()].includes(linkIndex);
    return isTaken ? null : linkIndex;
  }

  addressesOf(id: string): LinkAddresses | null {
    const linkIndex = this.#numbers.get(id);
    return linkIndex === undefined ? null : this.#addresses(linkIndex);
  }

  /** Returns the number and the addresses of a link, `null` where there is none. */
  find(id: string): { linkIndex: number; addresses: LinkAddresses } | null {
    const linkIndex = this.#numbers.get(id);
    return linkIndex === undefined ? null : { linkIndex, addresses: this.#addresses(linkIndex) };
  }

  /** Makes a link under the first number that is free in the kernel. */
  async make(options: {
    instanceId: string;
    netnsPath: string;
    isHeld: boolean;
  }): Promise<{ link: LinkAddresses; linkIndex: number }> {
    const { instanceId } = options;
    const alias = linkAlias(this.#ownerKey, instanceId);
    for (let attempt = 0; attempt < LINK_ATTEMPTS_MAX; attempt++) {
      const linkIndex = this.#next;
      this.#next = (linkIndex + 1) % LINKS_MAX;
      const link = this.#addresses(linkIndex);
      try {
        const counters = buildLinkCounters(this.#ownerKey, linkIndex);
        await this.#maker.run(buildConnectSteps({ ...options, alias, counters, link }));
        this.#numbers.set(instanceId, linkIndex);
        return { link, linkIndex };
      } catch (error) {
        if (isNumberTaken(error)) continue;
        // It may be half made; remove() takes it away then.
        this.#numbers.set(instanceId, linkIndex);
        throw error;
      }
    }
    throw new WaypointError("TOOL_FAILED", `No free link name in ${LINK_ATTEMPTS_MAX} attempts.`);
  }

  /** Gives a link to another instance. */
  async rename(fromId: string, toId: string): Promise<void> {
    const linkIndex = this.#numbers.get(fromId);
    if (linkIndex === undefined) return;
    this.#numbers.delete(fromId);
    this.#numbers.set(toId, linkIndex);
    await setAlias(`wp${linkIndex}`, linkAlias(this.#ownerKey, toId));
  }

  /** Deletes a link, if there is one. Both ends go at once. */
  async remove(id: string): Promise<void> {
    const linkIndex = this.#numbers.get(id);
    if (linkIndex === undefined) return;
    const text = `link delete wp${linkIndex}\n`;
    await this.#maker.run([{ kind: "ip", place: null, text, mayFail: true }]);
    this.#numbers.delete(id);
  }

  #addresses(linkIndex: number): LinkAddresses {
    return linkAddresses(this.#range, linkIndex, this.#hasIpv6);
  }
}

async function setAlias(linkName: string, alias: string): Promise<void> {
  try {
    // A hundredth of what starting a program takes.
    await writeFile(`/sys/class/net/${linkName}/ifalias`, alias);
  } catch {
    // Where /sys was mounted in another network namespace it shows that one's links.
    await runProcess(["ip", "link", "set", "dev", linkName, "alias", alias]);
  }
}
