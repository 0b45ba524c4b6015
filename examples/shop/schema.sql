CREATE TABLE products (sku TEXT PRIMARY KEY, name TEXT NOT NULL, price_cents INTEGER NOT NULL);
CREATE TABLE shipping_rates (kind TEXT PRIMARY KEY, cents INTEGER NOT NULL);
INSERT INTO products VALUES ('mug', 'Mug', 2200), ('teapot', 'Teapot', 4950);
