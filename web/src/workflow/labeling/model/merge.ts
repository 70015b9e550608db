/**
 * Merging what two people made of the same draft. The unit is a place: a field, or the cell of a
 * table by its row number, with all tags that stand there.
 */
import { contentOf, type LocalTag, placeKey } from './tags';

export interface Difference {
  readonly key: string;
  readonly field: string;
  readonly row: number | null;
  readonly before: readonly LocalTag[];
  readonly mine: readonly LocalTag[];
  readonly theirs: readonly LocalTag[];
  /** Both changed the place, and not to the same. */
  readonly conflict: boolean;
}

export type Choice = 'mine' | 'theirs';

function groupByPlace(tags: readonly LocalTag[]): Map<string, LocalTag[]> {
  const groups = new Map<string, LocalTag[]>();
  for (const tag of tags) {
    const key = placeKey(tag);
    const group = groups.get(key);
    if (group) group.push(tag);
    else groups.set(key, [tag]);
  }
  return groups;
}

const write = (tags: readonly LocalTag[]) => tags.map(contentOf).join('\n');

/** Returns the places where mine and theirs differ, in the order in which they first occur. */
export function compareThree(
  before: readonly LocalTag[],
  mine: readonly LocalTag[],
  theirs: readonly LocalTag[],
): Difference[] {
  const sides = [mine, theirs, before].map(groupByPlace);
  const [ours, others, base] = sides as [
    Map<string, LocalTag[]>,
    Map<string, LocalTag[]>,
    Map<string, LocalTag[]>,
  ];
  const keys = new Set(sides.flatMap((side) => [...side.keys()]));
  const differences: Difference[] = [];
  for (const key of keys) {
    const [b, m, t] = [base.get(key) ?? [], ours.get(key) ?? [], others.get(key) ?? []];
    const texts = [write(b), write(m), write(t)];
    if (texts[1] === texts[2]) continue;
    const sample = m[0] ?? t[0] ?? b[0];
    if (!sample) continue;
    differences.push({
      key,
      field: sample.field,
      row: sample.row,
      before: b,
      mine: m,
      theirs: t,
      conflict: texts[0] !== texts[1] && texts[0] !== texts[2],
    });
  }
  return differences;
}

/** The side that changed the place; mine if both did. */
export function defaultChoice(difference: Difference): Choice {
  return !difference.conflict && write(difference.mine) === write(difference.before)
    ? 'theirs'
    : 'mine';
}

/** Returns their tags with mine at the places that are chosen. */
export function applyChoices(
  theirs: readonly LocalTag[],
  differences: readonly Difference[],
  choices: ReadonlyMap<string, Choice>,
): LocalTag[] {
  const replaced = new Map(
    differences
      .filter((one) => (choices.get(one.key) ?? defaultChoice(one)) === 'mine')
      .map((one) => [one.key, one.mine]),
  );
  const merged: LocalTag[] = [];
  for (const tag of theirs) {
    const key = placeKey(tag);
    const mine = replaced.get(key);
    if (!mine && !replaced.has(key)) merged.push(tag);
    else if (mine) {
      merged.push(...mine);
      replaced.set(key, []);
    }
  }
  for (const mine of replaced.values()) merged.push(...mine);
  return merged;
}

/** Whether I changed anything: only then there is something to compare. */
export function hasOwnChanges(before: readonly LocalTag[], mine: readonly LocalTag[]): boolean {
  return compareThree(before, mine, before).length > 0;
}
