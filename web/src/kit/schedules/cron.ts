/** Schedules: a cron expression of five fields, and the simple forms of it that people choose. */
import { Cron } from 'croner';

export type Schedule =
  | { kind: 'minutes'; every: number }
  | { kind: 'hourly'; minute: number }
  | { kind: 'daily'; time: string }
  | { kind: 'weekly'; days: number[]; time: string }
  | { kind: 'monthly'; day: number; time: string }
  | { kind: 'custom'; cron: string };

export type ScheduleKind = Schedule['kind'];

const NUMBER = /^\d{1,2}$/;
const pad = (value: number) => String(value).padStart(2, '0');

/** Reads `1-5` and `1,3` into days from 0 (Sunday) to 6; undefined for other expressions. */
function parseDays(field: string): number[] | undefined {
  const days = new Set<number>();
  for (const part of field.split(',')) {
    const match = /^([0-7])(?:-([0-7]))?$/.exec(part);
    if (!match) return undefined;
    const first = Number(match[1]);
    const last = Number(match[2] ?? match[1]);
    if (last < first) return undefined;
    for (let day = first; day <= last; day += 1) days.add(day % 7);
  }
  return [...days].sort((a, b) => a - b);
}

/** Returns the simple form of an expression, or `custom`. */
export function parseCron(cron: string): Schedule {
  const custom: Schedule = { kind: 'custom', cron };
  const [minute, hour, day, month, weekday, ...rest] = cron.trim().split(/\s+/);
  if (!minute || !hour || !day || month !== '*' || !weekday || rest.length > 0) return custom;
  const anyDay = day === '*' && weekday === '*';
  const every = /^\*\/(\d{1,2})$/.exec(minute)?.[1];
  if (every && hour === '*' && anyDay) return { kind: 'minutes', every: Number(every) };
  if (!NUMBER.test(minute)) return custom;
  if (hour === '*') return anyDay ? { kind: 'hourly', minute: Number(minute) } : custom;
  if (!NUMBER.test(hour)) return custom;
  const time = `${pad(Number(hour))}:${pad(Number(minute))}`;
  if (anyDay) return { kind: 'daily', time };
  if (weekday === '*' && NUMBER.test(day)) return { kind: 'monthly', day: Number(day), time };
  const days = day === '*' ? parseDays(weekday) : undefined;
  return days ? { kind: 'weekly', days, time } : custom;
}

export function toCron(schedule: Schedule): string {
  const at = (time: string) => {
    const [hour = '0', minute = '0'] = time.split(':');
    return `${Number(minute)} ${Number(hour)}`;
  };
  switch (schedule.kind) {
    case 'minutes':
      return `*/${schedule.every} * * * *`;
    case 'hourly':
      return `${schedule.minute} * * * *`;
    case 'daily':
      return `${at(schedule.time)} * * *`;
    case 'weekly':
      return `${at(schedule.time)} * * ${schedule.days.join(',')}`;
    case 'monthly':
      return `${at(schedule.time)} ${schedule.day} * *`;
    case 'custom':
      return schedule.cron;
  }
}

/** Returns the same time in another kind of schedule. */
export function changeKind(schedule: Schedule, kind: ScheduleKind): Schedule {
  const time = 'time' in schedule ? schedule.time : '06:00';
  switch (kind) {
    case 'minutes':
      return { kind, every: 15 };
    case 'hourly':
      return { kind, minute: 0 };
    case 'daily':
      return { kind, time };
    case 'weekly':
      return { kind, time, days: [1] };
    case 'monthly':
      return { kind, time, day: 1 };
    case 'custom':
      return { kind, cron: toCron(schedule) };
  }
}

/** Returns the next times of an expression; undefined if it is invalid. */
export function nextRuns(
  cron: string,
  timeZone: string,
  count: number,
  after = new Date(),
): Date[] | undefined {
  if (cron.trim().split(/\s+/).length !== 5) return undefined;
  try {
    return new Cron(cron, { timezone: timeZone, mode: '5-part' }).nextRuns(count, after);
  } catch {
    return undefined;
  }
}

/** Returns the city of a time zone: `Europe/Berlin` is Berlin. */
export function zoneName(timeZone: string): string {
  return (timeZone.split('/').at(-1) ?? timeZone).replaceAll('_', ' ');
}
