/**
 * The tag set that is being edited: its tags, the input that takes words, and what is wrong where.
 * It lives outside of React, so that a key press renders only what it changes.
 */
import type { Schemas } from '@/kit/api/types';
import type { Word } from '../page/words';
import * as edits from './edits';
import { History } from './history';
import { indexFields, listSlots, nextOpenSlot, stepSlot } from './slots';
import { takeRegion, takeText, takeWords } from './taking';
import {
  type Column,
  type Evidence,
  type Field,
  isSameSlot,
  type LocalTag,
  type Slot,
  tagAt,
  tagsAt,
  toInput,
  topKey,
} from './tags';
import { addCurrency } from './values';

type Tags = readonly LocalTag[];

export interface EditorState {
  readonly tags: Tags;
  /** The tags of each field by its key; a field that did not change keeps its list. */
  readonly byField: ReadonlyMap<string, Tags>;
  readonly active: Slot | undefined;
  /** Why a tag cannot be saved, by its number. */
  readonly problems: ReadonlyMap<number, string>;
  /** Required fields that were empty when the set was submitted. */
  readonly missing: ReadonlySet<string>;
  /** Counts how often the focus was called back to the active input. */
  readonly calls: number;
  /** The tags are being submitted or accepted: an edit now would not be part of it. */
  readonly locked: boolean;
}

function groupByField(tags: Tags, old: ReadonlyMap<string, Tags>): ReadonlyMap<string, Tags> {
  const groups = new Map<string, LocalTag[]>();
  for (const tag of tags) {
    const key = topKey(tag.field);
    const group = groups.get(key);
    if (group) group.push(tag);
    else groups.set(key, [tag]);
  }
  const kept = new Map<string, Tags>(groups);
  for (const [key, group] of groups) {
    const before = old.get(key);
    if (before?.length === group.length && before.every((tag, at) => tag === group[at]))
      kept.set(key, before);
  }
  return kept;
}

export class Editor {
  readonly fields: readonly Field[];
  readonly definitions: ReadonlyMap<string, Field | Column>;
  readonly readOnly: boolean;
  /** Go on to the next input after a value was taken from the document. */
  private advances = true;
  state: EditorState;
  /** Told of every edit by the user, so that it is saved. */
  onEdit: (() => void) | undefined;
  private readonly listeners = new Set<() => void>();
  private readonly history = new History();
  /** The words taken last, and the tag that has them. */
  private taken: { tagId: number | undefined; words: readonly Word[] } | undefined;

  constructor(fields: readonly Field[], tags: Tags, readOnly = false) {
    this.fields = fields;
    this.definitions = indexFields(fields);
    this.readOnly = readOnly;
    this.state = {
      tags,
      byField: groupByField(tags, new Map()),
      active: undefined,
      problems: new Map(),
      missing: new Set(),
      calls: 0,
      locked: false,
    };
  }

  subscribe = (listener: () => void): (() => void) => {
    this.listeners.add(listener);
    return () => this.listeners.delete(listener);
  };

  private set(changes: Partial<EditorState>): void {
    const tags = changes.tags ?? this.state.tags;
    const byField =
      tags === this.state.tags ? this.state.byField : groupByField(tags, this.state.byField);
    this.state = { ...this.state, ...changes, byField };
    for (const listener of this.listeners) listener();
  }

  /** Takes what the service answered; not an edit of the user. */
  replace(tags: Tags): void {
    this.set({ tags });
  }

  /** Goes on from what another session made: an undo must not take that back. */
  restart(tags: Tags): void {
    this.history.clear();
    this.set({ tags });
  }

  /** The tags as the API takes them. An amount that names no currency gets that of the document. */
  toInputs(tags: Tags): Schemas['TagInput'][] {
    return tags.map((tag) => toInput(this.complete(tag)));
  }

  complete(tag: LocalTag): LocalTag {
    const isMoney = this.definitions.get(tag.field)?.type === 'money';
    const { value } = tag;
    if (!isMoney || typeof value !== 'string') return tag;
    return { ...tag, value: addCurrency(value, this.state.tags, this.fields) };
  }

  setAdvances(advances: boolean): void {
    this.advances = advances;
  }

  setProblems(problems: ReadonlyMap<number, string>): void {
    if (problems.size > 0 || this.state.problems.size > 0) this.set({ problems });
  }

  setLocked(locked: boolean): void {
    if (locked !== this.state.locked) this.set({ locked });
  }

  setMissing(missing: ReadonlySet<string>): void {
    this.set({ missing });
  }

  private edit(tags: Tags, active?: Slot, group?: string): void {
    if (this.readOnly || this.state.locked) return;
    this.history.record(this.state.tags, group);
    this.set(active ? { tags, active } : { tags });
    this.onEdit?.();
  }

  focus(slot: Slot | undefined): void {
    if (isSameSlot(slot, this.state.active)) return;
    this.history.close();
    this.set({ active: slot });
  }

  /** Brings the focus back to the active input, from wherever it is. */
  recall(): void {
    if (this.state.active) this.set({ calls: this.state.calls + 1 });
    else this.step(1);
  }

  step(by: 1 | -1): void {
    this.focus(stepSlot(listSlots(this.fields, this.state.tags), this.state.active, by));
  }

  type(slot: Slot, text: string): void {
    const group = `${slot.field}#${slot.row ?? ''}#${slot.index}`;
    this.edit(edits.typeText(this.state.tags, slot, text), undefined, group);
  }

  settle(slot: Slot): void {
    const tags = edits.settle(this.state.tags, slot);
    if (
      tags.length !== this.state.tags.length ||
      tags.some((tag, at) => tag !== this.state.tags[at])
    )
      this.set({ tags });
    this.history.close();
  }

  setValue(slot: Slot, value: unknown): void {
    this.edit(edits.changeTag(this.state.tags, slot, { value }), slot);
  }

  clear(slot: Slot): void {
    this.edit(edits.removeTag(this.state.tags, slot), slot);
  }

  /** Confirms the prediction in the active input, and goes to the next that needs work. */
  confirmAndAdvance(): boolean {
    const { active, tags } = this.state;
    if (!active) return false;
    const confirmed = edits.confirm(edits.settle(tags, active), active);
    const next = nextOpenSlot(this.fields, confirmed, active);
    if (confirmed.some((tag, at) => tag !== tags[at])) this.edit(confirmed, next ?? active);
    else this.focus(next ?? active);
    return next !== undefined;
  }

  confirmAll(): void {
    this.edit(edits.confirmAll(this.state.tags));
  }

  /** Adds predicted tags where nothing is, to be confirmed. Returns how many. */
  suggest(suggested: Tags): number {
    const { tags } = this.state;
    const isMultiple = (field: string) => this.definitions.get(field)?.multiple ?? false;
    const added = edits.addSuggestions(tags, suggested, isMultiple);
    if (added.length > tags.length) this.edit(added);
    return this.state.tags.length - tags.length;
  }

  /** Takes words of the document into the active input; `extend` adds them to those taken last. */
  take(words: readonly Word[], extend: boolean): void {
    // Its row may have moved, and another session may have removed it.
    const last = extend ? this.slotOf(this.taken?.tagId) : undefined;
    const slot = last ?? this.state.active;
    if (!slot || words.length === 0) return;
    const all = last ? [...new Set([...(this.taken?.words ?? []), ...words])] : words;
    const ordered = [...all].sort((a, b) => a.page - b.page || a.index - b.index);
    const tags = takeWords(this.state.tags, slot, ordered, this);
    this.taken = { tagId: tagAt(tags, slot)?.id, words: ordered };
    this.edit(tags, last ? this.state.active : this.slotAfter(tags, slot));
  }

  takeBox(page: number, box: readonly number[]): void {
    const slot = this.state.active;
    if (!slot) return;
    const tags = takeRegion(this.state.tags, slot, page, box);
    this.edit(tags, this.slotAfter(tags, slot));
  }

  /** Takes a stretch of the text, where the page has no words to point at. */
  takeText(text: string, evidence: readonly Evidence[]): void {
    const slot = this.state.active;
    if (!slot) return;
    const tags = takeText(this.state.tags, slot, text, evidence, this);
    this.edit(tags, this.slotAfter(tags, slot));
  }

  private slotOf(tagId: number | undefined): Slot | undefined {
    const tag = this.state.tags.find(({ id }) => id === tagId);
    if (!tag) return undefined;
    const index = tagsAt(this.state.tags, tag.field, tag.row).indexOf(tag);
    return { field: tag.field, row: tag.row, index };
  }

  private slotAfter(tags: Tags, slot: Slot): Slot {
    return (this.advances && nextOpenSlot(this.fields, tags, slot)) || slot;
  }

  removeRow(table: string, row: number): void {
    this.edit(edits.removeRow(this.state.tags, table, row));
  }

  insertRow(table: string, row: number): void {
    const column = this.fields.find((field) => field.key === table)?.columns[0];
    const active = column && { field: `${table}.${column.key}`, row, index: 0 };
    this.edit(edits.insertRow(this.state.tags, table, row), active);
  }

  replacePlace(place: { field: string; row: number | null }, tags: Tags): void {
    this.edit(edits.replacePlace(this.state.tags, place, tags));
  }

  undo(): void {
    if (this.state.locked) return;
    const tags = this.history.undo(this.state.tags);
    if (tags) this.restore(tags);
  }

  redo(): void {
    if (this.state.locked) return;
    const tags = this.history.redo(this.state.tags);
    if (tags) this.restore(tags);
  }

  private restore(tags: Tags): void {
    this.taken = undefined;
    this.set({ tags });
    this.onEdit?.();
  }
}
