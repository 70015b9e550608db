// Connectors and bulk imports.

export async function a_manager_adds_a_connector_from_its_schema(walk) {
  const owner = await walk.organization();
  const page = await walk.page('/connectors', { as: owner });
  await page.getByRole('heading', { name: 'No connectors' }).waitFor();
  await page.keyboard.press('n');
  await page.getByRole('link', { name: /^SFTP/ }).click();
  await page.getByRole('textbox', { name: /^Name/ }).fill('Scans');
  await page.getByRole('button', { name: 'Add connector' }).click();
  walk.assert.equal(await page.getByText('This field is required.').count(), 4);
  await page.locator('input[name=host]').fill('127.0.0.1');
  await page.getByLabel('User name').fill('labels');
  await page.getByText('Private key', { exact: true }).click();
  await page.getByLabel('Passphrase').waitFor();
  await page.getByText('Password', { exact: true }).first().click();
  await page.locator('input[name=password]').fill('secret');
  await page.locator('input[name=host_key]').fill('nonsense');
  await page.getByRole('button', { name: 'Add connector' }).click();
  await page.getByText('This entry does not have the expected form.').waitFor();
  await page.locator('input[name=host_key]').fill(`SHA256:${'A'.repeat(43)}`);
  await page.getByText('Crawl regularly').click();
  await page.getByText('Every day at 06:00', { exact: false }).waitFor();
  await walk.checkAccessibility(page);
  await page.getByRole('button', { name: 'Add connector' }).click();
  await page.getByRole('heading', { name: 'Scans', exact: true }).waitFor();
  walk.assert.equal(await page.getByText('secret', { exact: true }).count(), 0);
  // Private addresses are refused, and the page says so.
  await page.getByRole('button', { name: 'Test' }).click();
  await page.getByRole('dialog').getByRole('alert').waitFor();
  await page.keyboard.press('Escape');
  await page.getByRole('button', { name: 'Crawl now' }).click();
  await page.getByRole('button', { name: 'Acknowledge' }).click();
  await page.getByText('Acknowledged', { exact: false }).waitFor();
  await walk.checkAccessibility(page);
}

export async function a_labeler_imports_a_csv_file_with_other_columns(walk) {
  const page = await walk.page('/imports', { as: 'labeler' });
  await page.getByRole('link', { name: 'Import documents' }).first().click();
  const mark = `${Date.now()}`;
  const buffer = Buffer.from(`id;body;stars\nR-${mark};"A good chair;\n${mark}";5\nR-2;;1\n`);
  await page.locator('input[type=file]').setInputFiles({ name: 'reviews.csv', mimeType: 'text/csv', buffer });
  await page.getByRole('cell', { name: 'A good chair;', exact: false }).waitFor();
  walk.assert.equal(await page.getByLabel('id becomes').inputValue(), 'external_id');
  const body = page.getByLabel('body becomes');
  await body.selectOption('metadata');
  await page.getByText('Choose the column that holds the text.').waitFor();
  await body.selectOption('text');
  await walk.checkAccessibility(page);
  await page.getByRole('button', { name: 'Start import' }).click();
  await page.getByText('Some failed').waitFor();
  await page.getByLabel('Outcome').selectOption('failed');
  await page.waitForURL('**status=failed*');
  await walk.until(async () => walk.assert.equal(await page.locator('tbody tr').count(), 1));
  await walk.checkAccessibility(page);
  walk.assert.equal(await page.getByRole('button', { name: 'Retry failed documents' }).count(), 0);
  const found = await walk.call('labeler', 'GET', `/artifacts?external_id=R-${mark}`);
  walk.assert.equal(found.length, 1);
  walk.assert.deepEqual(found[0].metadata, { stars: '5' });
}

export async function an_import_whose_answer_was_lost_runs_once(walk) {
  const owner = await walk.organization();
  const page = await walk.page('/imports/new', { as: owner });
  const buffer = Buffer.from('text\nA good chair\n');
  await page.locator('input[type=file]').setInputFiles({ name: 'reviews.csv', mimeType: 'text/csv', buffer });
  await page.getByRole('cell', { name: 'A good chair' }).waitFor();
  await page.route('**/artifacts/bulk-import', async (route) => {
    await route.fetch();
    await route.abort();
  }, { times: 1 });
  await page.getByRole('button', { name: 'Start import' }).click();
  await page.getByRole('alert').waitFor();
  await page.getByRole('button', { name: 'Start import' }).click();
  await page.waitForURL(/imports\/[0-9a-f-]{36}/);
  walk.assert.equal((await walk.call(owner, 'GET', '/ingestion-jobs')).length, 1);
}

export async function unicode_text_that_excel_saved_is_imported(walk) {
  const owner = await walk.organization();
  const page = await walk.page('/imports/new', { as: owner });
  const buffer = Buffer.from('\uFEFFid\tbody\nR-1\tGrüße\n', 'utf16le');
  await page.locator('input[type=file]').setInputFiles({ name: 'reviews.txt', mimeType: 'text/plain', buffer });
  await page.getByRole('cell', { name: 'Grüße' }).waitFor();
  await page.getByRole('button', { name: 'Start import' }).click();
  await page.waitForURL(/imports\/[0-9a-f-]{36}/);
  await walk.until(async () => {
    const [{ id }] = await walk.call(owner, 'GET', '/artifacts?external_id=R-1');
    walk.assert.equal((await walk.call(owner, 'GET', `/artifacts/${id}/text`)).text, 'Grüße');
  });
}
