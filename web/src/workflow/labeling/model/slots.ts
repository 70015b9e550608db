/** The order of the inputs on the screen, and the way from one to the next. */
import {
  type Column,
  countRows,
  type Field,
  isFilled,
  isSameSlot,
  isUnconfirmed,
  type LocalTag,
  type Slot,
  tagAt,
  tagsAt,
} from './tags';

/** Returns the fields and columns by the names that tags use. */
export function indexFields(fields: readonly Field[]): ReadonlyMap<string, Field | Column> {
  const index = new Map<string, Field | Column>();
  for (const field of fields) {
    index.set(field.key, field);
    for (const column of field.columns) index.set(`${field.key}.${column.key}`, column);
  }
  return index;
}

function slotsOfPlace(
  definition: Field | Column,
  field: string,
  row: number | null,
  tags: readonly LocalTag[],
): Slot[] {
  // A field with several values has one more input, for the next value.
  const count = definition.multiple ? tagsAt(tags, field, row).length + 1 : 1;
  return Array.from({ length: count }, (_, index) => ({ field, row, index }));
}

/** All inputs in the order of the screen. A table has one more row, for the next. */
export function listSlots(fields: readonly Field[], tags: readonly LocalTag[]): Slot[] {
  return fields.flatMap((field) => {
    if (field.type !== 'table') return slotsOfPlace(field, field.key, null, tags);
    const rows = Array.from({ length: countRows(tags, field.key) + 1 }, (_, row) => row);
    return rows.flatMap((row) =>
      field.columns.flatMap((column) =>
        slotsOfPlace(column, `${field.key}.${column.key}`, row, tags),
      ),
    );
  });
}

export function stepSlot(
  slots: readonly Slot[],
  from: Slot | undefined,
  by: 1 | -1,
): Slot | undefined {
  const at = slots.findIndex((slot) => isSameSlot(slot, from));
  if (at < 0) return by === 1 ? slots[0] : slots.at(-1);
  return slots[at + by] ?? slots[at];
}

function needsWork(slot: Slot, tags: readonly LocalTag[]): boolean {
  const tag = tagAt(tags, slot);
  return !tag || isUnconfirmed(tag);
}

/**
 * The next input that has no value or an unconfirmed one. The input for one more value or one more
 * row is passed over, unless the way begins in the same field; after the last input, none.
 */
export function nextOpenSlot(
  fields: readonly Field[],
  tags: readonly LocalTag[],
  from: Slot,
): Slot | undefined {
  const definitions = indexFields(fields);
  const slots = listSlots(fields, tags);
  const at = slots.findIndex((slot) => isSameSlot(slot, from));
  return slots.slice(at + 1).find((slot) => {
    const table = slot.row === null ? undefined : slot.field.split('.', 1)[0];
    const isSameField = slot.field === from.field && slot.row === null;
    const isSameTable = table !== undefined && from.field.startsWith(`${table}.`);
    if (isSameField || isSameTable) return needsWork(slot, tags);
    const isExtra =
      definitions.get(slot.field)?.multiple === true &&
      slot.index > 0 &&
      slot.index === tagsAt(tags, slot.field, slot.row).length;
    const isNewRow = table !== undefined && slot.row === countRows(tags, table) && slot.row > 0;
    return !isExtra && !isNewRow && needsWork(slot, tags);
  });
}

/** The required fields and cells that are still empty, as the API names them. */
export function listMissing(fields: readonly Field[], tags: readonly LocalTag[]): Set<string> {
  const missing = new Set<string>();
  for (const field of fields) {
    const own = tags.filter(
      (tag) => tag.field === field.key || tag.field.startsWith(`${field.key}.`),
    );
    if (field.required && !own.some((tag) => isFilled(tag, field.type))) missing.add(field.key);
    const rows = new Set(own.flatMap((tag) => (tag.row === null ? [] : [tag.row])));
    for (const column of field.columns.filter((one) => one.required)) {
      const name = `${field.key}.${column.key}`;
      const filled = new Set(
        own.filter((tag) => tag.field === name && isFilled(tag, column.type)).map((tag) => tag.row),
      );
      if ([...rows].some((row) => !filled.has(row))) missing.add(name);
    }
  }
  return missing;
}
