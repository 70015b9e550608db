import { isApiError } from '@/kit/api/errors';
import type { Editor } from '../model/editor';
import type { Session } from '../model/session';
import { listMissing } from '../model/slots';

/** Shows what is wrong first: a value with an error, else an empty required field. */
function focusFirstProblem(editor: Editor, missing: ReadonlySet<string>): boolean {
  const { tags, problems } = editor.state;
  const tag = tags.find((one) => problems.has(one.id));
  if (tag) {
    const siblings = tags.filter((one) => one.field === tag.field && one.row === tag.row);
    editor.focus({ field: tag.field, row: tag.row, index: siblings.indexOf(tag) });
    return true;
  }
  const [name] = missing;
  if (name === undefined) return false;
  const field = editor.fields.find((one) => one.key === name.split('.', 1)[0]);
  const column = field?.columns[0];
  const isTable = field?.type === 'table' && column !== undefined;
  if (name.includes('.')) editor.focus({ field: name, row: firstEmptyRow(editor, name), index: 0 });
  else if (isTable) editor.focus({ field: `${name}.${column.key}`, row: 0, index: 0 });
  else editor.focus({ field: name, row: null, index: 0 });
  return true;
}

function firstEmptyRow(editor: Editor, name: string): number {
  const table = name.split('.', 1)[0] ?? '';
  const own = editor.state.byField.get(table) ?? [];
  const rows = [...new Set(own.map((tag) => tag.row ?? 0))].sort((a, b) => a - b);
  return rows.find((row) => !own.some((tag) => tag.field === name && tag.row === row)) ?? 0;
}

type Submitted = Pick<Session, 'editor' | 'saver'>;

async function saveAndSend(
  { editor, saver }: Submitted,
  send: (revision: number) => Promise<unknown>,
): Promise<boolean> {
  const missing = listMissing(editor.fields, editor.state.tags);
  editor.setMissing(missing);
  const { active } = editor.state;
  if (active) editor.settle(active);
  await saver.flush();
  if (focusFirstProblem(editor, missing) || saver.state.kind !== 'saved') return false;
  try {
    await send(saver.revision);
  } catch (failure) {
    // The screen has another version than the service: without it, nothing could be submitted here again.
    if (isApiError(failure, 'stale_precondition')) await saver.compare();
    if (!isApiError(failure, 'required_fields_missing')) throw failure;
    const fields = new Set(failure.details['fields'] as string[]);
    editor.setMissing(fields);
    focusFirstProblem(editor, fields);
    return false;
  }
  return true;
}

/**
 * Saves what is left and sends the draft with its revision; errors are shown at their fields.
 * Nothing can be edited meanwhile, nor after it was sent: it would be lost. Returns whether it was.
 */
export async function submitDraft(
  draft: Submitted,
  send: (revision: number) => Promise<unknown>,
): Promise<boolean> {
  const { editor } = draft;
  if (editor.state.locked) return false;
  editor.setLocked(true);
  let isSent = false;
  try {
    isSent = await saveAndSend(draft, send);
  } finally {
    if (!isSent) editor.setLocked(false);
  }
  return isSent;
}
