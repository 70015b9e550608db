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

/** Days of the address become times of the API, in the time zone of the browser. */
export function toTimes({ from, to }: { from?: string | undefined; to?: string | undefined }) {
  const end = to === undefined ? undefined : new Date(`${to}T00:00:00`);
  end?.setDate(end.getDate() + 1);
  return {
    created_after: from === undefined ? undefined : new Date(`${from}T00:00:00`).toISOString(),
    created_before: end?.toISOString(),
  };
}
