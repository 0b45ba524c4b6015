/**
 * elf owns what a program or library says of itself: its machine, its loader, what it needs and shows.
 */

export { ElfImage } from "./elf-image.ts";
