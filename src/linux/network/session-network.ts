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
