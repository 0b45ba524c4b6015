// A small web server with some state; makes the file `argv[2]` when it listens.
import { writeFileSync } from "node:fs";
import { createServer } from "node:http";

const seen = new Map(Array.from({ length: 20_000 }, (_, index) => [`user-${index}`, { index }]));
const server = createServer((request, response) => {
  seen.set(request.url, { index: seen.size });
  response.end(`${seen.size}\n`);
});
server.listen(3000, "127.0.0.1", () => writeFileSync(process.argv[2], ""));
