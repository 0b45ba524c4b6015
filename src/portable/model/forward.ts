/** A port of a session that another loopback leads to: the host's, or another session's. */
export interface ForwardRow {
  session: string;
  /** Port inside the session. */
  port: number;
  hostPort: number;
  /** Session on whose loopback `hostPort` is; null for the host's. */
  to: string | null;
}
