import ts from "typescript";

/**
 * Returns the codes that a file of tests reaches: those that it expects of something, and does not make
 * itself.
 *
 * A title, a comment, a fake's error or a list of codes reaches nothing.
 */
export function reachedCodes(text: string, codes: readonly string[]): string[] {
  const expected = new Set<string>();
  const made = new Set<string>();
  const visit = (node: ts.Node, isExpectation: boolean): void => {
    const isInside = isExpectation || (ts.isCallExpression(node) && expects(node));
    const found = isInside ? codesIn(node, codes) : [];
    for (const code of found) expected.add(code);
    if (isError(node)) for (const code of codesIn(node.arguments?.[0], codes)) made.add(code);
    ts.forEachChild(node, (child) => visit(child, isInside));
  };
  visit(ts.createSourceFile("some.test.ts", text, ts.ScriptTarget.Latest), false);
  return codes.filter((code) => expected.has(code) && !made.has(code));
}

/** Calls that have what is expected among their arguments: matchers, questions, tables of cases. */
function expects({ expression }: ts.CallExpression): boolean {
  if (ts.isIdentifier(expression)) return ["expect", "hasCode"].includes(expression.text);
  if (!ts.isPropertyAccessExpression(expression)) return false;
  if (expression.name.text === "each") return true;
  return startsWithExpect(expression.expression);
}

/** Tells it of `expect(…).rejects.toMatchObject` as of `expect.objectContaining`. */
function startsWithExpect(node: ts.Expression): boolean {
  if (ts.isPropertyAccessExpression(node)) return startsWithExpect(node.expression);
  if (ts.isCallExpression(node)) return startsWithExpect(node.expression);
  return ts.isIdentifier(node) && node.text === "expect";
}

function isError(node: ts.Node): node is ts.NewExpression {
  if (!ts.isNewExpression(node) || !ts.isIdentifier(node.expression)) return false;
  return node.expression.text.endsWith("Error");
}

function codesIn(node: ts.Node | undefined, codes: readonly string[]): string[] {
  if (node === undefined) return [];
  if (!ts.isStringLiteralLike(node) && !ts.isRegularExpressionLiteral(node)) return [];
  return codes.filter((code) => new RegExp(`\\b${code}\\b`).test(node.text));
}
