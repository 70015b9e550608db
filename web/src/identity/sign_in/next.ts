/** Returns the address to go on with after the sign-in if it is one of this application. */
export function safeNext(next: string | undefined): string | undefined {
  if (next === undefined || !next.startsWith('/') || /^\/[/\\]/.test(next)) return undefined;
  return next;
}
