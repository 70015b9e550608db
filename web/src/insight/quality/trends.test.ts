import { describe, expect, test } from 'vitest';
import { listChoices, listLines, listRows, tidySearch } from './trends';

const reviewer = { isReviewer: true, isLabeler: true };
const labeler = { isReviewer: false, isLabeler: true };
const viewer = { isReviewer: false, isLabeler: false };
const schema_id = '0198c0de-0000-7000-8000-000000000001';

describe('listChoices', () => {
  test('fields need a schema and have fewer figures', () => {
    expect(listChoices({}, reviewer).groups).not.toContain('field');
    expect(listChoices({ schema_id }, reviewer).groups).toContain('field');
    expect(listChoices({ schema_id, metric: 'throughput' }, reviewer).groups).not.toContain(
      'field',
    );
    expect(listChoices({ schema_id, field: 'total' }, reviewer).metrics).toEqual([
      'agreement',
      'correction_rate',
      'gold_accuracy',
    ]);
  });
  test('people and teams are seen by role', () => {
    expect(listChoices({}, reviewer).groups).toEqual(['schema', 'team', 'labeler']);
    expect(listChoices({}, labeler).groups).toEqual(['schema', 'labeler']);
    expect(listChoices({}, viewer).groups).toEqual(['schema']);
  });
  test('below reviewers, gold documents cannot be told apart', () => {
    const search = { schema_id, metric: 'gold_accuracy' } as const;
    expect(listChoices(search, labeler).buckets).toEqual(['week']);
    expect(listChoices(search, labeler).groups).not.toContain('field');
    expect(listChoices(search, reviewer).buckets).toEqual(['day', 'week', 'month']);
  });
});

describe('tidySearch', () => {
  test('drops what the API would refuse', () => {
    expect(tidySearch({ group_by: 'field', field: 'total' }, reviewer)).toMatchObject({
      group_by: undefined,
      field: undefined,
    });
    expect(tidySearch({ group_by: 'team', team_id: schema_id }, viewer)).toMatchObject({
      group_by: undefined,
      team_id: undefined,
    });
    expect(tidySearch({ metric: 'gold_accuracy', bucket: 'day' }, labeler).bucket).toBe('week');
    expect(tidySearch({ metric: 'gold_accuracy', bucket: 'month' }, labeler).bucket).toBe('week');
    expect(tidySearch({ schema_id, field: 'a', metric: 'throughput' }, reviewer).metric).toBe(
      undefined,
    );
  });
  test('keeps the rest', () => {
    const search = { schema_id, metric: 'correction_rate', bucket: 'week', group_by: 'field' };
    expect(tidySearch(search as never, reviewer)).toMatchObject(search);
  });
});

test('lines become rows by period', () => {
  const point = (from: string, value: number | null) => ({
    from,
    to: from,
    value,
    ci_low: null,
    ci_high: null,
    n: 1,
  });
  const lines = listLines(
    {
      series: [
        { key: 'a', name: 'A', points: [point('2026-11-02', 0.5), point('2026-11-01', 1)] },
        { key: null, name: null, points: [point('2026-11-02', null)] },
      ],
    } as never,
    'All',
  );
  expect(lines.map(({ name }) => name)).toEqual(['A', 'All']);
  expect(listRows(lines, (day) => day.slice(8))).toEqual([
    { at: '01', from: '2026-11-01', 'line:a': 1 },
    { at: '02', from: '2026-11-02', 'line:a': 0.5, 'line:all': null },
  ]);
});
