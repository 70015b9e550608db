import { describe, expect, test } from 'vitest';
import type { Schemas } from '@/kit/api/types';
import { fromServer, listAlternatives } from '@/workflow/labeling';
import { chosenOption, listPlaces, listUndecided, preview, toRequest } from './merging';

const tag = (field: string, value: unknown, row: number | null = null) => ({
  field,
  value,
  row,
  confidence: null,
  source: 'human' as const,
  evidence: [],
});

describe('listAlternatives', () => {
  const own = fromServer([tag('total', '1'), tag('total_note', 'x')]);
  const source = (...tags: ReturnType<typeof tag>[]) => ({
    key: 'p',
    name: 'P',
    tags: fromServer(tags),
  });

  test('names what a source has where it differs', () => {
    const [found] = listAlternatives('total', own.slice(0, 1), [source(tag('total', '2'))]);
    expect(found?.tags.map((one) => one.value)).toEqual(['2']);
  });

  test('equal values are no difference, a missing one is', () => {
    expect(listAlternatives('total', own.slice(0, 1), [source(tag('total', '1'))])).toEqual([]);
    expect(listAlternatives('total', own.slice(0, 1), [source()])[0]?.tags).toEqual([]);
  });

  test('cells are compared by row', () => {
    const cells = fromServer([tag('lines.a', '1', 0), tag('lines.a', '2', 1)]);
    const other = source(tag('lines.a', '1', 0), tag('lines.a', '3', 1));
    expect(listAlternatives('lines', cells, [other]).map((one) => one.row)).toEqual([1]);
  });
});

describe('merging', () => {
  const value = (text: string, ...ids: string[]) => ({
    value: text,
    evidence: [],
    tag_set_ids: ids,
  });
  const field = (key: string, values: Schemas['ConsensusValue'][]) =>
    ({
      field: key,
      row: null,
      rows: [],
      values,
      majority: [],
      tie: false,
      agreement: null,
    }) as Schemas['ConsensusField'];
  const consensus = {
    fields: [
      field('number', [value('1', 'a', 'b', 'c')]),
      field('total', [value('620', 'a', 'b'), value('500', 'c')]),
      field('name', [value('X', 'a'), value('Y', 'b')]),
    ],
  } as Schemas['Consensus'];
  const places = listPlaces(consensus, ['a', 'b', 'c']);

  test('takes what more than half say, and asks for the rest', () => {
    expect(places.map((place) => place.majority)).toEqual([0, 0, undefined]);
    expect(listUndecided(places, new Map()).map((place) => place.field)).toEqual(['name']);
  });

  test('an empty field is an option, too', () => {
    expect(places[2]?.options.map((option) => option.setIds)).toEqual([['a'], ['b'], ['c']]);
  });

  test('sends only the choices that the majority does not make', () => {
    const choices = new Map([
      ['total#', 1],
      ['name#', 0],
      ['number#', 0],
    ]);
    expect(toRequest(places, choices)).toEqual([
      { field: 'total', row: null, tag_set_id: 'c' },
      { field: 'name', row: null, tag_set_id: 'a' },
    ]);
    expect(preview(places, choices).map((one) => one.value)).toEqual(['1', '500', 'X']);
    const [first] = places;
    expect(first && chosenOption(first, choices)?.setIds).toEqual(['a', 'b', 'c']);
  });
});
