const PROTOCOL_TCP = 6;
const PROTOCOL_UDP = 17;
const DNS_PORT = 53;
const IPV6_HEADER_BYTES = 40;
const UDP_HEADER_BYTES = 8;
const TCP_HEADER_BYTES_MIN = 20;
const MESSAGE_BYTES_MIN = 12;

/**
 * Returns the message in an IP packet that comes from a name server, `null` where there is none.
 *
 * Over TCP a message is found where it begins and ends in one packet.
 */
export function messageInPacket(packet: Uint8Array): Uint8Array | null {
  const transport = transportOf(packet);
  if (transport === null) return null;
  const { protocol, bytes } = transport;
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  if (bytes.length < UDP_HEADER_BYTES || view.getUint16(0) !== DNS_PORT) return null;
  const message =
    protocol === PROTOCOL_UDP ? bytes.subarray(UDP_HEADER_BYTES) : messageInSegment(bytes, view);
  return message === null || message.length < MESSAGE_BYTES_MIN ? null : message;
}

function transportOf(packet: Uint8Array): { protocol: number; bytes: Uint8Array } | null {
  const version = (packet[0] ?? 0) >> 4;
  const protocol = packet[version === 4 ? 9 : 6];
  if (protocol !== PROTOCOL_TCP && protocol !== PROTOCOL_UDP) return null;
  if (version === 6) return { protocol, bytes: packet.subarray(IPV6_HEADER_BYTES) };
  if (version !== 4) return null;
  return { protocol, bytes: packet.subarray(((packet[0] ?? 0) & 0x0f) * 4) };
}

/** Each message is preceded by its length. */
function messageInSegment(bytes: Uint8Array, view: DataView): Uint8Array | null {
  if (bytes.length < TCP_HEADER_BYTES_MIN) return null;
  const start = (view.getUint8(12) >> 4) * 4;
  if (start < TCP_HEADER_BYTES_MIN || bytes.length < start + 2) return null;
  const length = view.getUint16(start);
  const end = start + 2 + length;
  return end > bytes.length ? null : bytes.subarray(start + 2, end);
}
