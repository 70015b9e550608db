import { expect, test } from 'vitest';
import { findTarget } from './targets';

const ID = '01a21534-f7f7-7d33-bd00-91ba02ed1708';

test.each([
  [`artifacts/${ID}`, '', `/documents/${ID}`],
  [`tag-sets/${ID}/comments`, 'a=1', `/tag-sets/${ID}?panel=comments&a=1`],
  ['review-queue', 'escalated=true', '/review?escalated=true'],
  ['users/me/assignments', '', '/'],
  ['organizations/some-slug/api-keys', '', '/integrations/api-keys'],
  ['organizations/some-slug/members', '', '/members'],
  ['quality/drift', 'detection_id=1', '/drift?detection_id=1'],
  ['billing/usage', '', '/billing'],
  // What was sent back is on the start page.
  ['tag-sets', 'status=rejected', '/'],
  ['nothing/known', 'a=1', '/'],
])('%s', (resource, query, page) => {
  expect(findTarget(resource, query)).toBe(page);
});
