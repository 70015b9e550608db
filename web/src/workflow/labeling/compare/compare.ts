/** What others have where the tag set differs: the prediction, and the other labelers. */
import { hasSameValue, type LocalTag, placeKey, topKey } from '../model/tags';

export interface Source {
  readonly key: string;
  readonly name: string;
  readonly tags: readonly LocalTag[];
}

export interface Alternative {
  readonly source: Source;
  readonly field: string;
  readonly row: number | null;
  readonly tags: readonly LocalTag[];
}

function groupByPlace(tags: readonly LocalTag[]): Map<string, LocalTag[]> {
  const groups = new Map<string, LocalTag[]>();
  for (const tag of tags) {
    const key = placeKey(tag);
    groups.set(key, [...(groups.get(key) ?? []), tag]);
  }
  return groups;
}

function isMark(tag: LocalTag): boolean {
  return tag.value === null;
}

function isEqual(one: readonly LocalTag[], other: readonly LocalTag[]): boolean {
  if (one.length !== other.length) return false;
  return one.every((tag, at) => {
    const twin = other[at];
    if (!twin || !hasSameValue(tag, twin)) return false;
    // A box has no value: it is its place.
    const place = (mark: LocalTag) =>
      JSON.stringify(mark.evidence.map(({ page, box }) => [page, box]));
    return !isMark(tag) || place(tag) === place(twin);
  });
}

/** The places of a field where a source has something else than the tags. */
export function listAlternatives(
  field: string,
  tags: readonly LocalTag[],
  sources: readonly Source[],
): Alternative[] {
  const own = groupByPlace(tags);
  return sources.flatMap((source) => {
    const theirs = groupByPlace(source.tags.filter((tag) => topKey(tag.field) === field));
    const keys = new Set([...own.keys(), ...theirs.keys()]);
    return [...keys].flatMap((key) => {
      const mine = own.get(key) ?? [];
      const other = theirs.get(key) ?? [];
      const sample = mine[0] ?? other[0];
      if (!sample || isEqual(mine, other)) return [];
      return [{ source, field: sample.field, row: sample.row, tags: other }];
    });
  });
}

/** The fields in which a source differs. */
export function countDifferences(
  byField: ReadonlyMap<string, readonly LocalTag[]>,
  fields: readonly { key: string }[],
  sources: readonly Source[],
): number {
  return fields.filter(
    ({ key }) => listAlternatives(key, byField.get(key) ?? [], sources).length > 0,
  ).length;
}
