import { expect, test } from 'vitest';
import { addDays, fromPeriod, toPeriod, toTimes } from './days';

test('addDays crosses months, years and changes of the clocks', () => {
  expect(addDays('2026-12-31', 1)).toBe('2027-01-01');
  expect(addDays('2026-03-01', -1)).toBe('2026-02-28');
  expect(addDays('2026-10-25', 1)).toBe('2026-10-26');
});

test('people name the last day, the API the day after it', () => {
  const named = { from: '2026-11-01', to: '2026-11-30' };
  expect(toPeriod(named)).toEqual({ from: '2026-11-01', to: '2026-12-01' });
  expect(fromPeriod({ from: '2026-11-01', to: '2026-12-01' })).toEqual(named);
  expect(toPeriod({})).toEqual({ from: undefined, to: undefined });
});

test('the last day is included', () => {
  const { created_after, created_before } = toTimes({ from: '2026-11-01', to: '2026-11-01' });
  const hours = (Date.parse(created_before ?? '') - Date.parse(created_after ?? '')) / 3_600_000;
  expect(hours).toBe(24);
  expect(toTimes({})).toEqual({ created_after: undefined, created_before: undefined });
});
