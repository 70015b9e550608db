// What fails stands where it failed: the rest of the page stays, and so does what was typed.
import { input, open, prepare, saved, submit } from '../steps/labeling.mjs';

const VALUES = { supplier: 'Brackenhill', number: '17', date: '2026-01-30', total: '512.40 EUR' };
const refuse = (route, status = 429) =>
  route.fulfill({
    status,
    contentType: 'application/json',
    body: JSON.stringify({ error: { code: 'rate_limited', message: 'Too many requests.' } }),
  });

// Lets the page read again what is old, as when the window gets the focus.
async function focusLater(page) {
  await page.clock.install();
  await page.clock.fastForward(600_000);
  await page.evaluate(() => window.dispatchEvent(new Event('visibilitychange')));
}

// Changes answers of the service, as a newer or broken one would.
async function spoil(page, pattern, change) {
  await page.route(pattern, async (route) => {
    if (route.request().method() !== 'GET') return route.fallback();
    const response = await route.fetch();
    const json = await response.json();
    change(json.data);
    return route.fulfill({ response, json });
  });
}

export async function a_comment_that_cannot_be_shown_leaves_the_form(walk) {
  const work = await prepare(walk);
  const page = await open(walk, work);
  await input(page, 'Invoice number').fill('17');
  await saved(page);
  const [draft] = await work.drafts();
  for (const body of ['Broken', 'Whole']) await work.call('POST', `/tag-sets/${draft.id}/comments`, { body });
  await spoil(page, '**/comments*', (comments) => {
    for (const one of comments) if (one.body === 'Broken') one.author = null;
  });
  await page.reload();
  await input(page, 'Supplier').fill('Brackenhill');
  await page.keyboard.press('F4');
  const drawer = page.getByRole('dialog', { name: 'Comments' });
  await drawer.getByText('This part of the page cannot be shown.').waitFor();
  await drawer.getByText('Whole', { exact: true }).waitFor();
  walk.assertFailed('TypeError');
  await page.keyboard.press('Escape');
  await input(page, 'Total').fill('5 EUR');
  await saved(page);
  const values = (await work.drafts())[0].tags.map((tag) => tag.value.amount ?? tag.value).sort();
  walk.assert.deepEqual(values, ['17', '5.00', 'Brackenhill']);
}

export async function a_page_that_cannot_be_shown_leaves_the_navigation(walk) {
  const work = await prepare(walk);
  const page = await walk.page('/', { as: work.session });
  await spoil(page, `**/artifacts/${work.id}`, (artifact) => {
    artifact.metadata = null;
  });
  await page.getByRole('navigation', { name: 'Main' }).getByRole('link', { name: 'Documents' }).click();
  await page.getByRole('link', { name: 'invoice.txt' }).click();
  await page.getByRole('main').getByRole('alert').waitFor();
  walk.assertFailed('TypeError');
  await page.getByRole('navigation', { name: 'Main' }).getByRole('link', { name: 'Review' }).click();
  await page.getByRole('heading', { name: 'Review' }).waitFor();
}

export async function a_review_stays_open_while_the_service_does_not_answer(walk) {
  const work = await prepare(walk);
  const mia = await walk.member(work.session, 'labeler');
  const set = await submit(walk, mia, work.id, VALUES);
  const page = await walk.page(`/review/${set.id}`, { as: work.session });
  await page.locator('[data-page="1"] img').waitFor();
  await page.keyboard.press('j');
  const dialog = page.getByRole('dialog', { name: 'Reject the labels' });
  await dialog.getByLabel('Reason').fill('The number is not that of');
  await page.route(`**/artifacts/${work.id}`, (route) => refuse(route));
  const refused = page.waitForResponse((answer) => answer.url().endsWith(`/artifacts/${work.id}`));
  await focusLater(page);
  await refused;
  await page.getByRole('banner').waitFor();
  walk.assert.equal(await dialog.getByLabel('Reason').inputValue(), 'The number is not that of');
}

export async function a_draft_that_cannot_be_discarded_is_saved(walk) {
  const work = await prepare(walk);
  const page = await open(walk, work);
  await page.route('**/tag-sets/*', (route) => (route.request().method() === 'DELETE' ? refuse(route) : route.fallback()));
  await input(page, 'Invoice number').fill('17');
  await page.keyboard.press('Escape');
  await page.keyboard.press('Shift+D');
  const dialog = page.getByRole('dialog');
  await dialog.getByRole('button', { name: 'Discard', exact: false }).last().click();
  await dialog.getByText('Too many requests.').waitFor();
  await dialog.getByRole('button', { name: 'Cancel' }).click();
  await saved(page);
  walk.assert.deepEqual((await work.drafts())[0].tags.map((tag) => tag.value), ['17']);
}

export async function alerts_of_a_connector_that_cannot_be_read_are_not_hidden(walk) {
  const owner = await walk.organization();
  const settings = { host: '127.0.0.1', port: 2, username: 'labels', password: 'x', host_key: `SHA256:${'A'.repeat(43)}` };
  const { id } = await walk.call(owner, 'POST', '/connectors', { name: 'Scans', type: 'sftp', settings });
  const page = await walk.page('/connectors', { as: owner });
  await spoil(page, `**/connectors/${id}`, (connector) => {
    connector.open_alert_count = 1;
  });
  await page.route('**/alerts*', (route) => refuse(route));
  await page.getByRole('link', { name: 'Scans' }).click();
  const alert = page.getByRole('alert').filter({ hasText: 'Too many requests.' });
  await alert.waitFor();
  await page.unroute('**/alerts*');
  await alert.getByRole('button', { name: 'Try again' }).click();
  await alert.waitFor({ state: 'detached' });
}

export async function a_document_without_tag_sets_has_nothing_to_merge(walk) {
  const work = await prepare(walk);
  const page = await walk.page(`/review/merge/${work.id}`, { as: work.session });
  await page.getByText('There are no two submitted tag sets', { exact: false }).waitFor();
}

export async function lists_say_whether_they_are_empty_or_filtered(walk) {
  const owner = await walk.organization();
  const { id } = await walk.call(owner, 'POST', '/schemas', { name: 'Notes', fields: [{ key: 'number', type: 'text' }] });
  const page = await walk.page('/drift', { as: owner });
  const filtered = page.getByText('Nothing matches the filters.');
  for (const [path, nothing] of [
    ['/drift', 'No drift'],
    ['/billing/invoices', 'No invoices'],
    ['/review', 'Nothing waits for review.'],
    ['/quality/disagreements', 'No disagreements'],
  ]) {
    const filter = { '/billing/invoices': 'status=paid', '/review': 'flag=resubmitted', '/drift': 'status=open' }[path];
    const root = `${walk.base}/o/${owner.organizations[0].slug}${path}`;
    await page.goto(root);
    await page.getByText(nothing).first().waitFor();
    walk.assert.equal(await filtered.count(), 0, path);
    await page.goto(`${root}?${filter ?? `schema_id=${id}`}`);
    await filtered.first().waitFor();
    walk.assert.equal(await page.getByText(nothing).count(), 0, path);
  }
}

export async function what_is_not_loaded_yet_does_not_end_the_labeling_without_a_network(walk) {
  const work = await prepare(walk);
  const page = await open(walk, work);
  await input(page, 'Invoice number').fill('17');
  await saved(page);
  const [draft] = await work.drafts();
  await work.call('POST', `/tag-sets/${draft.id}/comments`, { body: 'Is that all?' });
  await page.reload();
  await page.getByRole('button', { name: /Invoice number/ }).first().waitFor();
  await page.waitForLoadState('networkidle');
  await page.context().setOffline(true);
  await page.keyboard.press('F4');
  await page.getByText('This part of the page cannot be shown.').waitFor();
  walk.assertFailed('dynamically imported module');
  await page.keyboard.press('Escape');
  await input(page, 'Supplier').fill('Brackenhill');
  await page.context().setOffline(false);
  await saved(page);
  const values = (await work.drafts())[0].tags.map((tag) => tag.value).sort();
  walk.assert.deepEqual(values, ['17', 'Brackenhill']);
}

// The service has done it, but its answer is lost once.
async function loseAnswer(page, pattern) {
  let isLost = false;
  await page.route(pattern, async (route) => {
    if (route.request().method() !== 'POST' || isLost) return route.fallback();
    isLost = true;
    await route.fetch();
    return route.abort();
  });
}

export async function what_is_sent_again_after_a_lost_answer_is_done_once(walk) {
  const work = await prepare(walk);
  const page = await open(walk, work);
  await page.keyboard.press('F4');
  const drawer = page.getByRole('dialog', { name: 'Comments' });
  await loseAnswer(page, '**/comments*');
  await drawer.getByRole('textbox').fill('Only once.');
  await page.keyboard.press('Control+Enter');
  await drawer.getByText('The service cannot be reached.', { exact: false }).waitFor();
  await page.keyboard.press('Control+Enter');
  await drawer.locator('section', { hasText: 'Only once.' }).waitFor();
  const [draft] = await work.drafts();
  walk.assert.equal((await work.call('GET', `/tag-sets/${draft.id}/comments`)).length, 1);
  const rules = await walk.page('/routing/new', { as: work.session });
  await loseAnswer(rules, '**/routing-rules');
  await rules.getByRole('textbox', { name: 'Name', exact: true }).fill('Only once');
  await rules.getByRole('textbox', { name: 'Value' }).fill('a');
  await rules.getByRole('textbox', { name: /^Priority/ }).fill('90');
  await rules.getByRole('button', { name: 'Save' }).click();
  await rules.getByText('The service cannot be reached.', { exact: false }).waitFor();
  await rules.getByRole('button', { name: 'Save' }).click();
  await rules.getByRole('link', { name: 'Only once' }).waitFor();
  walk.assert.equal((await work.call('GET', '/routing-rules')).length, 1);
}

export async function what_was_given_up_without_a_network_is_not_done_later(walk) {
  const work = await prepare(walk);
  const page = await open(walk, work);
  await input(page, 'Invoice number').fill('17');
  await saved(page);
  await page.context().setOffline(true);
  await page.keyboard.press('Escape');
  await page.keyboard.press('Shift+D');
  const dialog = page.getByRole('dialog');
  await dialog.getByRole('button', { name: 'Discard', exact: false }).last().click();
  await dialog.getByText('The service cannot be reached.', { exact: false }).waitFor();
  await dialog.getByRole('button', { name: 'Cancel' }).click();
  await input(page, 'Supplier').fill('Brackenhill');
  await page.locator('[data-save-state=offline]').waitFor();
  await page.context().setOffline(false);
  await saved(page);
  const values = (await work.drafts())[0].tags.map((tag) => tag.value).sort();
  walk.assert.deepEqual(values, ['17', 'Brackenhill']);
}

// The service carries out the next request with this method, and its answer is lost.
async function lose(page, path, method = 'POST') {
  let isLost = false;
  await page.route(path, async (route) => {
    if (isLost || route.request().method() !== method) return route.fallback();
    isLost = true;
    await route.fetch();
    return route.abort();
  });
}

export async function decisions_whose_answer_was_lost_are_made_once_and_are_no_error(walk) {
  const work = await prepare(walk);
  const page = await open(walk, work);
  const labels = { Supplier: 'Brackenhill', 'Invoice number': '17', 'Invoice date': '2026-01-30', Total: '5 EUR' };
  for (const [label, value] of Object.entries(labels)) await input(page, label).fill(value);
  await saved(page);
  await lose(page, '**/submit');
  await page.keyboard.press('Control+Enter');
  await page.getByRole('main').getByRole('alert').waitFor();
  await page.keyboard.press('Control+Enter');
  await page.getByRole('heading', { name: 'Nothing to label' }).waitFor();
  const [set] = await work.drafts();
  walk.assert.equal(set.status, 'submitted');
  await page.goto(`${walk.base}/o/${work.session.organizations[0].slug}/review/${set.id}`);
  await page.locator('[data-page="1"] img').waitFor();
  await lose(page, '**/accept');
  await page.keyboard.press('Control+Enter');
  await page.getByRole('main').getByRole('alert').waitFor();
  await page.keyboard.press('Control+Enter');
  await page.getByText('invoice.txt was accepted.').waitFor();
}

export async function a_document_is_left_although_the_answer_was_lost(walk) {
  const work = await prepare(walk);
  const page = await open(walk, work);
  const repeat = async (title, button) => {
    const dialog = page.getByRole('dialog', { name: title });
    await dialog.getByRole('button', { name: button, exact: true }).click();
    await dialog.getByRole('alert').waitFor();
    await dialog.getByRole('button', { name: button, exact: true }).click();
    await dialog.waitFor({ state: 'detached' });
  };
  const [draft] = await work.drafts();
  await lose(page, '**/tag-sets/*', 'DELETE');
  await page.keyboard.press('Escape');
  await page.keyboard.press('Shift+D');
  await repeat('Discard the draft', 'Discard');
  // It is the next document again, with another draft.
  await page.getByRole('form', { name: 'Fields' }).waitFor();
  await walk.until(async () => walk.assert.notEqual((await work.drafts())[0].id, draft.id));
  await lose(page, '**/release');
  await page.getByRole('button', { name: 'Skip', exact: true }).click();
  await page.getByRole('dialog').getByLabel('Reason').fill('It cannot be read.');
  await repeat('Skip the document', 'Skip');
  await page.getByRole('heading', { name: 'Nothing to label' }).waitFor();
}
