/**
 * The policy of Trusted Types. Mantine writes its style sheets with `innerHTML`, which the policy of
 * the page forbids for strings. A string without `<` cannot create an element, so it is allowed.
 */
interface PolicyFactory {
  createPolicy(name: string, rules: { createHTML: (text: string) => string }): unknown;
}

export function checkHtml(text: string): string {
  if (text.includes('<')) throw new TypeError('The application never writes HTML.');
  return text;
}

export function installPolicy(): void {
  const factory = (globalThis as { trustedTypes?: PolicyFactory }).trustedTypes;
  factory?.createPolicy('default', { createHTML: checkHtml });
}
