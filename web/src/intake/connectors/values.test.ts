import { expect, test } from 'vitest';
import { splitFolders } from './values';

test('splits a path into the folders on the way', () => {
  expect(splitFolders('a/b')).toEqual([
    { name: 'a', path: 'a' },
    { name: 'b', path: 'a/b' },
  ]);
  expect(splitFolders('/in/box')).toEqual([
    { name: 'in', path: '/in' },
    { name: 'box', path: '/in/box' },
  ]);
  expect(splitFolders('')).toEqual([]);
});
