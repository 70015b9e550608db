import { describe, expect, test } from 'vitest';
import type { Schemas } from '@/kit/api/types';
import { addSuggestions } from './edits';
import { readOtherSide } from './otherSide';
import { fromServer } from './tags';

type Change = Schemas['Change'];

const tag = (field: string, value: unknown, row: number | null = null): Schemas['Tag'] => ({
  field,
  value,
  row,
  confidence: null,
  source: 'human',
  evidence: [],
});

function change(from: Schemas['Tag'] | null, to: Schemas['Tag'] | null): Change {
  const { field, row } = (to ?? from) as Schemas['Tag'];
  const kind = from && to ? 'changed' : to ? 'added' : 'removed';
  return { field, row, kind, members: ['value'], from, to };
}

const show = (tags: readonly { field: string; row: number | null; value: unknown }[]) =>
  tags.map(({ field, row, value }) => [field, row, value]);

describe('readOtherSide', () => {
  test('keeps what is equal, and turns each change round', () => {
    const own = [tag('a', 1), tag('b', 2), tag('c', 3)];
    const changes = [
      change(tag('b', 20), tag('b', 2)),
      change(null, tag('c', 3)),
      change(tag('d', 4), null),
    ];
    const { tags, missing } = readOtherSide(fromServer(own), { changes, moved: [] });
    expect(show(tags)).toEqual([
      ['a', null, 1],
      ['b', null, 20],
      ['d', null, 4],
    ]);
    expect(show(missing)).toEqual([['d', null, 4]]);
  });

  test('places the cells of matched rows, and puts the other rows at the end', () => {
    const own = [tag('t.name', 'Ink', 0)];
    const changes = [
      change(tag('t.name', 'Paper', 0), null),
      change(tag('t.amount', '100', 0), null),
      change(tag('t.amount', '26', 1), null),
    ];
    const moved = [{ table: 't', from: 1, to: 0, count: 1 }];
    const { tags, missing } = readOtherSide(fromServer(own), { changes, moved });
    expect(show(missing)).toEqual([
      ['t.name', 1, 'Paper'],
      ['t.amount', 1, '100'],
      ['t.amount', 0, '26'],
    ]);
    expect(show(tags)[0]).toEqual(['t.name', 0, 'Ink']);
  });

  test('a row that stayed where it is gets its missing cells', () => {
    const own = [tag('t.name', 'Paper', 0), tag('t.name', 'Ink', 1)];
    const changes = [change(tag('t.amount', '26', 1), null)];
    const { missing } = readOtherSide(fromServer(own), { changes, moved: [] });
    expect(show(missing)).toEqual([['t.amount', 1, '26']]);
  });

  test('rows of an empty table keep their order', () => {
    const changes = [
      change(tag('t.name', 'Paper', 0), null),
      change(tag('t.name', 'Ink', 1), null),
    ];
    const { missing } = readOtherSide([], { changes, moved: [] });
    expect(show(missing)).toEqual([
      ['t.name', 0, 'Paper'],
      ['t.name', 1, 'Ink'],
    ]);
  });
});

describe('addSuggestions', () => {
  test('fills what is empty, and adds to fields with several values what they lack', () => {
    const own = fromServer([tag('a', 1), tag('m', 'x')]);
    const suggested = fromServer([tag('a', 2), tag('b', 3), tag('m', 'x'), tag('m', 'y')]);
    const tags = addSuggestions(own, suggested, (field) => field === 'm');
    expect(show(tags)).toEqual([
      ['a', null, 1],
      ['m', null, 'x'],
      ['m', null, 'y'],
      ['b', null, 3],
    ]);
  });
});
