import { describe, expect, test } from 'vitest';
import { mayRemove, rolesToGive } from './rights';

const owner = { id: 'o', role: 'owner' } as const;
const admin = { id: 'a', role: 'admin' } as const;
const labeler = { id: 'l', role: 'labeler' } as const;

describe('rolesToGive', () => {
  test('owners give every role', () => {
    expect(rolesToGive(owner, labeler)).toContain('owner');
    expect(rolesToGive(owner, { id: 'x', role: 'owner' })).toContain('viewer');
  });
  test('admins give roles up to their own, and none to owners', () => {
    expect(rolesToGive(admin, labeler)).toEqual(['viewer', 'labeler', 'reviewer', 'admin']);
    expect(rolesToGive(admin, owner)).toEqual([]);
  });
  test('others give none', () => {
    expect(rolesToGive(labeler, labeler)).toEqual([]);
  });
});

test('everybody may leave, admins remove others, owners also owners', () => {
  expect(mayRemove(labeler, labeler)).toBe(true);
  expect(mayRemove(labeler, admin)).toBe(false);
  expect(mayRemove(admin, labeler)).toBe(true);
  expect(mayRemove(admin, owner)).toBe(false);
  expect(mayRemove(owner, { id: 'x', role: 'owner' })).toBe(true);
});
