import { expect, test } from 'vitest';
import { Editor, type Field } from '@/workflow/labeling';
import { acceptOnce } from './accepting';

const NUMBER = { key: 'number', type: 'text', required: true, columns: [], options: [] };
const slot = { field: 'number', row: null, index: 0 };

function open() {
  const editor = new Editor([NUMBER] as unknown as Field[], []);
  editor.type(slot, '17');
  const list = () => [...editor.state.tags];
  const keeper = { revision: 3, list, corrections: () => editor.toInputs(list()) };
  return { editor, keeper };
}

const values = (editor: Editor) => editor.state.tags.map((tag) => tag.value);

test('nothing can be corrected from accepting on: it would not be part of it', async () => {
  const { editor, keeper } = open();
  const sent: unknown[] = [];
  const outcome = await acceptOnce(editor, keeper, async (body) => {
    sent.push(body.tags?.map((tag) => tag.value));
    editor.type(slot, '18');
    editor.undo();
    expect(await acceptOnce(editor, keeper, () => Promise.reject(new Error('twice')))).toBe(
      'running',
    );
  });
  editor.type(slot, '19');
  expect(outcome).toBe('accepted');
  expect(sent).toEqual([['17']]);
  expect(values(editor)).toEqual(['17']);
});

test('what is refused can be corrected', async () => {
  const { editor, keeper } = open();
  const failure = new Error('stale');
  const outcome = await acceptOnce(editor, keeper, () => Promise.reject(failure));
  expect(outcome).toMatchObject({ failure, sent: [{ value: '17' }] });
  editor.type(slot, '18');
  expect(values(editor)).toEqual(['18']);
});
