const SEPARATORS = /[\s,;]+/;
/** `Ada Byron <ada@example.com>` or `"Byron, Ada" <ada@example.com>`, as mail programs copy it. */
const NAMED = /(?:"[^"\n]*"|[^",;\n<>])*<([^<>]*)>/g;

interface Typed {
  /** Each once, in lower case. */
  addresses: string[];
  /** Words that are neither an address nor the name of one. */
  others: string[];
}

/** Splits what was typed or pasted into addresses and what is none. */
export function splitAddresses(text: string): Typed {
  const words = text.replace(NAMED, ' $1 ').split(SEPARATORS).filter(Boolean);
  const addresses = words.filter((word) => word.includes('@')).map((word) => word.toLowerCase());
  const others = words.filter((word) => !word.includes('@'));
  return { addresses: [...new Set(addresses)], others: [...new Set(others)] };
}

/** What is left of a text after the addresses of an earlier state of it were sent. */
export function keepUnsent(text: string, sent: string, failed: readonly string[]): string {
  const known = new Set(sent.split(SEPARATORS));
  const added = text.split(SEPARATORS).filter((word) => word !== '' && !known.has(word));
  return [...failed, ...added].join('\n');
}
