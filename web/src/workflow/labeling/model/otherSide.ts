/** The other side of a comparison (a prediction, an earlier revision), at the places of this side. */
import type { Schemas } from '@/kit/api/types';
import { contentOf, countRows, createId, type LocalTag, topKey } from './tags';

type Diff = Pick<Schemas['Diff'], 'changes' | 'moved'>;
type Tag = Schemas['Tag'];

export interface OtherSide {
  /** All tags of the other side. */
  readonly tags: readonly LocalTag[];
  /** Those among them that this side has nothing for. */
  readonly missing: readonly LocalTag[];
}

const rowKey = (table: string, row: number) => `${table}#${row}`;

/** The rows of this side that are those of the other side, by the other side's row. */
function matchRows(tags: readonly LocalTag[], diff: Diff, added: ReadonlySet<string>) {
  const rows = new Map<string, number>();
  const found = new Set<string>();
  const match = (table: string, from: number, to: number) => {
    rows.set(rowKey(table, from), to);
    found.add(rowKey(table, to));
  };
  for (const { table, from, to, count } of diff.moved)
    for (let at = 0; at < count; at += 1) match(table, from + at, to + at);
  for (const { from, to } of diff.changes)
    if (from && to && from.row !== null && to.row !== null)
      match(topKey(to.field), from.row, to.row);
  for (const tag of tags)
    if (tag.row !== null && !added.has(contentOf(tag))) {
      const key = rowKey(topKey(tag.field), tag.row);
      // A row that nothing moved has the same number on both sides.
      if (!found.has(key) && !rows.has(key)) match(topKey(tag.field), tag.row, tag.row);
    }
  return rows;
}

/** Returns the other side of a comparison of `tags`. Rows without a counterpart come at the end. */
export function readOtherSide(tags: readonly LocalTag[], diff: Diff): OtherSide {
  const changed = new Map<string, Tag>();
  const added = new Set<string>();
  const removed: Tag[] = [];
  for (const { from, to } of diff.changes) {
    if (from && to) changed.set(contentOf(to), from);
    else if (to) added.add(contentOf(to));
    else if (from) removed.push(from);
  }
  const rows = matchRows(tags, diff, added);
  const ends = new Map<string, number>();
  const placeRow = ({ field, row }: Tag): number | null => {
    if (row === null) return null;
    const table = topKey(field);
    const known = rows.get(rowKey(table, row));
    if (known !== undefined) return known;
    const end = ends.get(table) ?? countRows(tags, table);
    ends.set(table, end + 1);
    rows.set(rowKey(table, row), end);
    return end;
  };
  const kept = tags.flatMap((tag) => {
    const content = contentOf(tag);
    if (added.has(content)) return [];
    const other = changed.get(content);
    return [{ ...(other ?? tag), row: tag.row, id: createId() }];
  });
  const missing = removed.map((tag) => ({ ...tag, row: placeRow(tag), id: createId() }));
  return { tags: [...kept, ...missing], missing };
}
