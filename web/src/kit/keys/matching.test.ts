import { describe, expect, test } from 'vitest';
import { matchesKey, type KeyPress } from './matching';

const press = (key: string, changes: Partial<KeyPress> = {}): KeyPress => ({
  key,
  ctrlKey: false,
  metaKey: false,
  shiftKey: false,
  altKey: false,
  ...changes,
});

describe('matchesKey', () => {
  test.each<[string, KeyPress, boolean]>([
    ['n', press('n'), true],
    ['n', press('N', { shiftKey: true }), false],
    ['n', press('n', { ctrlKey: true }), false],
    ['shift+n', press('N', { shiftKey: true }), true],
    ['?', press('?', { shiftKey: true }), true],
    ['?', press('?'), true],
    ['mod+Enter', press('Enter', { ctrlKey: true }), true],
    ['mod+Enter', press('Enter', { metaKey: true }), false],
    ['Enter', press('Enter', { ctrlKey: true }), false],
    ['+', press('+', { shiftKey: true }), true],
    ['+', press('-'), false],
    ['mod++', press('+', { ctrlKey: true }), true],
    ['mod++', press('+'), false],
    ['alt+ArrowDown', press('ArrowDown', { altKey: true }), true],
  ])('%s', (combination, pressed, expected) => {
    expect(matchesKey(combination, pressed, false)).toBe(expected);
  });

  test('mod is the command key on a Mac', () => {
    expect(matchesKey('mod+s', press('s', { metaKey: true }), true)).toBe(true);
    expect(matchesKey('mod+s', press('s', { ctrlKey: true }), true)).toBe(false);
  });
});
