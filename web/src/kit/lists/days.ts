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

/** Returns the times of a period of days, both included, in the time zone of the browser. */
export function toTimes({ from, to }: DaySearch) {
  const end = to === undefined ? undefined : new Date(`${to}T00:00:00`);
  end?.setDate(end.getDate() + 1);
  return {
    created_after: from === undefined ? undefined : new Date(`${from}T00:00:00`).toISOString(),
    created_before: end?.toISOString(),
  };
}

/** Returns the period as people name it. */
export function fromPeriod(period: { from: string; to: string }): { from: string; to: string } {
  return { from: period.from, to: addDays(period.to, -1) };
}
