import { describe, expect, test } from 'vitest';
import { isComposing, matchesKey, type KeyPress } from './matching';

const press = (key: string, changes: Partial<KeyPress> = {}): KeyPress => ({
  key,
  code: '',
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
    // The letters of other alphabets, by the place of the key.
    ['mod+s', press('ы', { code: 'KeyS', ctrlKey: true }), true],
    ['a', press('ش', { code: 'KeyA' }), true],
    ['a', press('q', { code: 'KeyA' }), false],
    ['o', press('ö', { code: 'Semicolon' }), false],
  ])('%s', (combination, pressed, expected) => {
    expect(matchesKey(combination, pressed, false)).toBe(expected);
  });

  test('mod is the command key on a Mac', () => {
    expect(matchesKey('mod+s', press('s', { metaKey: true }), true)).toBe(true);
    expect(matchesKey('mod+s', press('s', { ctrlKey: true }), true)).toBe(false);
  });
});

test.each([
  ['the key that ends a composition', true, 229, true],
  ['the same in Safari', false, 229, true],
  ['Enter', false, 13, false],
])('%s', (_, isOpen, keyCode, expected) => {
  expect(isComposing({ isComposing: isOpen, keyCode })).toBe(expected);
});
