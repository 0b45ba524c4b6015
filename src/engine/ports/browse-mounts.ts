import type { Browse } from "../../shared/protocol/index.ts";
import type { StreamClient } from "./stream-client.ts";

/** What a client wants to look at, and where on its machine. */
export interface BrowseRequest {
  moment: string;
  /** An empty directory. @defaultValue one is made */
  directory?: string | undefined;
}

/** Moments that are mounted for users; src/engine/files mounts them. */
export interface BrowseMounts {
  list(): Browse[];
  /**
   * Mounts a moment on an empty directory of the client's machine.
   *
   * @throws FILE_NOT_FOUND | FILE_REFUSED  the directory is not there, or not empty.
   * @throws CHECKPOINT_NOT_FOUND | CHECKPOINT_INCOMPLETE | SANDBOX_FAILED | TOOL_FAILED
   */
  begin(request: BrowseRequest, client: StreamClient): Promise<Browse>;
  /** Ends what `which` names: an id, a directory, a checkpoint or its session. @throws FILE_NOT_FOUND */
  end(which: string): Promise<Browse[]>;
  /** Returns those that show one of these checkpoints. */
  of(checkpoints: readonly string[]): Browse[];
  /** Ends all of them, also where one of them fails. */
  endAll(): Promise<void>;
  /** Ends what a killed daemon has left. */
  endLeft(): Promise<void>;
}
