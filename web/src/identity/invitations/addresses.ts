const SEPARATORS = /[\s,;]+/;

/** Splits what was typed or pasted into addresses, each once, in lower case. */
export function splitAddresses(texts: readonly string[]): string[] {
  const all = texts.flatMap((text) => text.split(SEPARATORS));
  const bare = all.map((text) => text.replace(/^<|>$/g, '').toLowerCase());
  return [...new Set(bare.filter((text) => text.includes('@')))];
}

/** What is left of a text after the addresses of an earlier state of it were sent. */
export function keepUnsent(text: string, sent: string, failed: readonly string[]): string {
  const known = new Set(sent.split(SEPARATORS));
  const added = text.split(SEPARATORS).filter((word) => word !== '' && !known.has(word));
  return [...failed, ...added].join('\n');
}
