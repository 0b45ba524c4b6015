/** The library prints what it has to say; returns that in place of printing it. */
export function collectPrinted(print: () => void): string {
  const { log } = console;
  const lines: string[] = [];
  console.log = (line: string) => void lines.push(line);
  try {
    print();
  } finally {
    console.log = log;
  }
  return `${lines.join("\n")}\n`;
}
