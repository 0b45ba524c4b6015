import { createHash } from "node:crypto";
import { mkdir, open as openFile, readdir, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { Rollback, runProcess } from "../base/index.ts";
import { hasCode, WaypointError } from "../errors/index.ts";
import { closeForwardChain, openForwardChain } from "./forward-policy.ts";
import { buildHostRules, hostTableName } from "./host-rules.ts";
import { putForwardingBack, switchForwardingOn } from "./ip-forwarding.ts";
import { canForwardIpv6 } from "./ipv6.ts";
import {
  chooseLinkRange,
  LINKS_MAX,
  type LinkAddresses,
  linkAddresses,
  parseRoutes,
} from "./link-addresses.ts";
import { linkAlias, readLinks } from "./links.ts";
import { findOutsideSockets, type OutsideSockets } from "./outside-sockets.ts";
import { readHostResolvConf } from "./read-host-resolv-conf.ts";
import { loopbackServerOf, RESOLVER_ADDRESS, resolvConfFor } from "./resolv-conf.ts";
import {
  buildCloseScript,
  buildConnectScript,
  buildNamespaceBatch,
  buildNamespaceCommand,
} from "./session-commands.ts";

/** "nat": out to the world through the host; "none": loopback only. */
export type NetworkMode = "nat" | "none";

/** The network of one running session. */
export interface SessionNetwork {
  netnsPath: string;
  /** Unique address of its link, by which the host reaches it; null without a link. */
  address: string | null;
  /** N of the host's interface `wp<N>`, null without a link. */
  linkIndex: number | null;
}

const LINK_ATTEMPTS_MAX = 64;

/**
 * The networks of one daemon's sessions.
 *
 * Everything it makes can be found again after a crash: namespaces by their file names, links by
 * their alias, the host's rules by their table. Daemons with other keys are not disturbed.
 */
export class NetworkHost {
  /** Content for a session's /etc/resolv.conf. */
  readonly resolvConf: string;
  /** Returns what of a checkpoint's sockets leads to the outside. */
  readonly findOutside = findOutsideSockets;
  readonly #ownerKey: string;
  readonly #netnsDir: string;
  readonly #range: string;
  readonly #hasIpv6: boolean;
  readonly #forwardDnsTo: string | null;
  readonly #links = new Map<string, number>();
  #nextLinkIndex: number;
  #hostReady: Promise<void> | null = null;

  private constructor(options: {
    ownerKey: string;
    netnsDir: string;
    range: string;
    hostResolvConf: string;
    hasIpv6: boolean;
  }) {
    this.#ownerKey = options.ownerKey;
    this.#netnsDir = options.netnsDir;
    this.#range = options.range;
    this.#hasIpv6 = options.hasIpv6;
    this.resolvConf = resolvConfFor(options.hostResolvConf, RESOLVER_ADDRESS);
    this.#forwardDnsTo = loopbackServerOf(options.hostResolvConf);
    // Daemons start at different numbers, and a number comes round again as late as possible: the
    // kernel still remembers flows of an ended session for minutes.
    const digest = createHash("sha256").update(options.ownerKey).digest();
    this.#nextLinkIndex = digest.readUInt16BE(0) % LINKS_MAX;
  }

  /**
   * Opens the networks of `ownerKey`, with those that a former daemon left.
   *
   * @param options.ownerKey  1 to 32 letters and digits that stand for the state directory.
   * @param options.netnsDir  directory for the namespace files, in the daemon's mount namespace.
   * @param options.hostResolvConf  @defaultValue the host's
   */
  static async open(options: {
    ownerKey: string;
    netnsDir: string;
    hostResolvConf?: string;
  }): Promise<NetworkHost> {
    const { ownerKey, netnsDir } = options;
    requireWord("ownerKey", ownerKey, /^[A-Za-z0-9]{1,32}$/);
    await mkdir(netnsDir, { recursive: true });
    const [links, routes, hostResolvConf, hasIpv6] = await Promise.all([
      readLinks(),
      runProcess(["ip", "-4", "-o", "route", "show", "table", "all"]),
      options.hostResolvConf ?? readHostResolvConf(),
      canForwardIpv6(),
    ]);
    const range = chooseLinkRange(parseRoutes(routes.stdout));
    if (range === undefined) throw noRange();
    const host = new NetworkHost({ ownerKey, netnsDir, range, hostResolvConf, hasIpv6 });
    for (const link of links) {
      if (link.ownerKey === ownerKey) host.#links.set(link.instanceId, link.linkIndex);
    }
    return host;
  }

  /**
   * Makes the network of an instance: {@link createNamespace}, then {@link connect} for "nat".
   *
   * **On failure** nothing of it is left.
   */
  async create(instanceId: string, mode: NetworkMode): Promise<SessionNetwork> {
    const network = await this.createNamespace(instanceId);
    if (mode === "none") return network;
    await using rollback = new Rollback();
    rollback.defer("remove the network", () => this.remove(instanceId));
    const connected = await this.connect(instanceId);
    rollback.keep();
    return connected;
  }

  /**
   * Makes a namespace with lo and the inner address: all that must be there before a restore.
   *
   * @param outside  what {@link findOutsideSockets} says of the sockets that will come back; then
   * {@link closeOutside} has to follow, or {@link connect} with the same.
   */
  async createNamespace(
    instanceId: string,
    outside: OutsideSockets | null = null,
  ): Promise<SessionNetwork> {
    const netnsPath = this.netnsPath(instanceId);
    await (await openFile(netnsPath, "wx")).close();
    // From here on: a second creation under this id must not take the first one away.
    await using rollback = new Rollback();
    rollback.defer("remove the namespace", () => this.remove(instanceId));
    await runProcess(buildNamespaceCommand(netnsPath), {
      input: buildNamespaceBatch(outside, this.#hasIpv6),
    });
    rollback.keep();
    return { netnsPath, address: null, linkIndex: null };
  }

  /** Closes restored connections to the outside, in a namespace without a link. */
  async closeOutside(instanceId: string, outside: OutsideSockets): Promise<void> {
    await runProcess(["sh", "-ec", buildCloseScript(this.netnsPath(instanceId), outside, null)]);
  }

  /**
   * Links a namespace to the host and the world; CRIU may be restoring into it meanwhile.
   *
   * @param held  closes these connections once `until` has resolved and before anything can leave,
   * so that their other ends hear nothing: the programs read an error at once.
   */
  async connect(
    instanceId: string,
    held: { outside: OutsideSockets; until: Promise<unknown> } | null = null,
  ): Promise<SessionNetwork> {
    const netnsPath = this.netnsPath(instanceId);
    const alias = linkAlias(this.#ownerKey, instanceId);
    await this.#prepareHost();
    const { link, linkIndex } = await this.#makeLink({
      ...{ instanceId, netnsPath, alias },
      isHeld: held !== null,
    });
    await Promise.all([
      // Looked at again now that the link exists: see putForwardingBack.
      switchForwardingOn(),
      this.#secureLink(link.linkName),
    ]);
    if (held !== null) {
      await held.until;
      await runProcess(["sh", "-ec", buildCloseScript(netnsPath, held.outside, link)]);
    }
    return { netnsPath, address: link.sessionAddress, linkIndex };
  }

  /** Removes an instance's network, whatever there is of it; idempotent. */
  async remove(instanceId: string): Promise<void> {
    const linkIndex = this.#links.get(instanceId);
    // Deleting one end deletes the other, at once; the end of the namespace would take its time.
    if (linkIndex !== undefined) {
      await runProcess(["ip", "link", "delete", `wp${linkIndex}`], { okExitCodes: [0, 1] });
      this.#links.delete(instanceId);
    }
    const netnsPath = this.netnsPath(instanceId);
    // 32: it is not mounted, or not there.
    await runProcess(["umount", "--lazy", netnsPath], { okExitCodes: [0, 1, 32] });
    await rm(netnsPath, { force: true });
  }

  /** Returns the instances that have a namespace or a link, also from before a crash. */
  async list(): Promise<string[]> {
    const prefix = this.#filePrefix();
    const names = await readdir(this.#netnsDir);
    const owned = names.filter((name) => name.startsWith(prefix));
    const ids = owned.map((name) => name.slice(prefix.length));
    return [...new Set([...ids, ...this.#links.keys()])];
  }

  /**
   * Takes this daemon's rules off the host once the last session ended; idempotent.
   *
   * Forwarding is put back if one of our daemons switched it on and none has a link any more.
   */
  async releaseHost(): Promise<void> {
    this.#hostReady = null;
    for (const family of ["ip", "ip6"]) {
      const table = [family, hostTableName(this.#ownerKey)];
      await runProcess(["nft", "delete", "table", ...table], { okExitCodes: [0, 1] });
    }
    await closeForwardChain(this.#ownerKey);
    await putForwardingBack(async () => (await readLinks()).length > 0);
  }

  /** Puts the host's rules in place, once per daemon. */
  #prepareHost(): Promise<void> {
    this.#hostReady ??= this.#writeHostRules().catch((error: unknown) => {
      this.#hostReady = null;
      throw error;
    });
    return this.#hostReady;
  }

  async #writeHostRules(): Promise<void> {
    const [ownerKey, range, hasIpv6] = [this.#ownerKey, this.#range, this.#hasIpv6];
    const input = buildHostRules({ ownerKey, range, forwardDnsTo: this.#forwardDnsTo, hasIpv6 });
    await runProcess(["nft", "-f", "-"], { input });
    await openForwardChain(ownerKey);
  }

  /** Makes a link under the first number that is free in the kernel. */
  async #makeLink(options: {
    instanceId: string;
    netnsPath: string;
    alias: string;
    isHeld: boolean;
  }): Promise<{ link: LinkAddresses; linkIndex: number }> {
    for (let attempt = 0; attempt < LINK_ATTEMPTS_MAX; attempt++) {
      const linkIndex = this.#nextLinkIndex;
      this.#nextLinkIndex = (linkIndex + 1) % LINKS_MAX;
      const link = linkAddresses(this.#range, linkIndex, this.#hasIpv6);
      try {
        await runProcess(["sh", "-ec", buildConnectScript({ ...options, link })]);
        this.#links.set(options.instanceId, linkIndex);
        return { link, linkIndex };
      } catch (error) {
        if (isNumberTaken(error)) continue;
        // It may be half made; remove() takes it away then.
        this.#links.set(options.instanceId, linkIndex);
        throw error;
      }
    }
    throw new WaypointError("TOOL_FAILED", `No free link name in ${LINK_ATTEMPTS_MAX} attempts.`);
  }

  /** A session may send raw packets, but not in the name of others. */
  async #secureLink(linkName: string): Promise<void> {
    const setting = (name: string) => `/proc/sys/net/ipv4/conf/${linkName}/${name}`;
    await writeFile(setting("rp_filter"), "1");
    if (this.#forwardDnsTo !== null) await writeFile(setting("route_localnet"), "1");
  }

  /** Returns the file of an instance's network namespace. */
  netnsPath(instanceId: string): string {
    requireWord("instance id", instanceId, /^[A-Za-z0-9_-]{1,64}$/);
    return join(this.#netnsDir, this.#filePrefix() + instanceId);
  }

  #filePrefix(): string {
    return `waypoint-${this.#ownerKey}-`;
  }
}

/** Ids become parts of commands and file names, so their form is checked where they come in. */
function requireWord(what: string, word: string, form: RegExp): void {
  if (!form.test(word)) throw new WaypointError("INTERNAL", `"${word}" cannot be used as ${what}.`);
}

/** The first command of the script made nothing, because another daemon has the name. */
function isNumberTaken(error: unknown): boolean {
  if (!hasCode(error, "TOOL_FAILED")) return false;
  return /File exists[\s\S]*failed -:1\b/.test(String(error.detail["stderr"]));
}

function noRange(): WaypointError {
  return new WaypointError("HOST_UNSUPPORTED", "No private address range is free on this host.", {
    hint: "Sessions can be created with --net none or --net host.",
  });
}
