// Labelers and reviewers work on documents: with the pointer, with keys only, and against bad luck.

import { click, drag, field, FIELDS, find, input, open, prepare, saved, submit } from '../steps/labeling.mjs';

export async function four_fields_need_five_actions_without_predictions(walk) {
  const work = await prepare(walk);
  const page = await open(walk, work);
  let actions = 0;
  const act = async (run) => {
    actions += 1;
    await run();
  };
  await act(() => drag(page, work, 'Brackenhill', 'Works'));
  await act(() => click(page, work, 'BPW-0613'));
  await act(() => click(page, work, '2026-01-30'));
  await act(() => drag(page, work, '512.40', 'EUR'));
  await act(() => page.keyboard.press('Control+Enter'));
  await page.getByRole('heading', { name: 'Nothing to label' }).waitFor();
  const [set] = await work.drafts();
  walk.assert.equal(set.status, 'submitted');
  const values = Object.fromEntries(set.tags.map((tag) => [tag.field, tag.value]));
  walk.assert.deepEqual(values, {
    supplier: 'Brackenhill Print Works',
    number: 'BPW-0613',
    date: '2026-01-30',
    total: { amount: '512.40', currency: 'EUR' },
  });
  walk.assert.ok(set.tags.every((tag) => tag.evidence[0].box && tag.evidence[0].text));
  walk.assert.ok(actions <= 8);
  return actions;
}

export async function predictions_are_confirmed_with_one_key_each(walk) {
  const work = await prepare(walk, { predicted: true });
  const page = await open(walk, work);
  const [draft] = await work.drafts();
  const predicted = draft.tags.filter((tag) => tag.source === 'model');
  walk.assert.ok(predicted.length > 0);
  const button = page.getByRole('button', { name: /^Confirm (all )?\d+ prediction/ });
  await button.waitFor();
  let actions = 0;
  for (const _ of predicted) {
    await page.keyboard.press('Enter');
    actions += 1;
  }
  await button.waitFor({ state: 'detached' });
  await saved(page);
  const [set] = await work.drafts();
  walk.assert.ok(set.tags.every((tag) => tag.source === 'human'));
  walk.assert.ok(actions + 1 <= 5);
  return actions + 1;
}

export async function a_prediction_is_asked_for_and_fills_what_is_empty(walk) {
  const work = await prepare(walk, { ai: true });
  const page = await open(walk, work);
  await input(page, 'Invoice number').fill('17');
  await saved(page);
  await page.getByRole('button', { name: 'Ask for a prediction' }).click();
  await page.getByText(/values? (was|were) suggested/).waitFor();
  const button = page.getByRole('button', { name: /^Confirm (all )?\d+ prediction/ });
  await button.waitFor();
  await saved(page);
  // What was typed stays; what was predicted there is offered.
  walk.assert.equal(await input(page, 'Invoice number').inputValue(), '17');
  const taken = page.getByRole('button', { name: 'Take the value of Predicted for Invoice number' });
  await taken.waitFor();
  const [draft] = await work.drafts();
  walk.assert.ok(draft.tags.some((tag) => tag.source === 'model'));
  walk.assert.equal(draft.tags.find((tag) => tag.field === 'number').source, 'human');
  await taken.click();
  await walk.until(async () => walk.assert.equal(await input(page, 'Invoice number').inputValue(), 'BPW-0613'));
  await button.click();
  await button.waitFor({ state: 'detached' });
  await saved(page);
  const [set] = await work.drafts();
  walk.assert.ok(set.tags.every((tag) => tag.source === 'human'));
}

export async function two_labelers_on_one_document_lose_nothing(walk) {
  const work = await prepare(walk);
  const mia = await walk.member(work.session, 'labeler');
  const first = await open(walk, work);
  await input(first, 'Invoice number').fill('first');
  await saved(first);
  const second = await walk.page(`/label/${work.id}`, { as: mia });
  await second.getByRole('heading', { name: 'This document cannot be opened for labeling' }).waitFor();
  await second.getByText('Another user has claimed this artifact.').waitFor();
  await second.getByRole('button', { name: 'Next document' }).click();
  await second.getByRole('heading', { name: 'Nothing to label' }).waitFor();
  await input(first, 'Supplier').fill('also first');
  await saved(first);
  const [set] = await work.drafts();
  walk.assert.deepEqual(set.tags.map((tag) => tag.value).sort(), ['also first', 'first']);
  // The same labeler in another browser goes on with the same draft; the first one is asked.
  const other = await open(walk, work);
  await input(other, 'Invoice number').fill('other');
  await saved(other);
  await input(first, 'Invoice date').fill('2026-01-30');
  const dialog = first.getByRole('dialog', { name: 'This document was changed elsewhere' });
  await dialog.getByText('other', { exact: true }).waitFor();
  await dialog.getByRole('button', { name: 'Apply' }).click();
  await saved(first);
  const [merged] = await work.drafts();
  walk.assert.deepEqual(merged.tags.map((tag) => tag.value).sort(), ['2026-01-30', 'also first', 'other']);
}

export async function words_are_taken_from_a_turned_page(walk) {
  const work = await prepare(walk);
  const page = await open(walk, work, { height: 1500 });
  for (let turns = 0; turns < 4; turns += 1) {
    await page.getByRole('button', { name: 'Rotate' }).click();
    await input(page, 'Invoice number').click();
    const { x, y } = await find(page, work, 'BPW-0613', (turns + 1) * 90);
    await page.mouse.click(x, y);
    await walk.until(async () => walk.assert.equal(await input(page, 'Invoice number').inputValue(), 'BPW-0613'));
    await input(page, 'Invoice number').fill('');
  }
}

export async function a_document_is_labeled_and_reviewed_without_a_pointer(walk) {
  const work = await prepare(walk);
  const page = await open(walk, work);
  const { keyboard } = page;
  // The first word and the two after it, taken in the document.
  await keyboard.press('F2');
  await keyboard.press('ArrowRight');
  for (const _ of [1, 2]) await keyboard.press('Shift+ArrowRight');
  await keyboard.press('Enter');
  await keyboard.press('Escape');
  await walk.until(async () => walk.assert.equal(await input(page, 'Supplier').inputValue(), 'Brackenhill Print Works'));
  await keyboard.type('BPW-0613');
  await keyboard.press('Enter');
  await keyboard.type('30 January 2026');
  await keyboard.press('Enter');
  await keyboard.type('512.40 EUR');
  await keyboard.press('Control+Enter');
  await page.getByRole('heading', { name: 'Nothing to label' }).waitFor();

  const review = await walk.page('/review', { as: work.session });
  await review.getByRole('link', { name: 'invoice.txt' }).waitFor();
  await review.keyboard.press('n');
  await review.locator('[data-page="1"] img').waitFor();
  await review.keyboard.press('Enter');
  await input(review, 'Supplier').and(review.locator(':focus')).waitFor();
  await review.keyboard.press('Control+Enter');
  await review.getByRole('heading', { name: 'Nothing to review' }).waitFor();
  const [set] = await work.drafts();
  walk.assert.equal(set.status, 'accepted');
  walk.assert.equal(set.tags.find((tag) => tag.field === 'date').value, '2026-01-30');
}

export async function errors_stand_at_their_field_and_keep_nothing_else_from_being_saved(walk) {
  const work = await prepare(walk);
  const page = await open(walk, work);
  await input(page, 'Invoice date').fill('some day');
  await input(page, 'Invoice number').fill('17');
  await page.locator('[data-save-state=invalid]').waitFor();
  const date = input(page, 'Invoice date');
  walk.assert.equal(await date.getAttribute('aria-invalid'), 'true');
  await page.getByText('is not a date').waitFor();
  walk.assert.deepEqual((await work.drafts())[0].tags.map((tag) => tag.value), ['17']);
  // What could not be saved survives a reload.
  page.on('dialog', (dialog) => dialog.accept());
  await page.reload();
  await walk.until(async () => walk.assert.equal(await date.inputValue(), 'some day'));
  await date.fill('2026-01-30');
  await saved(page);
  await page.keyboard.press('Control+Enter');
  await page.getByText('This field is required.').first().waitFor();
  await input(page, 'Supplier').and(page.locator(':focus')).waitFor();
}

export async function a_save_that_races_is_compared_and_loses_nothing(walk) {
  const work = await prepare(walk);
  const page = await open(walk, work);
  await input(page, 'Invoice number').fill('1');
  await saved(page);
  const [draft] = await work.drafts();
  const others = [
    { field: 'number', value: 'theirs' },
    { field: 'supplier', value: 'their supplier' },
  ];
  await work.call('PUT', `/tag-sets/${draft.id}/tags`, { tags: others, revision: draft.revision });
  await input(page, 'Invoice number').fill('mine');
  const dialog = page.getByRole('dialog', { name: 'This document was changed elsewhere' });
  await dialog.waitFor();
  await dialog.getByText('Both changed').waitFor();
  for (const text of ['1', 'mine', 'theirs', 'their supplier'])
    await dialog.getByText(text, { exact: true }).first().waitFor();
  await walk.checkAccessibility(page);
  await page.keyboard.press('Control+Enter');
  await dialog.waitFor({ state: 'detached' });
  await saved(page);
  const [set] = await work.drafts();
  const values = Object.fromEntries(set.tags.map((tag) => [tag.field, tag.value]));
  walk.assert.deepEqual(values, { number: 'mine', supplier: 'their supplier' });
}

export async function without_a_network_for_ten_minutes_everything_is_kept_and_saved_later(walk) {
  const work = await prepare(walk);
  const page = await open(walk, work);
  await page.clock.install();
  await page.reload();
  await input(page, 'Invoice number').waitFor();
  await page.context().setOffline(true);
  await input(page, 'Invoice number').fill('offline');
  await page.locator('[data-save-state=offline]').waitFor();
  await page.clock.fastForward('10:00');
  await page.locator('[data-save-state=offline]').waitFor();
  await input(page, 'Supplier').fill('still typing');
  await page.context().setOffline(false);
  await saved(page);
  const values = (await work.drafts())[0].tags.map((tag) => tag.value).sort();
  walk.assert.deepEqual(values, ['offline', 'still typing']);
}

export async function an_expired_token_in_the_middle_of_a_save_loses_nothing(walk) {
  const work = await prepare(walk);
  const page = await open(walk, work);
  let isExpired = true;
  await page.route('**/tag-sets/*/tags', (route) =>
    isExpired
      ? route.fulfill({
          status: 401,
          contentType: 'application/json',
          body: JSON.stringify({ error: { code: 'token_expired', message: 'The token has expired.' } }),
        })
      : route.continue(),
  );
  await input(page, 'Invoice number').fill('typed before');
  const dialog = page.getByRole('dialog', { name: 'Sign in again' });
  await dialog.getByLabel('Password').and(page.locator('input')).fill(walk.password);
  isExpired = false;
  await dialog.getByRole('button', { name: 'Continue' }).click();
  await dialog.waitFor({ state: 'detached' });
  await saved(page);
  walk.assert.deepEqual((await work.drafts())[0].tags.map((tag) => tag.value), ['typed before']);
}

const TABLE = [
  field('lines', 'Lines', 'table', {
    required: false,
    columns: [field('name', 'Name', 'text'), field('amount', 'Amount', 'money')],
  }),
  field('total', 'Total', 'money', { required: false }),
  field('stamp', 'Stamp', 'region', { required: false }),
  field('clause', 'Clause', 'span', { required: false }),
];

export async function tables_spans_and_regions_are_taken_from_the_page(walk) {
  const work = await prepare(walk, { fields: TABLE });
  const page = await open(walk, work);
  await input(page, 'Total').click();
  await drag(page, work, '512.40', 'EUR');
  await input(page, 'Name, row 1').click();
  for (const text of ['Paper', '100.00', 'Ink', '26.00']) await click(page, work, text);
  await input(page, 'Stamp').click();
  await drag(page, work, 'Brackenhill', 'Works');
  await input(page, 'Clause').click();
  await drag(page, work, 'Print', 'Date');
  await walk.until(async () => walk.assert.match(await input(page, 'Clause').inputValue(), /Print Works/));
  await saved(page);
  const { tags } = (await work.drafts())[0];
  const cells = tags.filter((tag) => tag.row !== null).map((tag) => [tag.field, tag.row, tag.value.amount ?? tag.value]);
  walk.assert.deepEqual(cells, [
    ['lines.name', 0, 'Paper'],
    ['lines.amount', 0, '100.00'],
    ['lines.name', 1, 'Ink'],
    ['lines.amount', 1, '26.00'],
  ]);
  const stamp = tags.find((tag) => tag.field === 'stamp');
  walk.assert.equal(stamp.evidence[0].box.length, 4);
  walk.assert.equal(tags.find((tag) => tag.field === 'clause').value, 'Print Works\nInvoice BPW-0613\nDate');
}

export async function a_rejected_set_comes_back_with_its_reason_and_comments(walk) {
  const work = await prepare(walk);
  const values = { supplier: 'Brackenhill', number: '17', date: '2026-01-30', total: '512.40 EUR' };
  const set = await submit(walk, work.session, work.id, values);
  const page = await walk.page(`/review/${set.id}`, { as: work.session });
  await page.locator('[data-page="1"] img').waitFor();
  await page.keyboard.press('c');
  const drawer = page.getByRole('dialog', { name: 'Comments' });
  await drawer.getByRole('textbox').fill('Look at the number again, @Ol');
  await drawer.getByRole('option', { name: 'Olga Owner' }).click();
  await page.keyboard.press('Control+Enter');
  await drawer.getByText('Look at the number again, @Olga Owner').waitFor();
  await page.keyboard.press('Escape');
  await drawer.waitFor({ state: 'detached' });
  await page.keyboard.press('j');
  const dialog = page.getByRole('dialog', { name: 'Reject the labels' });
  await dialog.getByLabel('Reason').fill('The number is wrong.');
  await dialog.getByRole('button', { name: 'Reject', exact: true }).click();
  await page.getByRole('heading', { name: 'Nothing to review' }).waitFor();

  await page.goto(page.url().replace('/review/next', '/label'));
  await page.getByText('The number is wrong.').waitFor();
  walk.assert.equal(await input(page, 'Invoice number').inputValue(), '17');
}
