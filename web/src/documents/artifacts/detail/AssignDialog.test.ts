import { expect, test } from 'vitest';
import { toAssignees } from './AssignDialog';

test('without a team the document returns to the pool, also from people who were chosen', () => {
  const users = ['ada'];
  expect(toAssignees({ kind: 'team', team: null, users })).toEqual({ user_ids: [] });
  expect(toAssignees({ kind: 'team', team: 't', users })).toEqual({ team_id: 't' });
  expect(toAssignees({ kind: 'users', team: 't', users })).toEqual({ user_ids: ['ada'] });
});
