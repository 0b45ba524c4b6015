// The shop's HTTP server: GET /health, GET /total?sku=mug&quantity=2&shipping=standard
import http from "node:http";
import { Redis } from "ioredis";
import { openDatabase } from "./database.mjs";
import { OrderError, orderTotal } from "./order.mjs";

const PORT = Number(process.env.PORT ?? 3000);

const database = openDatabase("shop.db");
const cache = new Redis({ maxRetriesPerRequest: 1 });
cache.on("error", (error) => console.error(`redis: ${error.message}`));

async function answer(url) {
  if (url.pathname === "/health") return { ok: (await cache.ping()) === "PONG", pid: process.pid };
  if (url.pathname === "/total") {
    const order = Object.fromEntries(url.searchParams);
    return { ...(await orderTotal(order, { database, cache })), pid: process.pid };
  }
  throw new OrderError(404, "no such page");
}

const server = http.createServer(async (request, response) => {
  let status = 200;
  let body;
  try {
    body = await answer(new URL(request.url, "http://shop"));
  } catch (error) {
    status = error instanceof OrderError ? error.status : 500;
    body = { error: error.message };
  }
  response.writeHead(status, { "content-type": "application/json" });
  response.end(`${JSON.stringify(body)}\n`);
});

server.listen(PORT, () => console.log(`shop: port ${PORT}, process ${process.pid}`));
