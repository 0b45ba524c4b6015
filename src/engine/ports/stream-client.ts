import type {
  ApprovalInfo,
  Caller,
  ControlMessage,
  Progress,
} from "../../shared/protocol/index.ts";

/** The client at the other end of a stream operation. */
export interface StreamClient {
  /** Sends bytes; resolves when the client can take more, so that memory stays bounded. */
  send(stream: "stdout" | "stderr", bytes: Uint8Array): Promise<void>;
  /** Tells a person something that is not output; with the step that waits, where it is about one. */
  notice(text: string, approval?: ApprovalInfo): void;
  /** Tells how far the operation has come; as often as one likes. */
  progress(progress: Progress): void;
  /** Hands over what the client says and types from now on; at most one handler. */
  listen(handlers: {
    onControl: (message: ControlMessage) => void;
    /** Empty bytes are the end of input; the next bytes come when the promise resolves. */
    onInput: (bytes: Uint8Array) => Promise<void>;
  }): void;
  /** Process id of the client, whose machine paths without a moment are of; 0 where it is unknown. */
  readonly pid: number;
  /** Who asks, and through what. */
  readonly caller: Caller;
  /** Aborted when the client has gone: nothing can be sent to it any more. */
  readonly gone: AbortSignal;
  /** Aborted, with CANCELLED, when the client has gone or wants the operation cancelled. */
  readonly cancelled: AbortSignal;
}
