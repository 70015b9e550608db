import type { Schemas } from '@/kit/api/types';

type Pair = Schemas['AgreementPair'];

export interface Matrix {
  people: { id: string; name: string }[];
  /** By the ids of both, in any order. */
  values: Map<string, Pair>;
}

export const pairKey = (a: string, b: string) => [a, b].sort().join(' ');

/**
 * Arranges pairs as a matrix of people. Somebody whom the caller may not see has no id: all of those
 * stand as one person, so the caller's own pairs with them cannot be told apart and are left as a list.
 */
export function buildMatrix(pairs: readonly Pair[]): Matrix | undefined {
  const people = new Map<string, { id: string; name: string }>();
  const values = new Map<string, Pair>();
  for (const pair of pairs) {
    if (pair.a === null || pair.b === null) return undefined;
    people.set(pair.a.id, pair.a).set(pair.b.id, pair.b);
    values.set(pairKey(pair.a.id, pair.b.id), pair);
  }
  const sorted = [...people.values()].sort((a, b) => a.name.localeCompare(b.name));
  return { people: sorted, values };
}
