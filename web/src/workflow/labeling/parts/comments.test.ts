import { describe, expect, test } from 'vitest';
import {
  type Comment,
  countOpen,
  findMentions,
  groupThreads,
  matchMembers,
  mentionAt,
} from './comments';

const members = [
  { id: '1', name: 'Ann' },
  { id: '2', name: 'Ann Lee' },
  { id: '3', name: 'Jürgen Groß' },
];

describe('mentions', () => {
  test('offers members while a name is typed', () => {
    expect(mentionAt('see @Jü', 7)).toEqual({ from: 4, part: 'Jü' });
    expect(mentionAt('mail@host', 9)).toBeUndefined();
    expect(matchMembers(members, 'gro').map((one) => one.id)).toEqual(['3']);
  });

  test('finds whom a text mentions; the longer name wins', () => {
    expect(findMentions('@Ann Lee and @Jürgen Groß', members)).toEqual(['3', '2']);
    expect(findMentions('@Ann', members)).toEqual(['1']);
    expect(findMentions('Ann', members)).toEqual([]);
  });
});

test('threads keep their replies, and open ones are counted by field', () => {
  const comment = (id: string, thread: string, changes: Partial<Comment> = {}) =>
    ({
      id,
      thread_id: thread,
      field: 'lines.amount',
      resolved_at: null,
      ...changes,
    }) as Comment;
  const comments = [
    comment('a', 'a'),
    comment('b', 'a'),
    comment('c', 'c', { field: null, resolved_at: '2026-01-01T00:00:00Z' }),
    comment('d', 'd', { field: null }),
  ];
  expect(groupThreads(comments).map((thread) => thread.replies.length)).toEqual([1, 0, 0]);
  expect([...countOpen(comments)]).toEqual([
    ['lines', 1],
    ['', 1],
  ]);
});
