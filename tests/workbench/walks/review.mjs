// Reviewers decide about tag sets: merge, escalate, correct, reopen, and look at what was sent again.
import { field, FIELDS, input, prepare, submit, valuesOf } from '../steps/labeling.mjs';

const LINES = field('lines', 'Lines', 'table', {
  required: false,
  columns: [field('name', 'Name', 'text'), field('amount', 'Amount', 'money')],
});
const VALUES = { supplier: 'Brackenhill', number: '17', date: '2026-01-30', total: '512.40 EUR' };

async function review(walk, session, id) {
  const page = await walk.page(`/review/${id}`, { as: session });
  await page.locator('[data-page="1"] img').waitFor();
  return page;
}

export async function several_tag_sets_are_merged_value_by_value(walk) {
  const work = await prepare(walk, { fields: [...FIELDS, LINES], policy: { labels_per_artifact: 2 } });
  const [mia, ben] = await Promise.all([
    walk.member(work.session, 'labeler', 'Mia Member'),
    walk.member(work.session, 'labeler', 'Ben Brown'),
  ]);
  const rows = { 'lines.name#0': 'Paper', 'lines.amount#0': '100.00 EUR', 'lines.name#1': 'Ink' };
  await submit(walk, mia, work.id, { ...VALUES, ...rows, 'lines.amount#1': '26.00 EUR' });
  const set = await submit(walk, ben, work.id, { ...VALUES, ...rows, number: '71', 'lines.amount#1': '62.00 EUR' });
  const page = await review(walk, work.session, set.id);
  await page.getByText('2 fields differ').waitFor();
  await page.keyboard.press('m');
  await page.getByText('2 values to decide').waitFor();
  await walk.checkAccessibility(page);
  const merge = page.getByRole('button', { name: 'Merge and accept' });
  walk.assert.equal(await merge.isEnabled(), false);
  const number = page.getByRole('radiogroup', { name: 'Invoice number' });
  await number.getByRole('radio', { name: /^71/ }).check();
  walk.assert.equal(await input(page, 'Invoice number').inputValue(), '71');
  await page.getByRole('radiogroup', { name: 'Row 2, Amount' }).getByRole('radio', { name: /26/ }).check();
  await page.getByText('All values are decided').waitFor();
  // What was chosen is not lost unasked.
  await page.getByRole('button', { name: 'Cancel' }).click();
  await page.getByRole('dialog').getByRole('button', { name: 'Cancel' }).click();
  await merge.click();
  await page.getByRole('heading', { name: 'Nothing to review' }).waitFor();
  const accepted = await work.call('GET', `/tag-sets?artifact_id=${work.id}&status=accepted`);
  const merged = accepted.find((one) => one.source === 'merge');
  walk.assert.deepEqual(valuesOf(merged), {
    ...VALUES,
    ...rows,
    number: '71',
    total: '512.40',
    'lines.amount#0': '100.00',
    'lines.amount#1': '26.00',
  });
}

export async function a_merge_is_sent_once_however_often_its_key_is_pressed(walk) {
  const work = await prepare(walk, { policy: { labels_per_artifact: 2 } });
  for (const name of ['Mia Member', 'Ben Brown'])
    await submit(walk, await walk.member(work.session, 'labeler', name), work.id, VALUES);
  const page = await walk.page(`/review/merge/${work.id}`, { as: work.session });
  await page.getByText('All values are decided').waitFor();
  const sent = [];
  const { promise: answered, resolve: answer } = Promise.withResolvers();
  await page.route('**/tag-sets/merge', async (route) => {
    sent.push(route.request().postData());
    await answered;
    await route.continue();
  });
  const first = page.waitForRequest('**/tag-sets/merge');
  await page.keyboard.press('a');
  await first;
  for (const key of ['a', 'Control+Enter', 'a']) await page.keyboard.press(key);
  answer();
  await page.getByRole('heading', { name: 'Nothing to review' }).waitFor();
  const merged = await work.call('GET', `/tag-sets?artifact_id=${work.id}&status=accepted`);
  walk.assert.deepEqual([sent.length, merged.filter((one) => one.source === 'merge').length], [1, 1]);
}

export async function an_item_is_escalated_and_accepted_with_corrections_and_reopened(walk) {
  const work = await prepare(walk);
  const [mia, rita] = await Promise.all([
    walk.member(work.session, 'labeler'),
    walk.member(work.session, 'reviewer', 'Rita Reviewer'),
  ]);
  const set = await submit(walk, mia, work.id, VALUES);
  const page = await review(walk, work.session, set.id);
  await page.keyboard.press('e');
  const dialog = page.getByRole('dialog', { name: 'Escalate' });
  await dialog.getByRole('combobox', { name: 'Who decides' }).click();
  await page.getByRole('option', { name: 'Rita Reviewer' }).click();
  await dialog.getByLabel('Reason').fill('Is this the number?');
  await walk.checkAccessibility(page);
  await dialog.getByRole('button', { name: 'Escalate', exact: true }).click();
  await page.getByText('invoice.txt was escalated.').waitFor();

  const hers = await walk.page('/review/next', { as: rita });
  await hers.getByText('Is this the number?').waitFor();
  await input(hers, 'Invoice number').fill('BPW-0613');
  await hers.getByRole('button', { name: 'Accept with corrections' }).waitFor();
  // Corrections that were not sent survive a reload.
  await hers.reload();
  await hers.getByRole('button', { name: 'Accept with corrections' }).waitFor();
  await input(hers, 'Invoice date').fill('some day');
  await hers.keyboard.press('Control+Enter');
  await hers.getByText('is not a date').waitFor();
  await input(hers, 'Invoice date').fill('30 January 2026');
  await hers.keyboard.press('Control+Enter');
  await hers.getByText('invoice.txt was accepted.').waitFor();
  const accepted = await work.call('GET', `/tag-sets/${set.id}`);
  walk.assert.deepEqual(valuesOf(accepted), { ...VALUES, number: 'BPW-0613', total: '512.40' });

  const again = await review(walk, rita, set.id);
  await again.getByText('Decided by Rita Reviewer.').waitFor();
  await again.getByRole('button', { name: 'Reopen' }).click();
  const reopen = again.getByRole('dialog', { name: 'Reopen' });
  await reopen.getByLabel('Reason').fill('The date is wrong, too.');
  await reopen.getByRole('button', { name: 'Reopen', exact: true }).click();
  await again.getByRole('button', { name: 'Accept', exact: true }).waitFor();
  await again.getByText('Resubmitted').waitFor();
  walk.assert.equal((await work.call('GET', `/tag-sets/${set.id}`)).status, 'submitted');
}

export async function what_changed_since_a_rejection_is_shown(walk) {
  const work = await prepare(walk, { guidelines: 'Take the **full** name. [Wiki](https://wiki.example)' });
  const mia = await walk.member(work.session, 'labeler');
  const set = await submit(walk, mia, work.id, VALUES);
  const body = { reason: 'The number is wrong.', send_to: 'labeler' };
  await work.call('POST', `/tag-sets/${set.id}/reject`, body);
  const draft = await walk.call(mia, 'GET', `/tag-sets/${set.id}`);
  const tags = draft.tags.map((tag) => (tag.field === 'number' ? { ...tag, value: '0613' } : tag));
  await walk.call(mia, 'PUT', `/tag-sets/${set.id}/tags`, { tags, revision: draft.revision });
  await walk.call(mia, 'POST', `/tag-sets/${set.id}/submit`);
  const page = await review(walk, work.session, set.id);
  await page.getByText('Olga Owner rejected this tag set').waitFor();
  await page.getByText('The number is wrong.').waitFor();
  await page.getByText('changed since: Invoice number').waitFor();
  await page.getByText('1 field differs').waitFor();
  await walk.checkAccessibility(page);
  await page.keyboard.press('g');
  const guidelines = page.getByRole('dialog', { name: 'Guidelines' });
  await guidelines.locator('strong', { hasText: 'full' }).waitFor();
  const link = guidelines.getByRole('link', { name: 'Wiki' });
  walk.assert.equal(await link.getAttribute('target'), '_blank');
  await page.keyboard.press('Escape');
  await page.getByRole('button', { name: 'Take the value of Before for Invoice number' }).click();
  walk.assert.equal(await input(page, 'Invoice number').inputValue(), '17');
  await page.getByText('No differences').waitFor();
}

export async function a_page_of_the_queue_that_became_empty_leads_to_the_first(walk) {
  const work = await prepare(walk);
  const [{ id: schema_id }] = await work.call('GET', '/schemas');
  const second = await work.call('POST', '/artifacts', { name: 'two.txt', text: 'Another invoice', schema_id });
  await walk.until(async () => walk.assert.equal((await work.call('GET', `/artifacts/${second.id}`)).status, 'ready'));
  const mia = await walk.member(work.session, 'labeler');
  for (const id of [work.id, second.id]) await submit(walk, mia, id, VALUES);
  const headers = {
    Authorization: `Bearer ${work.session.access_token}`,
    'X-Org-Slug': work.session.organizations[0].slug,
  };
  const answer = await fetch(`${walk.base}/api/v1/review-queue?page_size=1`, { headers });
  const { next_cursor: cursor } = (await answer.json()).meta;
  const page = await walk.page(`/review?cursor=${encodeURIComponent(cursor)}`, { as: work.session });
  const last = page.getByRole('link', { name: 'two.txt' });
  await last.waitFor();
  const [, item] = await work.call('GET', '/review-queue');
  await work.call('POST', `/tag-sets/${item.id}/accept`, { revision: item.tag_set.revision });
  await page.reload();
  await last.waitFor({ state: 'detached' });
  await page.getByRole('button', { name: 'First page' }).click();
  await page.getByRole('link', { name: 'invoice.txt' }).waitFor();
}
