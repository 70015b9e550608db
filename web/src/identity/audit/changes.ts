/** Changes of an entry: for each member the value before and after. */
export interface Change {
  member: string;
  before: unknown;
  after: unknown;
}

export function listChanges(changes: Readonly<Record<string, unknown>>): Change[] {
  return Object.entries(changes)
    .map(([member, value]) => {
      const [before, after] = Array.isArray(value) ? (value as unknown[]) : [null, value];
      return { member, before, after };
    })
    .sort((a, b) => a.member.localeCompare(b.member));
}

export type Shown = { text: string } | { secret: true } | { bytes: number };

/** Returns how a value is shown: secrets and large values are not in the log. */
export function showValue(value: unknown): Shown {
  if (value === null || value === undefined) return { text: '–' };
  if (typeof value === 'string') return { text: value };
  if (typeof value === 'object') {
    const members = value as Record<string, unknown>;
    if (members['secret'] === true) return { secret: true };
    if (typeof members['bytes'] === 'number' && 'sha256' in members)
      return { bytes: members['bytes'] };
  }
  return { text: JSON.stringify(value) };
}
