import { closeSync } from "node:fs";
import { isSystemError } from "../../base/index.ts";
import { check, koffi, libc } from "./libc.ts";

const native = {
  ifNameToIndex: libc.func("unsigned int if_nametoindex(const char *name)"),
  socket: libc.func("int socket(int family, int type, int protocol)"),
  setsockopt: libc.func(
    "int setsockopt(int fd, int level, int name, const uint8_t *value, uint32_t length)",
  ),
  bind: libc.func("int bind(int fd, const uint8_t *address, uint32_t length)"),
  recv: libc.func("int64_t recv(int fd, _Out_ uint8_t *bytes, size_t length, int flags)"),
};

const AF_PACKET = 17;
const SOCK_DGRAM_CLOEXEC_NONBLOCK = 2 | 0o2000000 | 0o4000;
const SOL_SOCKET = 1;
const SO_ATTACH_FILTER = 26;
const SO_RCVBUFFORCE = 33;
const ETH_P_ALL = 3;
const INSTRUCTION_BYTES = 8;

/** An instruction of a classic BPF program: code, jump if true, jump if false, value. */
export type FilterInstruction = readonly [number, number, number, number];

/**
 * Opens a socket that keeps copies of the packets of one interface, from the IP header on, which a
 * filter lets through. The kernel drops what has no room.
 *
 * **Requires** root. **On failure** nothing is left open. @throws ENODEV  there is no such interface.
 */
export function openPacketSocket(
  interfaceName: string,
  filter: readonly FilterInstruction[],
  bufferBytes: number,
): number {
  const index = native.ifNameToIndex(interfaceName);
  if (index === 0) check(`if_nametoindex ${interfaceName}`, -1);
  // With no protocol nothing arrives before the filter is there.
  const fd = check("socket", native.socket(AF_PACKET, SOCK_DGRAM_CLOEXEC_NONBLOCK, 0));
  try {
    const program = new Uint8Array(filter.length * INSTRUCTION_BYTES);
    const view = new DataView(program.buffer);
    for (const [position, [code, ifTrue, ifFalse, value]] of filter.entries()) {
      view.setUint16(position * INSTRUCTION_BYTES, code, true);
      view.setUint8(position * INSTRUCTION_BYTES + 2, ifTrue);
      view.setUint8(position * INSTRUCTION_BYTES + 3, ifFalse);
      view.setUint32(position * INSTRUCTION_BYTES + 4, value >>> 0, true);
    }
    const described = new DataView(new ArrayBuffer(16));
    described.setUint16(0, filter.length, true);
    described.setBigUint64(8, koffi.address(program), true);
    setOption(fd, SO_ATTACH_FILTER, new Uint8Array(described.buffer));
    const size = new DataView(new ArrayBuffer(4));
    size.setUint32(0, bufferBytes, true);
    setOption(fd, SO_RCVBUFFORCE, new Uint8Array(size.buffer));
    const address = new DataView(new ArrayBuffer(20));
    address.setUint16(0, AF_PACKET, true);
    address.setUint16(2, ETH_P_ALL);
    address.setInt32(4, index, true);
    check(`bind to ${interfaceName}`, native.bind(fd, new Uint8Array(address.buffer), 20));
    return fd;
  } catch (error) {
    closeSync(fd);
    throw error;
  }
}

/** Takes the next packet into `buffer`. @returns its length there; `null` while there is none. */
export function receivePacket(fd: number, buffer: Uint8Array): number | null {
  try {
    return check("recv", Number(native.recv(fd, buffer, buffer.length, 0)));
  } catch (error) {
    if (isSystemError(error, "EAGAIN", "ENETDOWN")) return null;
    throw error;
  }
}

function setOption(fd: number, name: number, value: Uint8Array): void {
  check("setsockopt", native.setsockopt(fd, SOL_SOCKET, name, value, value.length));
}
