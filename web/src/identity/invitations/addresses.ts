/** Splits what was typed or pasted into addresses, each once, in lower case. */
export function splitAddresses(texts: readonly string[]): string[] {
  const all = texts.flatMap((text) => text.split(/[\s,;]+/));
  const bare = all.map((text) => text.replace(/^<|>$/g, '').toLowerCase());
  return [...new Set(bare.filter((text) => text.includes('@')))];
}
