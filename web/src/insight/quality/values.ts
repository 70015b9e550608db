/** Returns a value of any type of field as one line. */
export function writeValue(value: unknown): string {
  if (value === null || value === undefined) return '';
  if (Array.isArray(value)) return value.map(writeValue).join(', ');
  if (typeof value === 'object') {
    const members = value as Record<string, unknown>;
    if ('amount' in members && 'currency' in members)
      return [members['amount'], members['currency']].map(writeValue).join(' ').trim();
    if ('text' in members) return writeValue(members['text']);
    return Object.values(members).map(writeValue).join(' ');
  }
  if (typeof value === 'string') return value;
  return typeof value === 'number' || typeof value === 'boolean' ? String(value) : '';
}
