const LOOPBACK = /^(?:localhost|127(?:\.\d+){3}|\[?::1\]?)$/i;
/** Options of curl that say what is sent: without a method they mean POST. */
const CURL_DATA = /^(?:--(?:data|form|json|mail-rcpt|mail-from)(?:[-=].*|)|-[a-zA-Z]*[dF].*)$/;
const CURL_UPLOAD = /^(?:--upload-file(?:=.*)?|-[a-zA-Z]*T.*)$/;
/** Short options of curl that take a value: behind them no further option stands. */
const CURL_VALUED = /^-[a-zA-Z]*?[AbCcDEeHhKmoPrtUuwxYyzQ]/;

/** Tells whether a host is this machine itself. */
export function isLoopback(host: string): boolean {
  return LOOPBACK.test(host);
}

/** Returns the method of a request that leaves this machine, as its arguments say; `null` for GET or none. */
export function methodOf(program: string, words: readonly string[]): string | null {
  const method = methodIn(program, words);
  if (method === null) return null;
  const named = words.filter(
    (word) => /:\/\//.test(word) || /^(?:[^\s:]*\.|localhost\b)\S*$/.test(word),
  );
  const hosts = named.flatMap(destinationsOf);
  return hosts.length > 0 && hosts.every((host) => LOOPBACK.test(host)) ? null : method;
}

function methodIn(program: string, words: readonly string[]): string | null {
  if (program === "curl") return curlMethod(words);
  if (program === "wget" || program === "wget2") return wgetMethod(words);
  if (program === "gh") return ghMethod(words);
  const isHttpie = ["http", "https", "xh", "xhs"].includes(program);
  return isHttpie ? httpieMethod(words) : null;
}

function curlMethod(words: readonly string[]): string | null {
  let implied: string | null = null;
  for (const [at, word] of words.entries()) {
    const named =
      /^--request=(.+)$/.exec(word)?.[1] ??
      (word === "--request" ? words[at + 1] : undefined) ??
      shortMethod(word, words[at + 1]);
    if (named !== undefined) return named.toUpperCase();
    if (CURL_UPLOAD.test(word) && !CURL_VALUED.test(word)) implied = "PUT";
    else if (CURL_DATA.test(word) && !CURL_VALUED.test(word)) implied ??= "POST";
  }
  const isGet = words.some((word) => word === "--get" || /^-[a-zA-Z]*G/.test(word));
  return isGet ? null : implied;
}

/** `-X POST`, `-XPOST`, `-sXPOST`. */
function shortMethod(word: string, next: string | undefined): string | undefined {
  const match = /^-([a-zA-Z]*?)X(.*)$/.exec(word);
  if (match === null || CURL_VALUED.test(`-${match[1]}`)) return undefined;
  return match[2] === "" ? next : match[2];
}

function wgetMethod(words: readonly string[]): string | null {
  for (const [at, word] of words.entries()) {
    const method = /^--method=(.+)$/.exec(word)?.[1];
    if (method !== undefined) return method.toUpperCase();
    if (word === "--method") return (words[at + 1] ?? "").toUpperCase();
    if (/^--(?:post|body)-(?:data|file)/.test(word)) return "POST";
  }
  return null;
}

/** `gh api` asks as curl does. */
function ghMethod(words: readonly string[]): string | null {
  if (words.find((word) => !word.startsWith("-")) !== "api") return null;
  for (const [at, word] of words.entries()) {
    const named = /^(?:--method=|-X)(.+)$/.exec(word)?.[1];
    if (named !== undefined) return named.toUpperCase();
    if (word === "-X" || word === "--method") return (words[at + 1] ?? "").toUpperCase();
  }
  const sends = words.some((word) => /^(?:-[fF].*|--(?:raw-)?field.*|--input.*)$/.test(word));
  return sends ? "POST" : null;
}

function httpieMethod(words: readonly string[]): string | null {
  const named = words.find((word) => /^(?:GET|HEAD|OPTIONS|POST|PUT|PATCH|DELETE)$/i.test(word));
  if (named !== undefined) return named.toUpperCase();
  const sends = words.some((word) => /^[\w.[\]-]+:?=(?!=)/.test(word) || /^[\w.-]+@/.test(word));
  return sends ? "POST" : null;
}

/** Returns the host that a word names: of a URL, of `user@host:path`, or the word itself. */
export function destinationsOf(word: string): string[] {
  const url = /^(?:[^=]*=)?[a-z][a-z\d+.-]*:\/\/(?:[^/?#]*@)?(\[[^\]]*\]|[^/:?#]*)/i.exec(
    word,
  )?.[1];
  if (url !== undefined) return [url];
  const remote = /^(?:[\w.-]+@)?([A-Za-z\d][\w.-]*)(?::.*|\/.*)?$/.exec(word)?.[1];
  return remote === undefined || remote === "" ? [] : [remote];
}
