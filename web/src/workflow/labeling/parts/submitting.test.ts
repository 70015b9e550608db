import { expect, test, vi } from 'vitest';
import { ApiError } from '@/kit/api/errors';
import { Editor } from '../model/editor';
import type { Session } from '../model/session';
import type { Field } from '../model/tags';
import { submitDraft } from './submitting';

const NUMBER = { key: 'number', type: 'text', required: true, columns: [], options: [] };
const slot = { field: 'number', row: null, index: 0 };

function open(value: string) {
  const editor = new Editor([NUMBER] as unknown as Field[], []);
  const compare = vi.fn(() => Promise.resolve(true));
  const saver = { state: { kind: 'saved' }, revision: 3, flush: () => Promise.resolve(), compare };
  if (value !== '') editor.type(slot, value);
  const draft = { editor, saver } as unknown as Pick<Session, 'editor' | 'saver'>;
  return { editor, draft, compare };
}

test('nothing can be edited from the submission on: it would not be part of it', async () => {
  const { editor, draft } = open('17');
  const revisions: number[] = [];
  const isSent = await submitDraft(draft, async (revision) => {
    revisions.push(revision);
    editor.type(slot, '18');
    editor.undo();
    expect(await submitDraft(draft, () => Promise.reject(new Error('twice')))).toBe(false);
  });
  editor.type(slot, '19');
  expect(isSent).toBe(true);
  expect(revisions).toEqual([3]);
  expect(editor.state.tags.map((tag) => tag.value)).toEqual(['17']);
});

test('after an error, or with a required field empty, editing goes on', async () => {
  const { editor, draft, compare } = open('');
  expect(await submitDraft(draft, () => Promise.reject(new Error('unreachable')))).toBe(false);
  expect([...editor.state.missing]).toEqual(['number']);
  editor.type(slot, '17');
  const refusal = new ApiError(409, { code: 'stale_precondition', message: '' });
  await expect(submitDraft(draft, () => Promise.reject(refusal))).rejects.toBe(refusal);
  // The version of the service is shown; it can be submitted.
  expect(compare).toHaveBeenCalledOnce();
  editor.type(slot, '18');
  expect(editor.state.tags.map((tag) => tag.value)).toEqual(['18']);
});
