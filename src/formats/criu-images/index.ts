/**
 * criu-images owns the format of CRIU's images: entries, fields and what is read of sockets.
 */

export {
  bytesField,
  bytesFields,
  IMAGE_MAGIC,
  messageField,
  messageFields,
  numberField,
  numberFields,
  readFirstImageEntry,
  readImageEntries,
  stringField,
  type WireMessage,
  withEntriesLast,
  withFields,
  withImageFields,
} from "./image-format.ts";
export { parseInetSocket, type SocketEnd } from "./inet-socket.ts";
