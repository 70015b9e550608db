import { describe, expect, test } from 'vitest';
import { applyChoices, compareThree, defaultChoice, hasOwnChanges } from './merge';
import { createId, type LocalTag } from './tags';

const tag = (field: string, value: unknown, changes: Partial<LocalTag> = {}): LocalTag => ({
  id: createId(),
  field,
  row: null,
  value,
  confidence: null,
  source: 'human',
  evidence: [],
  ...changes,
});
const values = (tags: readonly LocalTag[]) => tags.map((one) => [one.field, one.row, one.value]);

describe('compareThree', () => {
  const before = [tag('number', '1'), tag('name', 'A'), tag('kept', 'x')];

  test('finds what one side changed, and what both did', () => {
    const mine = [tag('number', '2'), tag('name', 'A'), tag('kept', 'x'), tag('added', 'me')];
    const theirs = [tag('number', '3'), tag('name', 'B'), tag('kept', 'x')];
    const differences = compareThree(before, mine, theirs);
    expect(differences.map((one) => [one.field, one.conflict, defaultChoice(one)])).toEqual([
      ['number', true, 'mine'],
      ['name', false, 'theirs'],
      ['added', false, 'mine'],
    ]);
  });

  test('finds no difference where both did the same', () => {
    const same = [tag('number', '2'), tag('name', 'A'), tag('kept', 'x')];
    expect(compareThree(before, same, [...same])).toEqual([]);
  });

  test('a value that one side removed and the other changed is a conflict', () => {
    const [difference] = compareThree([tag('a', 1)], [], [tag('a', 2)]);
    expect(difference?.conflict).toBe(true);
  });

  test('compares the cells of a table by row', () => {
    const cell = (row: number, value: string) => tag('lines.amount', value, { row });
    const differences = compareThree(
      [cell(0, '1'), cell(1, '2')],
      [cell(0, '1'), cell(1, 'mine')],
      [cell(0, 'theirs'), cell(1, '2')],
    );
    expect(differences.map((one) => [one.row, one.conflict]).sort()).toEqual([
      [0, false],
      [1, false],
    ]);
  });
});

describe('applyChoices', () => {
  const before = [tag('a', 1), tag('b', 1)];
  const mine = [tag('a', 2), tag('b', 1), tag('c', 2)];
  const theirs = [tag('a', 3), tag('b', 3)];
  const differences = compareThree(before, mine, theirs);

  test('loses nothing that only one side changed', () => {
    const merged = applyChoices(theirs, differences, new Map());
    expect(values(merged)).toEqual([
      ['a', null, 2],
      ['b', null, 3],
      ['c', null, 2],
    ]);
  });

  test('takes the chosen side', () => {
    const merged = applyChoices(
      theirs,
      differences,
      new Map([
        ['a#', 'theirs'],
        ['c#', 'theirs'],
      ]),
    );
    expect(values(merged)).toEqual([
      ['a', null, 3],
      ['b', null, 3],
    ]);
  });

  test('takes several values of one place together', () => {
    const ours = [tag('party', 'A'), tag('party', 'B')];
    const other = [tag('party', 'C')];
    const both = compareThree([], ours, other);
    expect(values(applyChoices(other, both, new Map()))).toEqual(values(ours));
  });
});

test('hasOwnChanges sees a changed place, but not another text of the evidence', () => {
  const piece = { page: 1, box: null, start: 0, end: 4, text: null };
  const before = [tag('a', 1, { evidence: [piece] })];
  expect(hasOwnChanges(before, [tag('a', 1, { evidence: [{ ...piece, text: 'word' }] })])).toBe(
    false,
  );
  expect(hasOwnChanges(before, [tag('a', 1, { evidence: [{ ...piece, end: 5 }] })])).toBe(true);
});
