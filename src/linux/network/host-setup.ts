import { writeFile } from "node:fs/promises";
import { runProcess } from "../../base/index.ts";
import { contactTable } from "./contact-rules.ts";
import { closeForwardChain, openForwardChain } from "./forward-policy.ts";
import { buildHostRules, hostTableName } from "./host-rules.ts";
import { putForwardingBack } from "./ip-forwarding.ts";
import { readLinks } from "./links.ts";

/** What one daemon changes on the host for the links of its sessions, and puts back. */
export class HostSetup {
  readonly #options: Parameters<typeof buildHostRules>[0];
  #ready: Promise<void> | null = null;

  constructor(options: Parameters<typeof buildHostRules>[0]) {
    this.#options = options;
  }

  /** Puts the host's rules in place, once per daemon. */
  prepare(): Promise<void> {
    this.#ready ??= this.#writeRules().catch((error: unknown) => {
      this.#ready = null;
      throw error;
    });
    return this.#ready;
  }

  async #writeRules(): Promise<void> {
    await runProcess(["nft", "-f", "-"], { input: buildHostRules(this.#options) });
    await openForwardChain(this.#options.ownerKey);
  }

  /** A session may send raw packets, but not in the name of others. */
  async secureLink(linkName: string): Promise<void> {
    const setting = (name: string) => `/proc/sys/net/ipv4/conf/${linkName}/${name}`;
    await writeFile(setting("rp_filter"), "1");
    if (this.#options.forwardDnsTo !== null) await writeFile(setting("route_localnet"), "1");
  }

  /** Takes the rules off the host, and forwarding if nobody needs it any more; idempotent. */
  async release(): Promise<void> {
    this.#ready = null;
    const { ownerKey } = this.#options;
    const name = hostTableName(ownerKey);
    for (const table of [`ip ${name}`, `ip6 ${name}`, contactTable(ownerKey)]) {
      await runProcess(["nft", "delete", "table", ...table.split(" ")], { okExitCodes: [0, 1] });
    }
    await closeForwardChain(ownerKey);
    await putForwardingBack(async () => (await readLinks()).length > 0);
  }
}
