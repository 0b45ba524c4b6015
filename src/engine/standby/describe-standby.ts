import type { SessionRow } from "../../portable/catalog/index.ts";
import type { OperationOutput } from "../../shared/protocol/index.ts";
import type { EnginePorts } from "../session/index.ts";
import { policyOf, wantedOf } from "./wanted-checkpoints.ts";

/** Returns what is kept on standby for a session. */
export function describeStandby(
  session: SessionRow,
  ports: EnginePorts,
): OperationOutput<"standby"> {
  const { reason } = ports.standbys.status();
  const isLive = ports.live.get(session.id) !== undefined;
  const wanted = isLive ? wantedOf(session, ports) : [];
  return {
    session: session.id,
    policy: policyOf(session, ports),
    isDefault: session.standby === null,
    ready: wanted.map(({ id }) => id).filter((id) => ports.standbys.has(id)),
    reason,
  };
}
