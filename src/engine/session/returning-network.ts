import type { Rollback } from "../../base/index.ts";
import type { SessionNetwork } from "../../linux/network/index.ts";
import type { SessionRow } from "../../portable/model/index.ts";
import type { Engine } from "../ports/index.ts";

/** The network of an instance whose processes come back; null where it is the host's own. */
export interface ReturningNetwork {
  /** All that CRIU needs: a namespace with its addresses. */
  ready: Promise<SessionNetwork | null>;
  /** The same with its way to the outside, which comes up while CRIU works. */
  linked: Promise<SessionNetwork | null>;
  /** What must be done before the first program runs; null if nothing. */
  settle: (() => Promise<void>) | null;
}

/**
 * Begins to make the network for the sockets of a checkpoint.
 *
 * **On failure** of anything later, `rollback` waits until nothing more is being made; removing the
 * instance removes the network.
 */
export async function beginNetwork(
  session: Pick<SessionRow, "net" | "netAllow">,
  instanceId: string,
  imagesDir: string,
  rollback: Rollback,
  engine: Engine,
): Promise<ReturningNetwork> {
  const { network, criu } = engine;
  const sockets = await criu.readImageSockets(imagesDir);
  if (session.net === "host") {
    const plan = network.planSocketsOnHost(sockets);
    if (plan === null) return { ready: nothing(), linked: nothing(), settle: null };
    await network.prepareOnHost(instanceId, plan);
    const settle = () => network.releaseOnHost(instanceId, plan);
    return { ready: nothing(), linked: nothing(), settle };
  }
  const plan = network.planSockets(sockets);
  const allow = session.netAllow;
  const spare =
    session.net === "nat" && plan === null ? await network.takeSpare(instanceId, allow) : null;
  if (spare !== null) {
    return { ready: Promise.resolve(spare), linked: Promise.resolve(spare), settle: null };
  }
  const ready = network.createNamespace(instanceId, plan);
  const linked =
    session.net === "nat"
      ? ready.then(() => network.connect(instanceId, { isHeld: plan !== null, allow }))
      : ready;
  rollback.defer("wait for the link to come up or fail", async () => {
    await Promise.allSettled([linked]);
  });
  const settle = async () => {
    await linked;
    if (plan !== null) await network.release(instanceId, plan);
  };
  // Without a link and anything to hold back, the namespace is as it shall be.
  return { ready, linked, settle: session.net === "nat" || plan !== null ? settle : null };
}

function nothing(): Promise<null> {
  return Promise.resolve(null);
}
