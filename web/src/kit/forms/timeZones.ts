/** Returns the time zones that the browser knows, UTC, and the present one. */
export function listTimeZones(present: string): string[] {
  return [...new Set(['UTC', present, ...Intl.supportedValuesOf('timeZone')])];
}
