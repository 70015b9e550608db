import { expect, test } from 'vitest';
import { expiryDate, grantableRoles } from './scopes';

test('a key gets no role above that of its creator, and never that of the owner', () => {
  expect(grantableRoles('owner')).toEqual(['viewer', 'labeler', 'reviewer', 'admin']);
  expect(grantableRoles('admin')).toEqual(['viewer', 'labeler', 'reviewer', 'admin']);
  expect(grantableRoles('labeler')).toEqual(['viewer', 'labeler']);
  expect(grantableRoles(undefined)).toEqual([]);
});

test('expires after full days', () => {
  const now = new Date('2026-11-26T10:00:00Z');
  expect(expiryDate('30', now)).toBe('2026-12-26T10:00:00.000Z');
  expect(expiryDate('never', now)).toBeNull();
});
