import { expect, test } from 'vitest';
import { isHidden, readList } from './files';
import { summarize, toName, type Upload } from './uploads';

const upload = (changes: Partial<Upload>): Upload => ({
  id: '1',
  name: 'a.pdf',
  size: 100,
  state: 'waiting',
  progress: 0,
  file: new File([], 'a.pdf'),
  schemaId: undefined,
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

test('a long path keeps its end', () => {
  expect(toName('folder/a.pdf')).toBe('folder/a.pdf');
  expect(toName(`${'x'.repeat(300)}/a.pdf`)).toHaveLength(255);
  expect(toName(`${'x'.repeat(300)}/a.pdf`).endsWith('/a.pdf')).toBe(true);
});

test('files of the operating system are left out', () => {
  expect(['.DS_Store', 'a/.DS_Store', 'a/Thumbs.db', '__MACOSX/a'].every(isHidden)).toBe(true);
  expect(isHidden('a/b.pdf')).toBe(false);
  expect(readList([new File([], 'a.pdf'), new File([], '.hidden')])).toHaveLength(1);
});
