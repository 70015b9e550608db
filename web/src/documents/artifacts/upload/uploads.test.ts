import { expect, test } from 'vitest';
import { isHidden, readList } from './files';
import { splitPath, summarize, type Upload } from './uploads';

const upload = (changes: Partial<Upload>): Upload => ({
  id: '1',
  path: 'a.pdf',
  size: 100,
  state: 'waiting',
  progress: 0,
  file: new File([], 'a.pdf'),
  schemaId: undefined,
  organization: 'demo',
  ...changes,
});

test('the progress counts bytes, and what failed is finished', () => {
  const list = [
    upload({ state: 'done', progress: 1 }),
    upload({ state: 'failed', progress: 0.2 }),
    upload({ state: 'sending', progress: 0.5 }),
    upload({}),
  ];
  expect(summarize(list)).toEqual({
    total: 4,
    done: 1,
    failed: 1,
    progress: 0.625,
    isRunning: true,
  });
  expect(summarize([]).isRunning).toBe(false);
});

test('a path is split into the folder and the name, which keep their ends', () => {
  expect(splitPath('a.pdf')).toEqual({ name: 'a.pdf', folder: '' });
  expect(splitPath('leases/2025/a.pdf')).toEqual({ name: 'a.pdf', folder: 'leases/2025' });
  const { name, folder } = splitPath(`${'x'.repeat(1200)}/b/${'y'.repeat(300)}.pdf`);
  expect([name.length, folder.length]).toEqual([255, 1000]);
  expect([name.endsWith('y.pdf'), folder.endsWith('x/b')]).toEqual([true, true]);
});

test('files of the operating system are left out', () => {
  expect(['.DS_Store', 'a/.DS_Store', 'a/Thumbs.db', '__MACOSX/a'].every(isHidden)).toBe(true);
  expect(isHidden('a/b.pdf')).toBe(false);
  expect(readList([new File([], 'a.pdf'), new File([], '.hidden')])).toHaveLength(1);
});
