import { expect, test } from 'vitest';
import { toPeopleOptions, withChosen } from './options';
import { rolesUpTo } from './RoleSelect';

test('a role gives roles up to itself', () => {
  expect(rolesUpTo('reviewer')).toEqual(['viewer', 'labeler', 'reviewer']);
  expect(rolesUpTo('owner')).toHaveLength(5);
  expect(rolesUpTo(undefined)).toEqual([]);
});

test('the chosen option stays in the list, once', () => {
  const a = { value: 'a', label: 'A' };
  const b = { value: 'b', label: 'B' };
  expect(withChosen([a], b)).toEqual([b, a]);
  expect(withChosen([a], a)).toEqual([a]);
  expect(withChosen([a], undefined)).toEqual([a]);
});

test('members with the same name are told apart by their addresses', () => {
  const people = [
    ['1', 'Ann', 'ann@example.com'],
    ['2', 'Bo', 'bo@example.com'],
    ['3', 'Ann', 'ann@example.org'],
  ].map(([id = '', name = '', email = '']) => ({ user: { id, name, email } }));
  expect(toPeopleOptions(people).map(({ label }) => label)).toEqual([
    'Ann · ann@example.com',
    'Bo',
    'Ann · ann@example.org',
  ]);
});
