/** Days as the API writes them. Its periods end before `to`; people name the last day instead. */

const DAY_MILLISECONDS = 86_400_000;

export function addDays(day: string, count: number): string {
  const time = Date.parse(`${day}T00:00:00Z`) + count * DAY_MILLISECONDS;
  return new Date(time).toISOString().slice(0, 10);
}

export interface DaySearch {
  from?: string | undefined;
  to?: string | undefined;
}

/** Returns the period for the API: its end is the day after the last one. */
export function toPeriod({ from, to }: DaySearch): DaySearch {
  return { from, to: to === undefined ? undefined : addDays(to, 1) };
}

/** Returns the period as people name it. */
export function fromPeriod(period: { from: string; to: string }): { from: string; to: string } {
  return { from: period.from, to: addDays(period.to, -1) };
}
