import { expect, test } from 'vitest';
import { changeKind, nextRuns, parseCron, toCron, zoneName } from './cron';

test.each([
  ['*/15 * * * *', { kind: 'minutes', every: 15 }],
  ['5 * * * *', { kind: 'hourly', minute: 5 }],
  ['30 2 * * *', { kind: 'daily', time: '02:30' }],
  ['0 6 * * 1,3', { kind: 'weekly', days: [1, 3], time: '06:00' }],
  ['0 6 1 * *', { kind: 'monthly', day: 1, time: '06:00' }],
])('%s is read and written', (cron, schedule) => {
  expect(parseCron(cron)).toEqual(schedule);
  expect(toCron(parseCron(cron))).toBe(cron);
});

test('days may be a range, and Sunday is 0 and 7', () => {
  expect(parseCron('0 6 * * 1-5')).toMatchObject({ days: [1, 2, 3, 4, 5] });
  expect(parseCron('0 6 * * 6,7')).toMatchObject({ days: [0, 6] });
});

test.each(['0 6 1 * 1', '0 6 * 2 *', '0 6,18 * * *', '0 6 * *', '0 6 * * MON', ''])(
  '%s stays as it is',
  (cron) => {
    expect(parseCron(cron)).toEqual({ kind: 'custom', cron });
  },
);

test('another kind keeps the time', () => {
  const daily = parseCron('30 2 * * *');
  expect(toCron(changeKind(daily, 'weekly'))).toBe('30 2 * * 1');
  expect(changeKind(daily, 'custom')).toEqual({ kind: 'custom', cron: '30 2 * * *' });
});

test('next runs follow the clock of the time zone', () => {
  const after = new Date('2026-03-28T12:00:00Z');
  const runs = nextRuns('0 6 * * *', 'Europe/Berlin', 2, after) ?? [];
  // Summer time begins on March 29.
  expect(runs.map((run) => run.toISOString())).toEqual([
    '2026-03-29T04:00:00.000Z',
    '2026-03-30T04:00:00.000Z',
  ]);
  expect(nextRuns('nonsense', 'Europe/Berlin', 2)).toBeUndefined();
  expect(nextRuns('99 6 * * *', 'Europe/Berlin', 2)).toBeUndefined();
});

test('a zone is called by its city', () => {
  expect(zoneName('America/New_York')).toBe('New York');
  expect(zoneName('UTC')).toBe('UTC');
});
