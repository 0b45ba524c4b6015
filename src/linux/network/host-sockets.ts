import { runProcess } from "../../base/index.ts";
import { buildEgressHold, egressHoldTableName } from "./hold-egress.ts";
import { buildReleaseScript } from "./session-commands.ts";
import type { SocketPlan } from "./socket-plan.ts";

/** Sockets that come back on the host's own network, where there is no namespace to prepare. */
export class HostSockets {
  readonly #ownerKey: string;
  readonly #held = new Set<string>();

  constructor(ownerKey: string) {
    this.#ownerKey = ownerKey;
  }

  /** Holds back what the senders of a plan send, until {@link release}. */
  async prepare(instanceId: string, plan: SocketPlan): Promise<void> {
    if (plan.senders.length === 0) return;
    const input = buildEgressHold(this.#tableOf(instanceId), plan.senders);
    this.#held.add(instanceId);
    await runProcess(["nft", "-f", "-"], { input });
  }

  /** Closes those whose other end did not come back, and lets the others speak. */
  async release(instanceId: string, plan: SocketPlan): Promise<void> {
    const egressHold = this.#tableOf(instanceId);
    const script = buildReleaseScript({ netnsPath: null, plan, link: null, egressHold });
    await runProcess(["sh", "-ec", script]);
    this.#held.delete(instanceId);
  }

  /** Removes what still holds back; idempotent. */
  async remove(instanceId: string): Promise<void> {
    if (!this.#held.delete(instanceId)) return;
    const table = ["inet", this.#tableOf(instanceId)];
    await runProcess(["nft", "delete", "table", ...table], { okExitCodes: [0, 1] });
  }

  #tableOf(instanceId: string): string {
    return egressHoldTableName(this.#ownerKey, instanceId);
  }
}
