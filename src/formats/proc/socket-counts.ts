/** Protocols of which the kernel counts the sockets in `/proc/PID/net/sockstat` and `sockstat6`. */
export type CountedProtocol = "TCP" | "UDP" | "UDPLITE" | "RAW";

/**
 * Tells whether a network namespace has a socket of these protocols, one in TIME_WAIT counted, by the text of its
 * `sockstat` or `sockstat6`. Sockets that are not bound count for nothing.
 *
 * The tables of TCP say more, and take 5 ms each on a machine with much memory: the kernel looks for the sockets of
 * one namespace among the places for those of all.
 */
export function countsSockets(text: string, protocols: readonly CountedProtocol[]): boolean {
  return text.split("\n").some((line) => {
    const [, protocol = ""] = /^([A-Z]+)6?: .*\b(?:inuse|tw) [1-9]/.exec(line) ?? [];
    return protocols.some((each) => each === protocol);
  });
}
