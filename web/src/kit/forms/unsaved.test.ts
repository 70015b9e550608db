import { expect, test } from 'vitest';
import { chooseVersion, needsNewForm } from './EditedRecord';
import { showSaved } from './edited';
import { answerDiscard, askToDiscard, hasUnsaved, holdChanges, mayLeave } from './unsaved';

test('a page with changes is left when the user discards them', async () => {
  const release = holdChanges();
  const stays = mayLeave();
  answerDiscard(false);
  const leaves = mayLeave();
  answerDiscard(true);
  expect([await stays, await leaves]).toEqual([false, true]);
  release();
  expect(await mayLeave()).toBe(true);
});

test('without changes nothing is asked, nor for those that the tab keeps', async () => {
  expect(await mayLeave()).toBe(true);
  const release = holdChanges(true);
  expect([await mayLeave(), hasUnsaved()]).toEqual([true, true]);
  release();
  expect(hasUnsaved()).toBe(false);
});

test('a second question answers the first', async () => {
  const first = askToDiscard();
  const second = askToDiscard();
  answerDiscard(true);
  expect([await first, await second]).toEqual([false, true]);
});

test.each([
  ['changes stay with the version that they began with', 1, 2, true, 1],
  ['a newer version replaces a form without changes', 1, 2, false, 2],
])('%s', (_, held, latest, isDirty, expected) => {
  const version = (revision: number) => ({ id: 'a', revision });
  expect(chooseVersion(version(held), version(latest), isDirty).revision).toBe(expected);
});

test('the changes of another record are not kept', () => {
  const other = { id: 'b', revision: 1 };
  expect(chooseVersion({ id: 'a', revision: 1 }, other, true)).toBe(other);
});

test.each([
  ['the version that the form has saved stays in it', 'a', 2, false],
  ['a version of somebody else begins a new form', 'a', 3, true],
  ['so does another record', 'b', 2, true],
])('%s', (_, id, revision, expected) => {
  expect(needsNewForm({ id: 'a', revision: 1 }, { id, revision }, 2)).toBe(expected);
});

test('a form shows what was saved, and what was typed meanwhile as a change of it', () => {
  let values = { name: ' Ada ', key: 'secret', skills: ['typed'] };
  let clean = {};
  const form = {
    getValues: () => values,
    setValues: (next: object) => {
      values = { ...values, ...next };
    },
    resetDirty: (next?: object) => {
      clean = next ?? {};
    },
  };
  const saved = { name: 'Ada', key: '', skills: [] };
  showSaved<typeof values>(form as never, { ...values, skills: [] }, saved);
  expect(values).toEqual({ name: 'Ada', key: '', skills: ['typed'] });
  expect(clean).toEqual(saved);
});
