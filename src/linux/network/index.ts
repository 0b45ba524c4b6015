/**
 * network owns a session's network: its namespace, its link, address translation, name servers.
 * It knows neither sessions nor CRIU, and touches no rule of the host that it did not make.
 * docs/network.md describes the result and its limits.
 */
export type { LearnedNames } from "./name-watch.ts";
export { NetworkHost } from "./network-host.ts";
export type { CountedContact, LinkCounters } from "./parse-counters.ts";
export { type ForwardPlace, type ForwardTarget, PortForwards } from "./port-forwards.ts";
export { INNER_ADDRESS } from "./session-commands.ts";
export type { NetworkMode, SessionNetwork } from "./session-network.ts";
