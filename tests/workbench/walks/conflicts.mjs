// Somebody else changes what is being edited: nothing is overwritten unasked, and nothing is lost.
import { input, open, prepare, saved, submit } from '../steps/labeling.mjs';

const HOST_KEY = `SHA256:${'A'.repeat(43)}`;
const TITLE = 'Somebody else has changed this meanwhile';

const press = (page, name) => page.getByRole('button', { name, exact: true }).click();
const isAsked = (page) => page.getByText(TITLE).waitFor();
const isAnswered = (page) => page.getByText(TITLE).waitFor({ state: 'detached' });

export async function a_connector_that_somebody_else_changed_gets_mine(walk) {
  const owner = await walk.organization();
  const settings = { host: '127.0.0.1', port: 2, username: 'labels', password: 'secret', host_key: HOST_KEY };
  const { id } = await walk.call(owner, 'POST', '/connectors', { name: 'Scans', type: 'sftp', settings });
  const page = await walk.page(`/connectors/${id}/edit`, { as: owner });
  const name = page.getByRole('textbox', { name: /^Name/ });
  await name.fill('Mine');
  await walk.call(owner, 'PATCH', `/connectors/${id}`, { name: 'Theirs', include: ['*.pdf'] });
  await press(page, 'Save');
  await isAsked(page);
  await walk.checkAccessibility(page);
  walk.assert.equal((await walk.call(owner, 'GET', `/connectors/${id}`)).name, 'Theirs');
  await press(page, 'Save mine');
  await page.getByRole('heading', { name: 'Mine' }).waitFor();
  walk.assert.equal((await walk.call(owner, 'GET', `/connectors/${id}`)).name, 'Mine');
}

export async function settings_that_somebody_else_changed_replace_mine(walk) {
  const owner = await walk.organization('Ours');
  const path = `/organizations/${owner.organizations[0].slug}`;
  const page = await walk.page('/settings', { as: owner });
  const minutes = page.getByLabel('A claim lasts');
  await minutes.fill('45');
  await walk.call(owner, 'PATCH', path, { name: 'Theirs' });
  await press(page, 'Save changes');
  await isAsked(page);
  await press(page, 'Discard mine');
  await isAnswered(page);
  const name = page.getByRole('textbox', { name: 'Name', exact: true });
  walk.assert.deepEqual([await name.inputValue(), await minutes.inputValue()], ['Theirs', '30 minutes']);
  // The form goes on from there.
  await minutes.fill('50');
  await press(page, 'Save changes');
  await page.getByText('The settings were saved.').waitFor();
  const { name: kept, settings } = await walk.call(owner, 'GET', path);
  walk.assert.deepEqual([kept, settings.claim_minutes], ['Theirs', 50]);
}

export async function a_rule_is_read_again_or_saved_over_what_somebody_else_did(walk) {
  const owner = await walk.organization();
  const rule = await walk.call(owner, 'POST', '/routing-rules', { name: 'First', action: { priority: 60 } });
  const change = (name) => walk.call(owner, 'PATCH', `/routing-rules/${rule.id}`, { name });
  const page = await walk.page(`/routing/${rule.id}`, { as: owner });
  const name = page.getByRole('textbox', { name: 'Name', exact: true });
  const priority = page.getByRole('textbox', { name: /^Priority/ });
  await name.fill('Mine');
  await change('Theirs');
  await press(page, 'Save');
  await isAsked(page);
  await press(page, 'Discard mine');
  await walk.until(async () => walk.assert.equal(await name.inputValue(), 'Theirs'));
  await isAnswered(page);
  await priority.fill('70');
  await change('Theirs again');
  await press(page, 'Save');
  await isAsked(page);
  await press(page, 'Save mine');
  await page.getByRole('link', { name: 'Theirs', exact: true }).waitFor();
  const saved = await walk.call(owner, 'GET', `/routing-rules/${rule.id}`);
  walk.assert.deepEqual([saved.name, saved.action.priority], ['Theirs', 70]);
}

export async function an_assignment_does_not_take_back_that_of_somebody_else(walk) {
  const work = await prepare(walk);
  const [mia, ben] = await Promise.all([
    walk.member(work.session, 'labeler', 'Mia Member'),
    walk.member(work.session, 'labeler', 'Ben Brown'),
  ]);
  const page = await walk.page(`/documents/${work.id}`, { as: work.session });
  await press(page, 'Assign');
  const dialog = page.getByRole('dialog', { name: 'Assign the document' });
  await dialog.getByRole('combobox', { name: 'Members' }).click();
  await page.getByRole('option', { name: 'Mia Member' }).click();
  await page.keyboard.press('Tab');
  const theirs = { user_ids: [ben.user.id], due_at: '2030-01-01T00:00:00Z' };
  await work.call('POST', `/artifacts/${work.id}/assign`, theirs);
  // The page learns of it while the dialog is open.
  const read = page.waitForResponse((answer) => answer.url().endsWith(`/artifacts/${work.id}`));
  await page.clock.install();
  await page.clock.fastForward(60_000);
  await page.evaluate(() => window.dispatchEvent(new Event('visibilitychange')));
  await read;
  await dialog.getByRole('button', { name: 'Assign', exact: true }).click();
  await isAsked(page);
  const before = await work.call('GET', `/artifacts/${work.id}`);
  walk.assert.deepEqual([before.assignees.map((one) => one.user_id), before.due_at !== null], [[ben.user.id], true]);
  await press(page, 'Save mine');
  await dialog.waitFor({ state: 'detached' });
  const after = await work.call('GET', `/artifacts/${work.id}`);
  walk.assert.deepEqual([after.assignees.map((one) => one.user_id), after.due_at !== null], [[mia.user.id], true]);
}

export async function a_draft_that_another_tab_saved_is_shown_and_then_submitted(walk) {
  const work = await prepare(walk);
  const page = await open(walk, work);
  for (const [label, value] of [
    ['Supplier', 'Brackenhill'],
    ['Invoice number', '17'],
    ['Invoice date', '2026-01-30'],
    ['Total', '512.40 EUR'],
  ])
    await input(page, label).fill(value);
  await saved(page);
  const [draft] = await work.drafts();
  const tags = draft.tags.map((tag) => (tag.field === 'number' ? { ...tag, value: '18' } : tag));
  await work.call('PUT', `/tag-sets/${draft.id}/tags`, { tags, revision: draft.revision });
  await page.keyboard.press('Control+Enter');
  await page.getByRole('alert').waitFor();
  await walk.until(async () => walk.assert.equal(await input(page, 'Invoice number').inputValue(), '18'));
  await page.keyboard.press('Control+Enter');
  await page.getByRole('heading', { name: 'Nothing to label' }).waitFor();
  const [set] = await work.drafts();
  walk.assert.deepEqual([set.status, set.tags.find((tag) => tag.field === 'number').value], ['submitted', '18']);
}

export async function what_is_old_is_read_again_before_it_is_deleted(walk) {
  const owner = await walk.organization();
  const { id } = await walk.call(owner, 'POST', '/teams', { name: 'Scans' });
  const page = await walk.page(`/teams/${id}`, { as: owner });
  await press(page, 'Delete');
  const dialog = page.getByRole('dialog');
  await walk.call(owner, 'PATCH', `/teams/${id}`, { name: 'Letters' });
  await dialog.getByRole('button', { name: 'Delete', exact: true }).click();
  await dialog.getByRole('alert').waitFor();
  await page.getByRole('heading', { name: 'Letters', level: 1 }).waitFor();
  await dialog.getByRole('button', { name: 'Delete', exact: true }).click();
  await page.getByText('The team Letters was deleted.').waitFor();
}

export async function a_role_that_somebody_else_changed_is_not_overwritten_unasked(walk) {
  const owner = await walk.organization();
  const { user } = await walk.member(owner, 'labeler', 'Mia Member');
  const path = `/organizations/${owner.organizations[0].slug}/members`;
  const page = await walk.page('/members', { as: owner });
  await page.getByRole('button', { name: 'Actions for Mia Member' }).click();
  await page.getByRole('menuitem', { name: 'Change role' }).click();
  const dialog = page.getByRole('dialog', { name: 'Role of Mia Member' });
  await dialog.getByRole('radio', { name: 'Reviewer' }).check();
  await walk.call(owner, 'PATCH', `${path}/${user.id}`, { role: 'admin' });
  await dialog.getByRole('button', { name: 'Change role' }).click();
  await isAsked(page);
  await press(page, 'Discard mine');
  await walk.until(async () =>
    walk.assert.ok(await dialog.getByRole('radio', { name: 'Administrator' }).isChecked()),
  );
}

export async function a_rejection_keeps_its_reason_when_the_labels_changed(walk) {
  const work = await prepare(walk);
  const mia = await walk.member(work.session, 'labeler');
  const values = { supplier: 'Brackenhill', number: '17', date: '2026-01-30', total: '512.40 EUR' };
  const set = await submit(walk, mia, work.id, values);
  const page = await walk.page(`/review/${set.id}`, { as: work.session });
  await page.locator('[data-page="1"] img').waitFor();
  await page.keyboard.press('j');
  const dialog = page.getByRole('dialog', { name: 'Reject the labels' });
  await dialog.getByLabel('Reason').fill('The number is wrong.');
  // Meanwhile it was sent back and submitted again.
  await work.call('POST', `/tag-sets/${set.id}/reject`, { reason: 'Look again.', send_to: 'labeler' });
  const draft = await walk.call(mia, 'GET', `/tag-sets/${set.id}`);
  const tags = draft.tags.map((tag) => (tag.field === 'number' ? { ...tag, value: '18' } : tag));
  await walk.call(mia, 'PUT', `/tag-sets/${set.id}/tags`, { tags, revision: draft.revision });
  await walk.call(mia, 'POST', `/tag-sets/${set.id}/submit`);
  await dialog.getByRole('button', { name: 'Reject', exact: true }).click();
  const comparison = page.getByRole('dialog', { name: 'This document was changed elsewhere' });
  await comparison.getByText('18', { exact: true }).waitFor();
  await comparison.getByRole('button', { name: 'Apply' }).click();
  walk.assert.equal(await dialog.getByLabel('Reason').inputValue(), 'The number is wrong.');
  await dialog.getByRole('button', { name: 'Reject', exact: true }).click();
  await page.getByRole('heading', { name: 'Nothing to review' }).waitFor();
  walk.assert.equal((await work.call('GET', `/tag-sets/${set.id}`)).reason, 'The number is wrong.');
}

export async function what_is_typed_while_a_form_is_saved_stays_and_is_saved_next(walk) {
  const owner = await walk.organization('Ours');
  const path = `/organizations/${owner.organizations[0].slug}`;
  const page = await walk.page('/settings', { as: owner });
  const name = page.getByRole('textbox', { name: 'Name', exact: true });
  const { promise: allowed, resolve: allow } = Promise.withResolvers();
  await page.route(`**${path}`, async (route) => {
    if (route.request().method() === 'PATCH') await allowed;
    await route.fallback();
  });
  await page.getByLabel('A claim lasts').fill('45');
  await press(page, 'Save changes');
  await name.fill('Later');
  const read = page.waitForResponse((answer) => answer.url().endsWith(path) && answer.request().method() === 'GET');
  allow();
  await page.getByText('The settings were saved.').waitFor();
  await read;
  walk.assert.equal(await name.inputValue(), 'Later');
  await press(page, 'Save changes');
  await walk.until(async () => {
    const { name: saved, settings } = await walk.call(owner, 'GET', path);
    walk.assert.deepEqual([saved, settings.claim_minutes], ['Later', 45]);
  });
  walk.assert.equal(await page.getByText(TITLE).count(), 0);
}

export async function preferences_are_saved_twice_in_a_row(walk) {
  const owner = await walk.organization();
  const page = await walk.page('/notification-preferences', { as: owner });
  const read = async () => (await walk.call(owner, 'GET', '/notifications/delivery-preferences')).email_frequency;
  for (const [label, frequency] of [
    [/hour/i, 'hourly'],
    [/day/i, 'daily'],
  ]) {
    await page.getByRole('radio', { name: label }).first().check();
    await press(page, 'Save');
    await walk.until(async () => walk.assert.equal(await read(), frequency));
  }
}
