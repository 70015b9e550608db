import { expect, test } from 'vitest';
import { chooseCoefficient, doneShare, isActive, listCoefficients, type Run } from './runs';

const run = (status: Run['status'], done: number, total: number | null) =>
  ({ status, progress: { done, total, rate_per_second: null, eta_seconds: null } }) as Run;

test('progress', () => {
  expect(isActive(run('queued', 0, null))).toBe(true);
  expect(isActive(run('failed', 0, null))).toBe(false);
  expect(doneShare(run('running', 3, 12))).toBe(25);
  expect(doneShare(run('running', 0, null))).toBeUndefined();
  expect(doneShare(run('running', 0, 0))).toBeUndefined();
});

test('coefficients', () => {
  const results = [
    { metric: 'f1', value: 1 },
    { metric: 'percent', value: 0.5 },
    { metric: 'krippendorff_alpha', value: null },
  ];
  expect(listCoefficients(results)).toEqual(['percent', 'krippendorff_alpha', 'f1']);
  expect(chooseCoefficient(results)).toBe('f1');
  expect(chooseCoefficient([{ metric: 'iou', value: null }])).toBe('iou');
  expect(chooseCoefficient([])).toBeUndefined();
});
