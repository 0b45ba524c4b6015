// The total of an order: price from SQLite, discount from Redis, tax and shipping from config.json.
import { readFile } from "node:fs/promises";
import { sqlText } from "./database.mjs";
import { shippingCents } from "./shipping.mjs";

/** A request that cannot be answered, with its HTTP status. */
export class OrderError extends Error {
  constructor(status, message) {
    super(message);
    this.status = status;
  }
}

export async function orderTotal(order, { database, cache }) {
  const { sku = "mug", quantity = "2", shipping = "standard" } = order;
  const config = JSON.parse(await readFile("config.json", "utf8"));

  const goodsCents = (await priceCents(database, sku)) * readQuantity(quantity);
  const discountPercent = Number((await cache.get("shop:discount-percent")) ?? 0);
  const deliveryCents = await shippingCents(shipping, { config, database });
  if (deliveryCents === undefined) throw new OrderError(422, `no price for ${shipping} shipping`);

  const netCents = Math.round(goodsCents * (1 - discountPercent / 100));
  const taxCents = Math.round((netCents * config.taxPercent) / 100);
  return {
    total: dollars(netCents + taxCents + deliveryCents),
    goods: dollars(goodsCents),
    discount: `${discountPercent}%`,
    tax: `${config.taxPercent}%`,
    shipping: dollars(deliveryCents),
  };
}

async function priceCents(database, sku) {
  const [row] = await database.query(
    `SELECT price_cents FROM products WHERE sku = ${sqlText(sku)}`,
  );
  if (row === undefined) throw new OrderError(404, "no such product");
  return row.price_cents;
}

function readQuantity(text) {
  const quantity = Number(text);
  if (!Number.isInteger(quantity) || quantity < 1 || quantity > 1000) {
    throw new OrderError(400, "quantity must be a whole number from 1 to 1000");
  }
  return quantity;
}

function dollars(cents) {
  return `$${(cents / 100).toFixed(2)}`;
}
