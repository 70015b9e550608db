/** Tags as the screen holds them: those of the API with a number that stays while they change. */
import type { Schemas } from '@/kit/api/types';

export type Evidence = Schemas['Evidence'];
export type Field = Schemas['SchemaField'];
export type Column = Schemas['TableColumn'];
export type FieldType = Field['type'];

export interface LocalTag {
  readonly id: number;
  /** The key of a field, or `table.column`. */
  readonly field: string;
  readonly row: number | null;
  readonly value: unknown;
  readonly confidence: number | null;
  readonly source: Schemas['Tag']['source'];
  readonly evidence: readonly Evidence[];
  /** The text as it was typed, until the field is left; the value may be converted meanwhile. */
  typed?: string;
}

/** What one input of the screen shows: the value of a field, of a cell, or one of several values. */
export interface Slot {
  readonly field: string;
  readonly row: number | null;
  /** The position among the values of a field with several; the number of values for a new one. */
  readonly index: number;
}

let lastId = 0;

export function createId(): number {
  lastId += 1;
  return lastId;
}

export function fromServer(tags: readonly Schemas['Tag'][]): LocalTag[] {
  return tags.map((tag) => ({ ...tag, id: createId() }));
}

/** Gives tags that another session of the browser stored numbers of this session. */
export function withNewIds(tags: readonly LocalTag[]): LocalTag[] {
  return tags.map((tag) => ({ ...tag, id: createId() }));
}

export function toInput(tag: LocalTag): Schemas['TagInput'] {
  return {
    field: tag.field,
    row: tag.row,
    value: tag.value,
    confidence: tag.confidence,
    source: tag.source,
    evidence: tag.evidence.map((piece) => ({
      ...piece,
      box: piece.box ? [...piece.box] : null,
    })),
  };
}

/** The key of the field itself, also for the column of a table. */
export function topKey(field: string): string {
  return field.split('.', 1)[0] ?? field;
}

export function placeKey(place: { field: string; row: number | null }): string {
  return `${place.field}#${place.row ?? ''}`;
}

export function isSameSlot(one: Slot | undefined, other: Slot | undefined): boolean {
  return one?.field === other?.field && one?.row === other?.row && one?.index === other?.index;
}

/** Whether the tag has something to save. A region is its box and a span its place in the text. */
export function isFilled(tag: LocalTag, type: FieldType | undefined): boolean {
  if (type === 'region') return tag.evidence.some((piece) => piece.box !== null);
  if (type === 'span') return tag.evidence.some((piece) => piece.start !== null);
  return tag.value !== null && tag.value !== undefined && tag.value !== '';
}

export function tagsAt(tags: readonly LocalTag[], field: string, row: number | null): LocalTag[] {
  return tags.filter((tag) => tag.field === field && tag.row === row);
}

export function tagAt(tags: readonly LocalTag[], slot: Slot): LocalTag | undefined {
  return tagsAt(tags, slot.field, slot.row)[slot.index];
}

/** The number of rows of a table: one more than the highest that a tag has. */
export function countRows(tags: readonly LocalTag[], table: string): number {
  let count = 0;
  for (const tag of tags)
    if (tag.row !== null && topKey(tag.field) === table) count = Math.max(count, tag.row + 1);
  return count;
}

/** JSON with the members of objects in order, so that equal values have equal texts. */
export function stableJson(value: unknown): string {
  return JSON.stringify(value, (_, inner: unknown) =>
    inner !== null && typeof inner === 'object' && !Array.isArray(inner)
      ? Object.fromEntries(Object.entries(inner).sort(([one], [other]) => (one < other ? -1 : 1)))
      : inner,
  );
}

export function hasSameValue(one: LocalTag, other: LocalTag): boolean {
  return stableJson(one.value) === stableJson(other.value);
}

/** What the API would store of the tag: two tags with the same content need no save. */
export function contentOf(tag: Omit<LocalTag, 'id'>): string {
  const places = tag.evidence.map(({ page, box, start, end }) => [page, box, start, end]);
  return stableJson([tag.field, tag.row, tag.value, tag.confidence, tag.source, places]);
}

export function isSameContent(one: readonly LocalTag[], other: readonly LocalTag[]): boolean {
  return (
    one.length === other.length &&
    one.every((tag, index) => {
      const twin = other[index];
      return twin === tag || (twin !== undefined && contentOf(tag) === contentOf(twin));
    })
  );
}

/** A prediction that nobody has confirmed or changed yet. */
export function isUnconfirmed(tag: LocalTag): boolean {
  return tag.source === 'model';
}
