import { mkdir, open as openFile } from "node:fs/promises";
import { Rollback, runProcess } from "../../base/index.ts";
import { buildEgressHold, egressHoldTableName, removeStaleEgressHolds } from "./hold-egress.ts";
import { HostSetup } from "./host-setup.ts";
import { HostSockets } from "./host-sockets.ts";
import { switchForwardingOn } from "./ip-forwarding.ts";
import { canForwardIpv6 } from "./ipv6.ts";
import { chooseLinkRange, parseRoutes } from "./link-addresses.ts";
import { LinkContacts } from "./link-contacts.ts";
import { LinkMaker } from "./link-maker.ts";
import { readLinks, type SessionLink } from "./links.ts";
import { NamespaceFiles } from "./namespace-files.ts";
import { NetworkUses } from "./network-use.ts";
import { readHostResolvConf } from "./read-host-resolv-conf.ts";
import { noRange, requireWord } from "./refusals.ts";
import { loopbackServerOf, nameServersOf, RESOLVER_ADDRESS, resolvConfFor } from "./resolv-conf.ts";
import { buildNamespaceSteps, buildReleaseScript } from "./session-commands.ts";
import { SessionLinks } from "./session-links.ts";
import type { NetworkMode, SessionNetwork } from "./session-network.ts";
import { planSockets, planSocketsOnHost, type SocketPlan } from "./socket-plan.ts";
import { isSpareId, SpareNetworks } from "./spare-networks.ts";

/**
 * The networks of one daemon's sessions.
 *
 * Everything it makes can be found again after a crash: namespaces by their file names, links by
 * their alias, the host's rules by their table. Daemons with other keys are not disturbed.
 */
export class NetworkHost {
  /** Content for a session's /etc/resolv.conf. */
  readonly resolvConf: string;
  /** Returns what a checkpoint's sockets need in order to come back. */
  readonly planSockets = planSockets;
  readonly planSocketsOnHost = planSocketsOnHost;
  /** Whom sessions talk to, and whom they may. */
  readonly contacts: LinkContacts;
  readonly #ownerKey: string;
  readonly #files: NamespaceFiles;
  readonly #hasIpv6: boolean;
  readonly #setup: HostSetup;
  readonly #maker: LinkMaker;
  readonly #links: SessionLinks;
  readonly #spares: SpareNetworks;
  readonly #onHost: HostSockets;
  readonly #uses = new NetworkUses();

  private constructor(options: {
    ownerKey: string;
    netnsDir: string;
    range: string;
    hostResolvConf: string;
    hasIpv6: boolean;
    sparesMax: number;
    existing: readonly SessionLink[];
    makerPath: string;
  }) {
    this.#ownerKey = options.ownerKey;
    this.#onHost = new HostSockets(options.ownerKey);
    this.#maker = new LinkMaker(options.makerPath);
    const maker = this.#maker;
    this.#files = new NamespaceFiles(options);
    this.#links = new SessionLinks({ ...options, maker });
    this.#hasIpv6 = options.hasIpv6;
    this.resolvConf = resolvConfFor(options.hostResolvConf, RESOLVER_ADDRESS, options.hasIpv6);
    const { ownerKey, range, hasIpv6 } = options;
    const forwardDnsTo = loopbackServerOf(options.hostResolvConf, hasIpv6);
    const servers = nameServersOf(options.hostResolvConf);
    const linkOf = (id: string) => this.#links.find(id);
    const indexOf = (address: string) => this.#links.formerIndexOf(address);
    this.contacts = new LinkContacts({ ownerKey, servers, hasIpv6, linkOf, indexOf, maker });
    for (const id of this.#links.ids()) this.contacts.watch(id);
    this.#setup = new HostSetup({ ownerKey, range, forwardDnsTo, hasIpv6 });
    this.#spares = new SpareNetworks({
      countMax: options.sparesMax,
      make: (id) => this.#makeWhole(id),
      remove: (id) => this.#removeWhole(id),
      rename: (fromId, toId) => this.#rename(fromId, toId),
    });
  }

  /**
   * Opens the networks of `ownerKey`, with those that a former daemon left.
   *
   * @param options.ownerKey  1 to 32 letters and digits that stand for the state directory.
   * @param options.netnsDir  directory for the namespace files, in the daemon's mount namespace.
   * @param options.hostResolvConf  @defaultValue the host's
   * @param options.makerPath  native/link-maker, built.
   * @param options.sparesMax  networks to make in advance while a session has one. @defaultValue 0
   */
  static async open(options: {
    ownerKey: string;
    netnsDir: string;
    makerPath: string;
    hostResolvConf?: string;
    sparesMax?: number;
  }): Promise<NetworkHost> {
    const { ownerKey, netnsDir, makerPath, sparesMax = 0 } = options;
    requireWord("ownerKey", ownerKey, /^[A-Za-z0-9]{1,32}$/);
    await mkdir(netnsDir, { recursive: true });
    const [links, routes, hostResolvConf, hasIpv6] = await Promise.all([
      readLinks(),
      runProcess(["ip", "-4", "-o", "route", "show", "table", "all"]),
      options.hostResolvConf ?? readHostResolvConf(),
      canForwardIpv6(),
      removeStaleEgressHolds(ownerKey),
    ]);
    const range = chooseLinkRange(parseRoutes(routes.stdout));
    if (range === undefined) throw noRange();
    const place = { ownerKey, netnsDir, range, makerPath };
    return new NetworkHost({ ...place, hostResolvConf, hasIpv6, sparesMax, existing: links });
  }

  /**
   * Makes the network of an instance: {@link createNamespace}, then {@link connect} for "nat".
   *
   * **On failure** nothing of it is left.
   *
   * @param allow  list of what it may reach; null for everything.
   */
  async create(
    instanceId: string,
    mode: NetworkMode,
    allow: string | null = null,
  ): Promise<SessionNetwork> {
    if (mode === "none") return await this.createNamespace(instanceId);
    return (await this.takeSpare(instanceId, allow)) ?? (await this.#makeWhole(instanceId, allow));
  }

  /**
   * Gives an instance a network with a link that was made in advance; `null` when there is none.
   *
   * **On failure** {@link remove} takes away what there is of it.
   */
  async takeSpare(instanceId: string, allow: string | null = null): Promise<SessionNetwork | null> {
    const spare = await this.#spares.give(instanceId);
    if (spare === null) return null;
    if (allow !== null) await this.contacts.allow(instanceId, allow);
    const { address, linkIndex } = spare;
    return { netnsPath: this.netnsPath(instanceId), address, linkIndex };
  }

  async #rename(fromId: string, toId: string): Promise<void> {
    // The link first: it is what remove() could not find by itself.
    await this.#links.rename(fromId, toId);
    this.contacts.rename(fromId, toId);
    this.#files.rename(fromId, toId);
    this.#uses.rename(fromId, toId);
  }

  async #makeWhole(instanceId: string, allow: string | null = null): Promise<SessionNetwork> {
    await this.createNamespace(instanceId);
    await using rollback = new Rollback();
    rollback.defer("remove the network", () => this.remove(instanceId));
    const connected = await this.connect(instanceId, { isHeld: false, allow });
    rollback.keep();
    return connected;
  }

  /**
   * Makes a namespace with lo and the inner address: all that must be there before a restore.
   *
   * @param plan  what {@link planSockets} says of the sockets that will come back; then
   * {@link release} has to follow when they are.
   */
  async createNamespace(
    instanceId: string,
    plan: SocketPlan | null = null,
  ): Promise<SessionNetwork> {
    const netnsPath = this.netnsPath(instanceId);
    await (await openFile(netnsPath, "wx")).close();
    // From here on: a second creation under this id must not take the first one away.
    await using rollback = new Rollback();
    rollback.defer("remove the namespace", () => this.remove(instanceId));
    const steps = buildNamespaceSteps(netnsPath, plan, this.#hasIpv6);
    if (plan !== null && plan.senders.length > 0) {
      const text = buildEgressHold(egressHoldTableName(this.#ownerKey, instanceId), plan.senders);
      steps.push({ kind: "nft", place: netnsPath, text });
    }
    await this.#maker.run(steps);
    if (plan === null) this.#uses.made(instanceId);
    rollback.keep();
    return { netnsPath, address: null, linkIndex: null };
  }

  /**
   * Lets restored sockets speak: closes those whose other end did not come back, before anything
   * can leave, so that those ends hear nothing; then opens the link, if there is one.
   *
   * **Requires** the sockets of `plan` are back, and their programs have not run yet.
   */
  async release(instanceId: string, plan: SocketPlan): Promise<void> {
    const link = this.#links.addressesOf(instanceId);
    const egressHold = egressHoldTableName(this.#ownerKey, instanceId);
    await runProcess([
      "sh",
      "-ec",
      buildReleaseScript({ netnsPath: this.netnsPath(instanceId), plan, link, egressHold }),
    ]);
  }

  /** Does for sockets that come back on the host's network what {@link createNamespace} does. */
  async prepareOnHost(instanceId: string, plan: SocketPlan): Promise<void> {
    await this.#onHost.prepare(instanceId, plan);
  }

  /** Does for sockets that came back on the host's network what {@link release} does. */
  async releaseOnHost(instanceId: string, plan: SocketPlan): Promise<void> {
    await this.#onHost.release(instanceId, plan);
  }

  /**
   * Links a namespace to the host and the world; CRIU may be restoring into it meanwhile.
   *
   * No program may run in it before this has ended: a list holds from then on.
   *
   * @param options.isHeld  leaves the session's end closed, for {@link release}.
   * @param options.allow  list of what it may reach; null for everything.
   */
  async connect(
    instanceId: string,
    { isHeld, allow = null }: { isHeld: boolean; allow?: string | null } = { isHeld: false },
  ): Promise<SessionNetwork> {
    const netnsPath = this.netnsPath(instanceId);
    await this.#setup.prepare();
    const { link, linkIndex } = await this.#links.make({ instanceId, netnsPath, isHeld });
    await Promise.all([
      // Looked at again now that the link exists: see putForwardingBack.
      switchForwardingOn(),
      this.#setup.secureLink(link.linkName),
      ...(allow === null ? [] : [this.contacts.allow(instanceId, allow)]),
    ]);
    this.contacts.watch(instanceId);
    return { netnsPath, address: link.sessionAddress, linkIndex };
  }

  /**
   * Tells that the processes of an instance are about to be ended, and its network to be removed: it is kept as a
   * spare one then, if it was never used.
   *
   * @param pid  of one of them.
   */
  beforeEnd(instanceId: string, pid: number): void {
    this.#uses.beforeEnd(instanceId, pid, this.netnsPath(instanceId));
  }

  /** **Requires** no process of the instance is left. Idempotent. */
  async remove(instanceId: string): Promise<void> {
    const isKept = await this.#keepAsSpare(instanceId);
    if (!isKept) await this.#removeWhole(instanceId);
    // Nobody is there who would need one soon.
    if (!isSpareId(instanceId) && this.#links.ids().every(isSpareId)) {
      await this.#spares.discard();
    }
  }

  async #keepAsSpare(instanceId: string): Promise<boolean> {
    const isUntouched = this.#uses.endsUntouched(instanceId);
    const link = this.#links.find(instanceId);
    if (!isUntouched || link === null || this.contacts.isLimited(instanceId)) return false;
    const { linkIndex, addresses } = link;
    return await this.#spares.keep(instanceId, { linkIndex, address: addresses.sessionAddress });
  }

  async #removeWhole(instanceId: string): Promise<void> {
    this.#uses.forget(instanceId);
    await this.contacts.remove(instanceId);
    // The link first: the end of the namespace would take its time.
    await this.#links.remove(instanceId);
    await this.#onHost.remove(instanceId);
    await this.#maker.run([{ kind: "release", place: this.netnsPath(instanceId), text: "" }]);
    this.#files.remove(instanceId);
  }

  /** Returns the instances that have a namespace or a link, also from before a crash. */
  async list(): Promise<string[]> {
    const ids = await this.#files.list();
    return [...new Set([...ids, ...this.#links.ids()])];
  }

  /**
   * Takes this daemon's rules off the host once the last session ended; idempotent.
   *
   * Forwarding is put back if one of our daemons switched it on and none has a link any more.
   */
  async releaseHost(): Promise<void> {
    await this.#spares.discard();
    await this.#setup.release();
    await this.#maker.close();
  }

  /** Returns how many networks are ready in advance, and how many programs make links just now. */
  status(): { readyCount: number; makerCount: number } {
    return { readyCount: this.#spares.readyCount, makerCount: this.#maker.programCount };
  }

  /** Returns the file of an instance's network namespace. */
  netnsPath(instanceId: string): string {
    return this.#files.pathOf(instanceId);
  }
}
