// Connectors and scheduled exports that exist are edited, tried out and deleted.

const HOST_KEY = `SHA256:${'A'.repeat(43)}`;

async function edit(page) {
  await page.getByRole('button', { name: 'More actions' }).click();
  await page.getByRole('menuitem', { name: /^Edit/ }).click();
}

export async function a_connector_is_edited_and_keeps_its_secret(walk) {
  const owner = await walk.organization();
  const settings = { host: '127.0.0.1', port: 2, username: 'labels', password: 'secret', host_key: HOST_KEY };
  const { id } = await walk.call(owner, 'POST', '/connectors', { name: 'Scans', type: 'sftp', settings });
  const page = await walk.page(`/connectors/${id}`, { as: owner });
  await edit(page);
  const name = page.getByRole('textbox', { name: /^Name/ });
  await walk.until(async () => walk.assert.equal(await name.inputValue(), 'Scans'));
  await name.fill('Old scans');
  await page.getByRole('combobox', { name: 'Only these paths' }).fill('*.pdf');
  await page.keyboard.press('Enter');
  await page.getByRole('checkbox', { name: 'Crawl regularly' }).check();
  await page.getByRole('switch', { name: 'Enabled' }).click({ force: true });
  await walk.checkAccessibility(page);
  await page.getByRole('button', { name: 'Save' }).click();
  await page.getByRole('heading', { name: 'Old scans' }).waitFor();
  await page.getByText('Disabled').waitFor();
  const saved = await walk.call(owner, 'GET', `/connectors/${id}`);
  walk.assert.deepEqual(
    [saved.name, saved.include, saved.enabled, saved.schedule, saved.stored_secrets],
    ['Old scans', ['*.pdf'], false, '0 6 * * *', ['password']],
  );
  // What somebody else changed meanwhile is not overwritten.
  await edit(page);
  await walk.until(async () => walk.assert.equal(await name.inputValue(), 'Old scans'));
  await walk.call(owner, 'PATCH', `/connectors/${id}`, { name: 'Theirs' });
  await name.fill('Mine');
  await page.getByRole('button', { name: 'Save' }).click();
  await page.getByRole('alert').waitFor();
  walk.assert.equal((await walk.call(owner, 'GET', `/connectors/${id}`)).name, 'Theirs');
}

export async function a_schedule_is_edited_and_deleted(walk) {
  const owner = await walk.organization();
  const { id } = await walk.call(owner, 'POST', '/exports/scheduled', {
    name: 'Weekly',
    cron: '0 6 * * 1',
    time_zone: 'Europe/Berlin',
    format: 'csv',
    options: { delimiter: ';' },
  });
  const page = await walk.page(`/exports/schedules/${id}`, { as: owner });
  await page.getByText('Every Monday at 06:00, Berlin').first().waitFor();
  await edit(page);
  const name = page.getByLabel('Name');
  await walk.until(async () => walk.assert.equal(await name.inputValue(), 'Weekly'));
  walk.assert.equal(await page.getByRole('radio', { name: 'CSV' }).isChecked(), true);
  await name.fill('Daily');
  await page.getByLabel('Repeats', { exact: false }).selectOption({ label: 'Every day' });
  await page.getByRole('radio', { name: 'What has changed' }).check();
  await page.getByText('Every day at 06:00, Berlin').waitFor();
  await page.getByRole('button', { name: 'Save' }).click();
  await page.getByRole('heading', { name: 'Daily', exact: true }).waitFor();
  const saved = await walk.call(owner, 'GET', `/exports/scheduled/${id}`);
  walk.assert.deepEqual(
    [saved.name, saved.cron, saved.mode, saved.options.delimiter],
    ['Daily', '0 6 * * *', 'incremental', ';'],
  );
  await page.getByRole('button', { name: 'More actions' }).click();
  await page.getByRole('menuitem', { name: 'Delete' }).click();
  const dialog = page.getByRole('dialog');
  await dialog.getByText('Daily is deleted with its history.', { exact: false }).waitFor();
  await dialog.getByRole('button', { name: 'Delete' }).click();
  await page.getByRole('heading', { name: 'No scheduled exports' }).waitFor();
}
