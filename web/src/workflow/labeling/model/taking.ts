/** Turning a place of the document into a value, as the field's type needs it. */
import { buildEvidence, buildSpan, joinWords, type Word } from '../page/words';
import { changeTag, setEvidence } from './edits';
import { type Column, type Evidence, type Field, type LocalTag, type Slot, tagAt } from './tags';
import { addCurrency, matchOption } from './values';

type Tags = readonly LocalTag[];

export interface Terms {
  readonly fields: readonly Field[];
  readonly definitions: ReadonlyMap<string, Field | Column>;
}

/** Takes a text of the document and its places as the value of a slot. */
export function takeText(
  tags: Tags,
  slot: Slot,
  text: string,
  evidence: readonly Evidence[],
  { fields, definitions }: Terms,
): LocalTag[] {
  const definition = definitions.get(slot.field);
  switch (definition?.type) {
    case 'span':
      // The service takes the exact text from the document; this one is shown until then.
      return changeTag(tags, slot, { value: null, evidence, typed: text });
    case 'region':
      return changeTag(tags, slot, { value: null, evidence });
    case 'boolean':
      // A mark on the page is evidence for yes; a value that is set already stays.
      return tagAt(tags, slot)
        ? setEvidence(tags, slot, evidence)
        : changeTag(tags, slot, { value: true, evidence });
    case 'choice': {
      const value = matchOption(text, definition) ?? tagAt(tags, slot)?.value ?? text;
      return changeTag(tags, slot, { value, evidence });
    }
    case 'money':
      return changeTag(tags, slot, { value: addCurrency(text, tags, fields), evidence });
    default:
      return changeTag(tags, slot, { value: text, evidence });
  }
}

export function takeWords(
  tags: Tags,
  slot: Slot,
  words: readonly Word[],
  terms: Terms,
): LocalTag[] {
  const type = terms.definitions.get(slot.field)?.type;
  const isWhole = type === 'span' || type === 'region';
  const evidence = isWhole ? buildSpan(words) : buildEvidence(words);
  return takeText(tags, slot, joinWords(words), evidence, terms);
}

/** A box that was drawn as the value of a region. */
export function takeRegion(
  tags: Tags,
  slot: Slot,
  page: number,
  box: readonly number[],
): LocalTag[] {
  const evidence = [{ page, box: [...box], start: null, end: null, text: null }];
  return changeTag(tags, slot, { value: tagAt(tags, slot)?.value ?? null, evidence });
}
