import type { ImagePrograms } from "./process-images.ts";

/** Our own programs that the store runs, built. */
export interface StorePrograms extends ImagePrograms {
  /** native/share-tree/share-tree.c */
  shareProgramPath: string;
}
