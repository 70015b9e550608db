// Keys that are held, and keys of the browser that the application must leave alone.

import { field, FIELDS, input, open, prepare, saved, submit } from '../steps/labeling.mjs';

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

// The key with which somebody who writes Japanese or Chinese takes what the input method offers.
const compose = (locator) =>
  locator.evaluate((element) => {
    const key = { key: 'Enter', isComposing: true, bubbles: true, cancelable: true };
    return element.dispatchEvent(new KeyboardEvent('keydown', key));
  });

export async function the_end_of_a_composition_neither_confirms_nor_mentions(walk) {
  const work = await prepare(walk);
  const page = await open(walk, work);
  const number = input(page, 'Invoice number');
  await number.fill('請求書');
  await saved(page);
  walk.assert.equal(await compose(number), true);
  await number.and(page.locator(':focus')).waitFor();
  await page.keyboard.press('Enter');
  await input(page, 'Invoice date').and(page.locator(':focus')).waitFor();

  await page.keyboard.press('F4');
  const drawer = page.getByRole('dialog', { name: 'Comments' });
  const box = drawer.getByRole('textbox');
  await box.fill('@Ol');
  const option = drawer.getByRole('option', { name: 'Olga Owner' });
  await option.waitFor();
  // Screen readers read what is offered.
  walk.assert.equal(await box.getAttribute('aria-activedescendant'), await option.getAttribute('id'));
  await walk.checkAccessibility(page);
  walk.assert.equal(await compose(box), true);
  walk.assert.equal(await box.inputValue(), '@Ol');
  await page.keyboard.press('Enter');
  await walk.until(async () => walk.assert.equal(await box.inputValue(), '@Olga Owner '));
}

export async function letters_of_other_alphabets_are_keys_too(walk) {
  const work = await prepare(walk);
  const page = await open(walk, work);
  await input(page, 'Invoice number').fill('17');
  await saved(page);
  await input(page, 'Invoice number').evaluate((element) =>
    element.dispatchEvent(
      new KeyboardEvent('keydown', { key: 'я', code: 'KeyZ', ctrlKey: true, bubbles: true, cancelable: true }),
    ),
  );
  await walk.until(async () => walk.assert.equal(await input(page, 'Invoice number').inputValue(), ''));
}

export async function a_key_that_is_pressed_twice_claims_one_document(walk) {
  const work = await prepare(walk);
  const page = await walk.page('/', { as: work.session });
  await page.getByRole('button', { name: /^Next document/ }).waitFor();
  const claims = [];
  page.on('request', (request) => request.url().endsWith('/artifacts/next') && claims.push(request.url()));
  // Faster than the page is rendered.
  await page.evaluate(() => {
    for (let press = 0; press < 2; press += 1)
      document.body.dispatchEvent(new KeyboardEvent('keydown', { key: 'n', bubbles: true, cancelable: true }));
  });
  await page.waitForURL(`**/label/${work.id}`);
  walk.assert.equal(claims.length, 1);
}

export async function what_is_typed_into_an_empty_field_stays_in_its_order(walk) {
  const columns = [field('name', 'Name', 'text'), field('amount', 'Amount', 'money')];
  const lines = field('lines', 'Lines', 'table', { required: false, columns });
  const parties = field('parties', 'Parties', 'text', { required: false, multiple: true });
  const page = await open(walk, await prepare(walk, { fields: [...FIELDS, parties, lines] }));
  for (const label of ['Supplier', 'Invoice date', 'Parties', 'Name, row 1', 'Amount, row 2']) {
    const empty = input(page, label);
    await empty.click();
    // An input method would lose its composition with its input.
    await empty.evaluate((element) => element.setAttribute('data-same', 'yes'));
    await page.keyboard.type('1 Ab');
    walk.assert.deepEqual([await empty.inputValue(), await empty.getAttribute('data-same')], ['1 Ab', 'yes'], label);
  }
}

export async function rows_of_a_table_are_inserted_and_removed_with_keys(walk) {
  const columns = [field('name', 'Name', 'text')];
  const lines = field('lines', 'Lines', 'table', { required: false, columns });
  const work = await prepare(walk, { fields: [lines] });
  const page = await open(walk, work);
  for (const [row, name] of ['Paper', 'Ink', 'Glue'].entries()) await input(page, `Name, row ${row + 1}`).fill(name);
  await input(page, 'Name, row 2').click();
  await page.keyboard.press('Alt+Delete');
  await walk.until(async () => walk.assert.equal(await input(page, 'Name, row 2').inputValue(), 'Glue'));
  await page.keyboard.press('Alt+Shift+Enter');
  await page.keyboard.type('Pens');
  await saved(page);
  const rows = (await work.drafts())[0].tags.map(({ row, value }) => [row, value]).sort();
  walk.assert.deepEqual(rows, [[0, 'Paper'], [1, 'Pens'], [2, 'Glue']]);
}

export async function a_value_that_is_cleared_and_typed_anew_leaves_the_next_one(walk) {
  const parties = field('parties', 'Parties', 'text', { required: false, multiple: true });
  const work = await prepare(walk, { fields: [parties] });
  const page = await open(walk, work);
  for (const name of ['Ann', 'Bob']) {
    await page.keyboard.type(name);
    await page.keyboard.press('Enter');
  }
  await saved(page);
  await input(page, 'Parties').click();
  await page.keyboard.press('Control+A');
  await page.keyboard.press('Delete');
  // The labeler looks at the document, and the change is saved meanwhile.
  await walk.until(async () => walk.assert.deepEqual((await work.drafts())[0].tags.map((tag) => tag.value), ['Bob']));
  // So it is when the labeler has looked into another window.
  const leaveWindow = (element) => element.dispatchEvent(new FocusEvent('focusout', { bubbles: true }));
  await input(page, 'Parties').evaluate(leaveWindow);
  walk.assert.equal(await input(page, 'Parties').inputValue(), '');
  await page.keyboard.type('Eve');
  await page.keyboard.press('Escape');
  await walk.until(async () =>
    walk.assert.deepEqual((await work.drafts())[0].tags.map((tag) => tag.value), ['Eve', 'Bob']),
  );
}

export async function enter_presses_the_button_that_has_the_focus(walk) {
  const work = await prepare(walk);
  const page = await open(walk, work);
  await page.getByRole('button', { name: 'Skip', exact: true }).focus();
  await page.keyboard.press('Enter');
  await page.getByRole('dialog', { name: 'Skip the document' }).waitFor();
}
