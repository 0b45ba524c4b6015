// Writes `argv[3]` files of about 1 KB into the directory `argv[2]`, a hundred to a directory.
import { mkdirSync, writeFileSync } from "node:fs";

const [, , directory, count] = process.argv;
for (let index = 0; index < Number(count); index += 1) {
  const parent = `${directory}/${Math.floor(index / 100)}`;
  if (index % 100 === 0) mkdirSync(parent, { recursive: true });
  writeFileSync(`${parent}/${index}.txt`, `file ${index}\n`.repeat(80));
}
