/** Returns the address to go on with after the sign-in if it is one of this application. */
export function safeNext(next: string | undefined): string | undefined {
  // Browsers ignore tabs and line breaks in addresses.
  if (next === undefined || !next.startsWith('/') || /^\/[/\\\t\n\r]/.test(next)) return undefined;
  return next;
}
