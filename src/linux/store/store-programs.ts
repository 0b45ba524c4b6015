import type { ImagePrograms } from "./images-dir.ts";

/** Our own programs that the store runs, built. */
export interface StorePrograms extends ImagePrograms {
  /** native/share-tree/share-tree.c */
  shareProgramPath: string;
}
