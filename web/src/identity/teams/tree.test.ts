import { describe, expect, test } from 'vitest';
import { filterTree, idsBelow, type Node } from './tree';

const team = (id: string, changes: Partial<Node> = {}): Node => ({
  id,
  parent_id: null,
  name: `Team ${id}`,
  description: '',
  skills: [],
  lead_id: null,
  lead: null,
  member_count: 0,
  child_count: 0,
  members: [],
  children: [],
  ...changes,
});
const chart = [
  team('a', {
    children: [team('b', { skills: ['Dutch'] }), team('c', { children: [team('d')] })],
  }),
  team('e'),
];

describe('filterTree', () => {
  const ids = (nodes: readonly Node[]): unknown[] =>
    nodes.map(({ id, children }) => (children.length > 0 ? [id, ids(children)] : id));

  test('keeps the way to a match', () => {
    expect(ids(filterTree(chart, 'dutch'))).toEqual([['a', ['b']]]);
    expect(ids(filterTree(chart, 'team d'))).toEqual([['a', [['c', ['d']]]]]);
  });
  test('keeps what is below a match', () => {
    expect(ids(filterTree(chart, 'team c'))).toEqual([['a', [['c', ['d']]]]]);
  });
  test('without a text keeps all, without a match nothing', () => {
    expect(filterTree(chart, ' ')).toEqual(chart);
    expect(filterTree(chart, 'x')).toEqual([]);
  });
});

test('idsBelow', () => {
  expect(idsBelow(chart, 'c')).toEqual(['c', 'd']);
  expect(idsBelow(chart, 'x')).toEqual([]);
});
