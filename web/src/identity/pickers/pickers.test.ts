import { expect, test } from 'vitest';
import { withChosen } from './options';
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
