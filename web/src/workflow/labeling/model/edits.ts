/** Changes of the tags: pure functions from tags to tags. */
import {
  createId,
  type Evidence,
  hasSameValue,
  isUnconfirmed,
  type LocalTag,
  type Slot,
  tagAt,
  tagsAt,
  topKey,
} from './tags';

type Tags = readonly LocalTag[];

const NEW = { confidence: null, source: 'human', evidence: [] } as const;

function withoutTyped(tag: LocalTag): LocalTag {
  const rest = { ...tag };
  delete rest.typed;
  return rest;
}

/** Adds a tag after those of its place, or of its table row; otherwise at the end. */
function insert(tags: Tags, tag: LocalTag): LocalTag[] {
  const at = tags.findLastIndex((one) => one.field === tag.field && one.row === tag.row);
  return at < 0 ? [...tags, tag] : tags.toSpliced(at + 1, 0, tag);
}

/** Changes the tag of a slot, or makes it. What a person changes is no prediction any more. */
export function changeTag(
  tags: Tags,
  slot: Slot,
  changes: Partial<Pick<LocalTag, 'value' | 'evidence' | 'typed'>>,
): LocalTag[] {
  const old = tagAt(tags, slot);
  const kept = old ?? {
    ...NEW,
    id: createId(),
    field: slot.field,
    row: slot.row,
    value: null,
  };
  const tag: LocalTag = {
    ...withoutTyped(kept),
    confidence: null,
    source: 'human',
    ...changes,
  };
  return old ? tags.map((one) => (one === old ? tag : one)) : insert(tags, tag);
}

export function removeTag(tags: Tags, slot: Slot): LocalTag[] {
  const old = tagAt(tags, slot);
  return tags.filter((tag) => tag !== old);
}

/**
 * A text that was typed. An empty one stays until the input is left: without it, the next of several
 * values would be below the caret.
 */
export function typeText(tags: Tags, slot: Slot, text: string): LocalTag[] {
  const old = tagAt(tags, slot);
  const isEmpty = text.trim() === '';
  if (isEmpty && !old) return [...tags];
  return changeTag(tags, slot, { value: isEmpty ? '' : text, typed: text });
}

/** Ends the typing in a slot: what is empty goes. */
export function settle(tags: Tags, slot: Slot): LocalTag[] {
  const old = tagAt(tags, slot);
  if (old?.typed === undefined || old.value === null) return [...tags];
  if (old.value === '') return removeTag(tags, slot);
  return tags.map((tag) => (tag === old ? withoutTyped(tag) : tag));
}

function confirmTag(tag: LocalTag): LocalTag {
  return isUnconfirmed(tag) ? { ...tag, source: 'human', confidence: null } : tag;
}

/** Confirms the prediction in a slot. */
export function confirm(tags: Tags, slot: Slot): LocalTag[] {
  const old = tagAt(tags, slot);
  return tags.map((tag) => (tag === old ? confirmTag(tag) : tag));
}

export function confirmAll(tags: Tags): LocalTag[] {
  return tags.map(confirmTag);
}

export function setEvidence(tags: Tags, slot: Slot, evidence: readonly Evidence[]): LocalTag[] {
  return tagAt(tags, slot) ? changeTag(tags, slot, { evidence }) : [...tags];
}

function shiftRows(tags: Tags, table: string, from: number, by: 1 | -1): LocalTag[] {
  return tags.map((tag) =>
    tag.row !== null && tag.row >= from && topKey(tag.field) === table
      ? { ...tag, row: tag.row + by }
      : tag,
  );
}

export function removeRow(tags: Tags, table: string, row: number): LocalTag[] {
  const rest = tags.filter((tag) => topKey(tag.field) !== table || tag.row !== row);
  return shiftRows(rest, table, row + 1, -1);
}

/** Makes room for a row above another. */
export function insertRow(tags: Tags, table: string, row: number): LocalTag[] {
  return shiftRows(tags, table, row, 1);
}

/** Replaces the tags of one place, such as by the values of another labeler or of the prediction. */
export function replacePlace(
  tags: Tags,
  place: { field: string; row: number | null },
  replacement: Tags,
): LocalTag[] {
  const at = tags.findIndex((tag) => tag.field === place.field && tag.row === place.row);
  const old = new Set(tagsAt(tags, place.field, place.row));
  const rest = tags.filter((tag) => !old.has(tag));
  const copies = replacement.map((tag) => ({
    ...confirmTag(tag),
    id: createId(),
    field: place.field,
    row: place.row,
  }));
  return at < 0 ? [...rest, ...copies] : rest.toSpliced(at, 0, ...copies);
}

/** Adds suggested tags where nothing is; a field with several values gets those that it lacks. */
export function addSuggestions(
  tags: Tags,
  suggested: Tags,
  isMultiple: (field: string) => boolean,
): LocalTag[] {
  let result = [...tags];
  const isFree = (tag: LocalTag) => {
    const own = tagsAt(tags, tag.field, tag.row);
    return isMultiple(tag.field)
      ? !own.some((other) => hasSameValue(tag, other))
      : own.length === 0;
  };
  for (const tag of suggested) if (isFree(tag)) result = insert(result, tag);
  return result;
}
