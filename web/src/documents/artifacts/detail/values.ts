/** Returns a value of a tag or of a history entry as a short text. */
export function showValue(value: unknown): string {
  if (value === null || value === undefined) return '–';
  if (typeof value === 'boolean') return value ? '☑' : '☐';
  if (typeof value === 'string') return value;
  if (typeof value === 'number') return String(value);
  if (Array.isArray(value)) return value.map(showValue).join(', ') || '–';
  const members = Object.values(value as Record<string, unknown>);
  return members.map(showValue).join(' ') || '–';
}
