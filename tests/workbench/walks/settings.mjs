// Settings of the organization, the role of a member, the plan and the billing profile.

const slugOf = (owner) => owner.organizations[0].slug;

export async function settings_are_saved_and_less_retention_is_confirmed(walk) {
  const owner = await walk.organization('Before');
  const read = () => walk.call(owner, 'GET', `/organizations/${slugOf(owner)}`);
  const page = await walk.page('/settings', { as: owner });
  const save = page.getByRole('button', { name: 'Save changes' });
  await page.getByLabel('Name', { exact: false }).first().fill('After');
  await page.getByRole('combobox', { name: /^Time zone/ }).fill('Berlin');
  await page.getByRole('option', { name: /Berlin/ }).click();
  await page.getByLabel('A claim lasts').fill('45');
  await page.getByLabel('Reviewers may review what they labeled themselves').check({ force: true });
  await save.click();
  await page.getByText('The settings were saved.').waitFor();
  await page.getByRole('banner').getByText('After').waitFor();
  const { name, settings } = await read();
  walk.assert.deepEqual(
    [name, settings.time_zone, settings.claim_minutes, settings.allow_self_review, settings.retention_days],
    ['After', 'Europe/Berlin', 45, true, null],
  );
  // Documents would be deleted: it is asked first.
  await page.getByRole('checkbox', { name: 'Keep documents forever' }).uncheck();
  await page.getByLabel('Delete documents after').fill('30');
  await save.click();
  const dialog = page.getByRole('dialog', { name: 'Delete older documents?' });
  await dialog.getByText('older than 30 days', { exact: false }).waitFor();
  await walk.checkAccessibility(page);
  await dialog.getByRole('button', { name: 'Cancel' }).click();
  walk.assert.equal((await read()).settings.retention_days, null);
  await save.click();
  await dialog.getByRole('button', { name: 'Save and delete' }).click();
  await walk.until(async () => walk.assert.equal((await read()).settings.retention_days, 30));
  // What the service refuses stands at its field.
  await page.getByRole('radio', { name: 'A server with the API of OpenAI' }).check();
  await page.getByLabel('Address of the server').fill('https://127.0.0.1/v1');
  await page.getByLabel('Name of the model').fill('small');
  await save.click();
  await page.getByLabel('Address of the server').and(page.locator('[aria-invalid=true]')).waitFor();
}

export async function settings_that_somebody_else_changed_are_not_overwritten(walk) {
  const owner = await walk.organization('Ours');
  const page = await walk.page('/settings', { as: owner });
  await page.getByLabel('A claim lasts').fill('45');
  await walk.call(owner, 'PATCH', `/organizations/${slugOf(owner)}`, { name: 'Theirs' });
  await page.getByRole('button', { name: 'Save changes' }).click();
  await page.getByRole('alert').waitFor();
  const { name, settings } = await walk.call(owner, 'GET', `/organizations/${slugOf(owner)}`);
  walk.assert.deepEqual([name, settings.claim_minutes], ['Theirs', 30]);
}

export async function the_role_of_a_member_is_changed(walk) {
  const owner = await walk.organization();
  const { user } = await walk.member(owner, 'labeler', 'Mia Member');
  const page = await walk.page('/members', { as: owner });
  await page.getByRole('button', { name: 'Actions for Mia Member' }).click();
  await page.getByRole('menuitem', { name: 'Change role' }).click();
  const dialog = page.getByRole('dialog', { name: 'Role of Mia Member' });
  await dialog.getByRole('radio', { name: 'Reviewer' }).check();
  await walk.checkAccessibility(page);
  await dialog.getByRole('button', { name: 'Change role' }).click();
  await page.getByText('Mia Member now has the role Reviewer.').waitFor();
  await page.getByRole('row', { name: /Mia Member/ }).getByText('Reviewer').waitFor();
  const members = await walk.call(owner, 'GET', `/organizations/${slugOf(owner)}/members`);
  walk.assert.equal(members.find((member) => member.user.id === user.id).role, 'reviewer');
  // The last owner cannot step down.
  await page.getByRole('button', { name: 'Actions for Olga Owner' }).click();
  await page.getByRole('menuitem', { name: 'Change role' }).click();
  const own = page.getByRole('dialog', { name: 'Role of Olga Owner' });
  await own.getByRole('radio', { name: 'Administrator' }).check();
  await own.getByRole('button', { name: 'Change role' }).click();
  await own.getByRole('alert').or(own.getByText(/owner/i)).first().waitFor();
  await own.getByRole('button', { name: 'Cancel' }).click();
}

export async function the_billing_profile_opens_the_way_to_a_plan(walk) {
  const owner = await walk.organization();
  const page = await walk.page('/billing', { as: owner });
  await page.getByRole('button', { name: 'Change plan' }).click();
  const dialog = page.getByRole('dialog', { name: 'Change plan' });
  await dialog.getByRole('radio', { name: 'Team' }).check();
  await walk.checkAccessibility(page);
  await dialog.getByRole('button', { name: 'Change plan' }).click();
  // An invoice needs an address.
  await dialog.getByText('Enter the billing profile first.').waitFor();
  await dialog.getByRole('link', { name: 'Go to the billing profile' }).click();
  await page.getByLabel('Name of the company or person').fill('Brackenhill GmbH');
  await page.getByLabel('Street, building, floor').fill('Hauptstraße 7\nHinterhaus');
  await page.getByLabel('Postal code').fill('10115');
  await page.getByLabel('City').fill('Berlin');
  await page.getByRole('combobox', { name: /^Country/ }).fill('German');
  await page.getByRole('option', { name: 'Germany' }).click();
  await page.getByLabel('Tax number').fill('DE1');
  await page.getByLabel('Email for invoices').fill('billing@example.com');
  await page.getByRole('button', { name: 'Save' }).click();
  await page.getByLabel('Tax number').and(page.locator('[aria-invalid=true]')).waitFor();
  await page.getByLabel('Tax number').fill('DE136695976');
  await page.getByRole('button', { name: 'Save' }).click();
  await page.getByText('The billing profile was saved.').waitFor();
  await page.getByRole('link', { name: 'Plan and usage' }).click();
  await page.getByRole('button', { name: 'Change plan' }).click();
  await dialog.getByRole('radio', { name: 'Team' }).check();
  await dialog.getByRole('button', { name: 'Change plan' }).click();
  await page.getByRole('heading', { name: 'Team plan' }).waitFor();
  // Back to the smaller plan at the end of the month, and then not after all.
  await page.getByRole('button', { name: 'Change plan' }).click();
  await dialog.getByRole('radio', { name: 'Free' }).check();
  await dialog.getByRole('radio', { name: 'At the end of the month' }).check();
  await dialog.getByRole('button', { name: 'Change plan' }).click();
  await page.getByText(/^Changes to Free on/).waitFor();
  await page.getByRole('button', { name: 'Keep Team' }).click();
  await page.getByText(/^Changes to Free on/).waitFor({ state: 'detached' });
  walk.assert.equal((await walk.call(owner, 'GET', '/billing/plan')).name, 'team');
}

export async function what_is_edited_does_not_change_when_the_window_gets_the_focus(walk) {
  const owner = await walk.organization();
  const { slug } = owner.organizations[0];
  const page = await walk.page('/workbench/icon.svg', { as: owner });
  await page.clock.install();
  await page.goto(`${walk.base}/o/${slug}/settings`);
  const name = page.getByRole('textbox', { name: 'Name', exact: true });
  await name.fill('Mine');
  await walk.call(owner, 'PATCH', `/organizations/${slug}`, { name: 'Theirs' });
  // The session is read again, too.
  const read = page.waitForResponse('**/api/v1/auth/session');
  await page.clock.fastForward(120_000);
  await page.evaluate(() => window.dispatchEvent(new Event('visibilitychange')));
  await read;
  await page.waitForLoadState('networkidle');
  walk.assert.equal(await name.inputValue(), 'Mine');
  await page.getByRole('button', { name: 'Save' }).click();
  await page.getByRole('alert').waitFor();
  walk.assert.equal((await walk.call(owner, 'GET', `/organizations/${slug}`)).name, 'Theirs');
}

export async function the_month_of_billing_is_that_of_utc_everywhere(walk) {
  const page = await walk.page('/workbench/icon.svg', { as: await walk.session('owner') });
  const devtools = await page.context().newCDPSession(page);
  await devtools.send('Emulation.setTimezoneOverride', { timezoneId: 'Pacific/Kiritimati' });
  const { period } = await walk.call('owner', 'GET', '/billing/usage');
  const format = new Intl.DateTimeFormat('en-US', { dateStyle: 'medium', timeZone: 'UTC' });
  const last = format.format(new Date(Date.parse(period.to) - 1));
  await page.goto(`${walk.base}/o/demo/billing`);
  await page.getByText(last, { exact: false }).first().waitFor();
  await page.goto(`${walk.base}/o/demo/billing/invoices`);
  await page.getByText(`${format.format(new Date(period.from))}`, { exact: false }).first().waitFor();
  await page.getByText(last, { exact: false }).first().waitFor();
}

export async function the_keyboard_stays_where_it_was_when_settings_are_saved(walk) {
  const owner = await walk.organization();
  const saved = (minutes) => walk.until(async () => {
    const { settings } = await walk.call(owner, 'GET', `/organizations/${slugOf(owner)}`);
    walk.assert.equal(settings.claim_minutes, minutes);
  });
  const page = await walk.page('/settings', { as: owner });
  const minutes = page.getByLabel('A claim lasts');
  const button = page.getByRole('button', { name: 'Save changes' });
  const hasFocus = (input) => walk.until(async () => {
    walk.assert.ok(await input.evaluate((element) => element === document.activeElement));
  });
  await minutes.fill('45');
  await page.keyboard.press('Enter');
  await saved(45);
  await page.waitForLoadState('networkidle');
  await hasFocus(minutes);
  await minutes.fill('50');
  await button.focus();
  await page.keyboard.press('Enter');
  await saved(50);
  await page.waitForLoadState('networkidle');
  await hasFocus(button);
  // What is saved next is based on what was saved.
  await minutes.fill('55');
  await page.keyboard.press('Enter');
  await saved(55);
}

export async function numbers_are_typed_as_the_language_writes_them(walk) {
  const owner = await walk.organization();
  const read = async () => (await walk.call(owner, 'GET', `/organizations/${slugOf(owner)}`)).settings;
  const page = await walk.page('/settings', { as: owner, language: 'de' });
  const minutes = page.getByLabel('Eine Übernahme gilt');
  const type = async (input, text) => {
    await input.fill('');
    await input.pressSequentially(text);
  };
  // Without its separator it would be 125.
  await type(minutes, '12,5');
  await page.keyboard.press('Enter');
  await minutes.and(page.locator('[aria-invalid=true]')).waitFor();
  walk.assert.equal(await minutes.inputValue(), '12,5 Minuten');
  walk.assert.equal((await read()).claim_minutes, 30);
  await type(minutes, '1.000');
  walk.assert.equal(await minutes.inputValue(), '1000 Minuten');
  await page.keyboard.press('Enter');
  await walk.until(async () => walk.assert.equal((await read()).claim_minutes, 1000));
  const { id } = await walk.call(owner, 'POST', '/schemas', { name: 'Notes', fields: [{ key: 'a', type: 'text' }] });
  await page.goto(`${walk.base}/o/${slugOf(owner)}/schemas/${id}?tab=settings`);
  const rate = page.getByLabel('Anteil zur Prüfung');
  const save = async (expected) => {
    await page.keyboard.press('Control+s');
    await walk.until(async () => {
      const { review_policy: policy } = await walk.call(owner, 'GET', `/schemas/${id}`);
      walk.assert.equal(policy.sample_rate, expected);
    });
  };
  await type(rate, '12,5');
  await save(0.125);
  walk.assert.equal(await rate.inputValue(), '12,5 %');
  await type(rate, '05');
  await save(0.05);
  walk.assert.equal(await rate.inputValue(), '5 %');
}
