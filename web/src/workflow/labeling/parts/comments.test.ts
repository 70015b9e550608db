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
  { id: '1', name: 'Ann', email: 'ann@example.com' },
  { id: '2', name: 'Ann Lee', email: 'lee@example.com' },
  { id: '3', name: 'Jürgen Groß', email: 'jg@example.com' },
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

  test('of two with the same name, the one that was chosen is meant', () => {
    const all = [...members, { id: '4', name: 'Ann', email: 'ann@example.org' }];
    expect(findMentions('@Ann', all, ['4'])).toEqual(['4']);
    expect(findMentions('@Ann and @Ann', all, ['4', '1'])).toEqual(['4', '1']);
    expect(findMentions('@Ann', all, ['4', '1'])).toEqual(['1']);
    expect(findMentions('@Ann', all, ['2'])).toEqual(['1', '4']);
    expect(findMentions('Ann', all, ['4'])).toEqual([]);
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
