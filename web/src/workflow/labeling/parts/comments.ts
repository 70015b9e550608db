/** Comments as threads, and the members that a text mentions. */
import type { Schemas } from '@/kit/api/types';

export type Comment = Schemas['Comment'];

export interface Thread {
  readonly first: Comment;
  readonly replies: readonly Comment[];
}

export interface Mentionable {
  readonly id: string;
  readonly name: string;
  readonly email: string;
}

export function groupThreads(comments: readonly Comment[]): Thread[] {
  const replies = new Map<string, Comment[]>();
  for (const comment of comments) {
    if (comment.id === comment.thread_id) continue;
    const own = replies.get(comment.thread_id);
    if (own) own.push(comment);
    else replies.set(comment.thread_id, [comment]);
  }
  return comments
    .filter((comment) => comment.id === comment.thread_id)
    .map((first) => ({ first, replies: replies.get(first.id) ?? [] }));
}

/** The number of threads of each field that wait for an answer. */
export function countOpen(comments: readonly Comment[]): ReadonlyMap<string, number> {
  const counts = new Map<string, number>();
  for (const { first } of groupThreads(comments)) {
    if (first.resolved_at !== null) continue;
    const field = first.field?.split('.', 1)[0] ?? '';
    counts.set(field, (counts.get(field) ?? 0) + 1);
  }
  return counts;
}

/** The name that is being typed after an @ before the caret. */
export function mentionAt(text: string, caret: number): { from: number; part: string } | undefined {
  const match = /(?:^|\s)@([\p{L}\p{N}][\p{L}\p{N} ._-]{0,40}|)$/u.exec(text.slice(0, caret));
  if (!match) return undefined;
  const part = match[1] ?? '';
  return { from: caret - part.length - 1, part };
}

export function matchMembers(members: readonly Mentionable[], part: string): Mentionable[] {
  const wanted = part.toLocaleLowerCase();
  return members
    .filter(({ name }) =>
      name
        .toLocaleLowerCase()
        .split(' ')
        .some((_, at, words) => words.slice(at).join(' ').startsWith(wanted)),
    )
    .slice(0, 6);
}

/**
 * The members whose names stand in the text after an @; a longer name wins over a shorter. Of
 * several with the same name, those that were chosen last; all if none was chosen from the list.
 */
export function findMentions(
  text: string,
  members: readonly Mentionable[],
  chosen: readonly string[] = [],
): string[] {
  let rest = text;
  const found: string[] = [];
  const names = new Set(members.map(({ name }) => name));
  for (const name of [...names].sort((a, b) => b.length - a.length)) {
    const count = rest.split(`@${name}`).length - 1;
    if (count === 0) continue;
    const ids = members.filter((one) => one.name === name).map(({ id }) => id);
    const picked = new Set(chosen.filter((id) => ids.includes(id)).slice(-count));
    found.push(...(picked.size > 0 ? picked : ids));
    rest = rest.replaceAll(`@${name}`, '');
  }
  return found;
}
