import fc from "fast-check";
import { expect, test } from "vitest";
import { TailOutput } from "./tail-output.ts";

test("the end of a long output is kept, and its whole length known", () => {
  const output = new TailOutput(10);
  for (let number = 0; number < 100; number++) output.add(Buffer.from(`${number} `));

  expect(output.text()).toBe(" 97 98 99 ");
  expect(output.bytes).toBe(290);
});

test("one piece that is too long is cut as well, never within a character", () => {
  const output = new TailOutput(4);
  output.add(Buffer.from("abc äöü"));

  expect(output.text()).toBe("öü");
  output.add(Buffer.from("x"));
  expect(output.text()).toBe("üx");
});

test("what fits is kept as it is", () => {
  const output = new TailOutput(100);
  output.add(Buffer.from("all"));
  output.add(Buffer.from(" of it"));

  expect(output.text()).toBe("all of it");
});

test("whatever pieces it comes in, the end of the stream is kept", () => {
  fc.assert(
    fc.property(
      fc.integer({ min: 1, max: 3000 }),
      fc.array(fc.string({ maxLength: 2000, unit: "grapheme-ascii" }), { maxLength: 20 }),
      (bytesMax, pieces) => {
        const output = new TailOutput(bytesMax);
        for (const piece of pieces) output.add(Buffer.from(piece));

        const whole = pieces.join("");
        expect(output.bytes).toBe(whole.length);
        expect(output.text()).toBe(whole.slice(-bytesMax));
      },
    ),
  );
});
