import { readFileSync } from "node:fs";
import { isIPv4 } from "node:net";
import { runProcess } from "../../base/index.ts";
import type { DnsAnswer } from "../../formats/dns/index.ts";
import { WaypointError } from "../../shared/errors/index.ts";
import { parseNetAllow } from "../../shared/protocol/index.ts";
import {
  buildAllowList,
  buildAllowListRemoval,
  buildCountersRemoval,
  buildOpening,
  counterSets,
} from "./contact-rules.ts";
import type { LinkAddresses } from "./link-addresses.ts";
import type { LinkMaker } from "./link-maker.ts";
import { NameForwarder } from "./name-forwarder.ts";
import { type LearnedNames, NameWatch } from "./name-watch.ts";
import { type LinkCounters, parseCounters } from "./parse-counters.ts";

/** Programs keep addresses for longer than a short-lived name says. */
const OPEN_S_MIN = 300;
const OPEN_S_MAX = 3600;
/** An address that has most of its time left is not opened anew. */
const RENEW_SHARE = 0.5;
/** Addresses of one session of which it is remembered how long they are open. */
const OPENED_MAX = 4096;

/** A link, as far as its counters need it. */
interface Link {
  linkIndex: number;
  addresses: LinkAddresses;
}

/** The list of one link, and until when it has opened what. */
interface AllowList {
  forwarder: NameForwarder;
  openUntilMs: Map<string, number>;
}

/**
 * Whom the sessions of one daemon talk to, and whom they may.
 *
 * The counters and rules are the kernel's, so they outlive the daemon; names are learned while it
 * lives, and those that may be reached are answered by it.
 */
export class LinkContacts {
  readonly #ownerKey: string;
  readonly #servers: readonly string[];
  readonly #hasIpv6: boolean;
  readonly #linkOf: (instanceId: string) => Link | null;
  readonly #indexOf: (sessionAddress: string) => number | null;
  readonly #maker: LinkMaker;
  readonly #names = new NameWatch();
  readonly #allowLists = new Map<string, AllowList>();

  constructor(options: {
    ownerKey: string;
    /** The host's name servers. */
    servers: readonly string[];
    hasIpv6: boolean;
    linkOf: (instanceId: string) => Link | null;
    /** Returns the number of the link that had an address. */
    indexOf: (sessionAddress: string) => number | null;
    maker: LinkMaker;
  }) {
    this.#ownerKey = options.ownerKey;
    this.#servers = options.servers;
    this.#hasIpv6 = options.hasIpv6;
    this.#linkOf = options.linkOf;
    this.#indexOf = options.indexOf;
    this.#maker = options.maker;
  }

  /** Begins to learn the names that an instance with a link asks for; idempotent. */
  watch(instanceId: string): void {
    const link = this.#linkOf(instanceId);
    if (link !== null) this.#names.watch(instanceId, link.addresses.linkName);
  }

  rename(fromId: string, toId: string): void {
    this.#names.rename(fromId, toId);
  }

  /** Returns the names that were answered since the last time. */
  takeNames(): LearnedNames[] {
    return this.#names.take();
  }

  /**
   * Lets an instance reach nothing but what a list says; also again, after the daemon's death.
   *
   * @param allow  as {@link parseNetAllow} reads it.
   */
  async allow(instanceId: string, allow: string): Promise<void> {
    const link = this.#linkOf(instanceId);
    const entries = parseNetAllow(allow);
    if (link === null || entries === null) {
      throw new WaypointError("INTERNAL", `${instanceId} cannot have the list "${allow}".`);
    }
    const { linkIndex, addresses } = link;
    const openUntilMs = new Map<string, number>();
    const { forwarder, port } = await NameForwarder.open({
      addresses: [
        addresses.hostAddress,
        ...(addresses.ipv6 === null ? [] : [addresses.ipv6.hostAddress]),
      ],
      servers: this.#servers,
      entries,
      open: (answer, ports) => this.#open(linkIndex, openUntilMs, answer, ports),
    });
    this.#allowLists.get(instanceId)?.forwarder.close();
    this.#allowLists.set(instanceId, { forwarder, openUntilMs });
    const options = { ownerKey: this.#ownerKey, linkIndex, entries, forwarderPort: port };
    await this.#maker.run([{ kind: "nft", place: null, text: buildAllowList(options) }]);
  }

  /** Tells whether an instance may reach nothing but what a list says. */
  isLimited(instanceId: string): boolean {
    return this.#allowLists.has(instanceId);
  }

  /** Returns how many packets an instance has sent, which is cheap; `null` without a link. */
  sentPackets(instanceId: string): number | null {
    const link = this.#linkOf(instanceId);
    if (link === null) return null;
    const line = new RegExp(String.raw`^\s*${link.addresses.linkName}:\s*\d+\s+(\d+)`, "m");
    const count = line.exec(readFileSync("/proc/net/dev", "utf8"))?.[1];
    return count === undefined ? null : Number(count);
  }

  /**
   * Returns what was counted of an instance; `null` where nothing was, as on older links.
   *
   * @param address  of its link, which may be gone: what was counted on it is there still.
   */
  async read(instanceId: string, address: string | null): Promise<LinkCounters | null> {
    const linkIndex =
      this.#linkOf(instanceId)?.linkIndex ?? (address === null ? null : this.#indexOf(address));
    if (linkIndex === null) return null;
    // One by one: of several, nft finds the last alone.
    const sets = counterSets(this.#ownerKey, linkIndex, this.#hasIpv6);
    const listed = await Promise.all(
      sets.map((set) => runProcess(["nft", "-j", "list", "set", ...set], { okExitCodes: [0, 1] })),
    );
    if (listed.some(({ exitCode }) => exitCode !== 0)) return null;
    return parseCounters(listed.map(({ stdout }) => stdout));
  }

  /** Ends what there is of an instance, while its link is there; idempotent. */
  async remove(instanceId: string): Promise<void> {
    this.#names.forget(instanceId);
    const link = this.#linkOf(instanceId);
    const list = this.#allowLists.get(instanceId);
    this.#allowLists.delete(instanceId);
    list?.forwarder.close();
    if (link === null) return;
    const { linkIndex } = link;
    const texts = [
      ...(list === undefined ? [] : [buildAllowListRemoval(this.#ownerKey, linkIndex)]),
      buildCountersRemoval(this.#ownerKey, linkIndex),
    ];
    await this.#maker.run(
      texts.map((text) => ({ kind: "nft", place: null, text, mayFail: true }) as const),
    );
  }

  /** Listens for nothing any more; what is counted stays. */
  close(): void {
    this.#names.close();
    for (const { forwarder } of this.#allowLists.values()) forwarder.close();
    this.#allowLists.clear();
  }

  async #open(
    linkIndex: number,
    openUntilMs: Map<string, number>,
    { addresses }: DnsAnswer,
    ports: readonly (number | null)[],
  ): Promise<void> {
    const nowMs = performance.now();
    const wanted = addresses
      .filter(({ address }) => mayBeOpened(address))
      .map(({ address, ttlS }) => ({
        address,
        openS: Math.min(OPEN_S_MAX, Math.max(OPEN_S_MIN, ttlS)),
      }))
      .filter(({ address, openS }) => {
        const leftMs = (openUntilMs.get(keyOf(address, ports)) ?? 0) - nowMs;
        return leftMs < openS * 1000 * RENEW_SHARE;
      });
    if (wanted.length === 0) return;
    const options = { ownerKey: this.#ownerKey, linkIndex, addresses: wanted, ports };
    await this.#maker.run([{ kind: "nft", place: null, text: buildOpening(options) }]);
    if (openUntilMs.size > OPENED_MAX) openUntilMs.clear();
    for (const { address, openS } of wanted) {
      openUntilMs.set(keyOf(address, ports), nowMs + openS * 1000);
    }
  }
}

/** Another name may have the same address, and be allowed by other ports. */
function keyOf(address: string, ports: readonly (number | null)[]): string {
  return `${address} ${ports.join(" ")}`;
}

/** Whoever owns an allowed name says its addresses: never the host's loopback, or its own link. */
function mayBeOpened(address: string): boolean {
  if (isIPv4(address)) {
    const [first = 0, second] = address.split(".").map(Number);
    return first !== 0 && first !== 127 && first < 224 && !(first === 169 && second === 254);
  }
  return !/^(::1?$|::ffff:|fe[89ab]|ff)/i.test(address);
}
