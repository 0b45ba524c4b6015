/**
 * dns owns what a message of DNS asks and answers, and the packet that it comes in.
 */
export { type DnsAnswer, type DnsQuestion, readAnswer, readQuestion, refuse } from "./message.ts";
export { messageInPacket } from "./packet.ts";
