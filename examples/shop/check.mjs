// The shop's test, against the running server: `npm test`.
const SHOP = `http://127.0.0.1:${process.env.PORT ?? 3000}`;

async function total(shipping) {
  const response = await fetch(`${SHOP}/total?sku=mug&quantity=2&shipping=${shipping}`);
  const body = await response.json();
  return response.ok ? body.total : `HTTP ${response.status}, ${body.error}`;
}

function report(title, isOk, found) {
  console.log(`${isOk ? "ok    " : "not ok"} ${title}: ${found}`);
  if (!isOk) process.exitCode = 1;
}

const standard = await total("standard");
const express = await total("express");
report("two mugs cost $39.98", standard === "$39.98", standard);
report("express shipping has a price", express.startsWith("$"), express);
