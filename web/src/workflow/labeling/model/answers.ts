/** Reading what the service answers to a save. */
import type { ApiError } from '@/kit/api/errors';
import type { Schemas } from '@/kit/api/types';
import { contentOf, type LocalTag } from './tags';

type Tags = readonly LocalTag[];

const ERROR_PATH = /^tags\.(\d+)(\.|$)/;

/** A tag with its content: what was refused once is refused again. */
export function keyOf(tag: LocalTag): string {
  return `${tag.id} ${contentOf(tag)}`;
}

/** Whether the tags of the service are those that were sent, apart from their conversion. */
export function isEcho(sent: Tags, answer: readonly Schemas['Tag'][]): boolean {
  const strip = (tags: readonly Omit<LocalTag, 'id'>[]) =>
    tags.map((tag) => contentOf({ ...tag, value: null, source: 'human' })).join('\n');
  const isSameText = (tag: Schemas['Tag'], at: number) =>
    typeof tag.value !== 'string' ||
    typeof sent[at]?.value !== 'string' ||
    /\d/.test(tag.value) ||
    tag.value === sent[at].value.trim();
  return strip(sent) === strip(answer) && answer.every(isSameText);
}

/** Gives equal tags the numbers that they have on the screen. */
export function keepIds(tags: Tags, shown: Tags): LocalTag[] {
  const ids = new Map(shown.map((tag) => [contentOf(tag), tag.id]));
  return tags.map((tag) => {
    const content = contentOf(tag);
    const id = ids.get(content) ?? tag.id;
    ids.delete(content);
    return { ...tag, id };
  });
}

/** The errors of an answer by the position of the tag; the path is taken out of the message. */
export function readTagErrors(error: ApiError): { position: number; message: string }[] {
  const listed = (error.details['errors'] ?? []) as { field: string; message: string }[];
  const all = listed.length > 0 ? listed : [{ field: error.field ?? '', message: error.message }];
  return all.flatMap(({ field, message }) => {
    const match = ERROR_PATH.exec(field);
    if (!match) return [];
    const text = message.startsWith(field) ? message.slice(field.length).trim() : message;
    return [{ position: Number(match[1]), message: text }];
  });
}
