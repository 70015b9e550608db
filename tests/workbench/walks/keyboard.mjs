// Keys that are held, and keys of the browser that the application must leave alone.

import { field, FIELDS, open, prepare, submit } from '../steps/labeling.mjs';

const VALUES = { supplier: 'Brackenhill', number: '17', date: '2026-01-30', total: '512.40 EUR' };

export async function a_key_that_is_held_accepts_one_tag_set(walk) {
  const work = await prepare(walk, { name: 'one.txt' });
  const [{ id: schema_id }] = await work.call('GET', '/schemas');
  const second = await work.call('POST', '/artifacts', { name: 'two.txt', text: 'Another invoice', schema_id });
  await walk.until(async () => walk.assert.equal((await work.call('GET', `/artifacts/${second.id}`)).status, 'ready'));
  const mia = await walk.member(work.session, 'labeler');
  for (const id of [work.id, second.id]) await submit(walk, mia, id, VALUES);
  const page = await walk.page('/review/next', { as: work.session });
  await page.getByRole('heading', { name: 'one.txt' }).waitFor();
  const accepted = [];
  page.on('request', (request) => request.url().endsWith('/accept') && accepted.push(request.url()));
  await page.keyboard.down('a');
  await page.getByRole('heading', { name: 'two.txt' }).waitFor();
  await page.getByRole('button', { name: 'Accept', exact: true }).waitFor();
  // It is not released: the browser repeats it.
  await page.keyboard.down('a');
  await page.keyboard.up('a');
  await page.keyboard.press('j');
  await page.getByRole('dialog').waitFor();
  walk.assert.equal(accepted.length, 1);
}

export async function the_space_bar_opens_a_list_of_options(walk) {
  const options = ['a', 'b', 'c', 'd', 'e'].map((value) => ({ value, label: value }));
  const kind = field('kind', 'Kind', 'choice', { required: false, options });
  const page = await open(walk, await prepare(walk, { fields: [...FIELDS, kind] }));
  const isTaken = await page.getByRole('combobox', { name: 'Kind' }).evaluate((element) => {
    element.focus();
    return !element.dispatchEvent(new KeyboardEvent('keydown', { key: ' ', bubbles: true, cancelable: true }));
  });
  walk.assert.equal(isTaken, false);
}
