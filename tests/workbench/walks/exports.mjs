// Exports and their schedules.
import { readFile } from 'node:fs/promises';

// Presses a key until an element has the focus, as people without a pointer do.
async function press(page, key, target) {
  for (let presses = 0; presses < 100; presses += 1) {
    await page.keyboard.press(key);
    if (await target.evaluate((element) => element === document.activeElement)) return;
  }
  throw new Error(`${key} does not lead there`);
}

export async function a_reviewer_exports_and_downloads_without_a_pointer(walk) {
  const page = await walk.page('/exports', { as: 'reviewer' });
  await page.getByRole('heading', { name: 'Exports', exact: true }).waitFor();
  await page.keyboard.press('n');
  const json = page.getByRole('radio', { name: 'JSON Lines' });
  await json.waitFor();
  await page.getByText(/tag sets?/).first().waitFor();
  await press(page, 'Tab', json);
  await press(page, 'ArrowDown', page.getByRole('radio', { name: 'CSV' }));
  await page.getByLabel('Delimiter').waitFor();
  await page.keyboard.press('Control+Enter');
  const download = page.getByRole('button', { name: 'Download' });
  await download.waitFor();
  await page.getByRole('heading', { name: 'Schema versions in the file' }).waitFor();
  await press(page, 'Tab', download);
  const [file] = await Promise.all([page.waitForEvent('download'), page.keyboard.press('Enter')]);
  walk.assert.match(file.suggestedFilename(), /\.csv$/);
  walk.assert.match(await readFile(await file.path(), 'utf8'), /^[^\n]+,[^\n]+\n/);
  await walk.checkAccessibility(page);
}

export async function a_preview_follows_the_format_and_the_filter(walk) {
  const page = await walk.page('/exports/new?format=csv', { as: 'reviewer', width: 320 });
  await page.getByLabel('Delimiter').waitFor();
  await page.getByRole('checkbox', { name: 'Draft' }).check();
  await page.getByRole('checkbox', { name: 'Draft' }).uncheck();
  await page.getByLabel('To (inclusive)').fill('2001-01-01');
  await page.getByText('Nothing matches.', { exact: false }).waitFor();
  await page.getByLabel('To (inclusive)').fill('');
  await page.getByRole('group', { name: 'Preview' }).waitFor();
  await walk.checkAccessibility(page);
}

export async function a_manager_schedules_an_export_in_words(walk) {
  const owner = await walk.organization();
  const page = await walk.page('/exports/schedules', { as: owner });
  await page.getByRole('heading', { name: 'No scheduled exports' }).waitFor();
  await page.keyboard.press('n');
  await page.getByRole('button', { name: 'Schedule an export' }).click();
  await page.getByLabel('Name').and(page.locator('[aria-invalid=true]')).waitFor();
  await page.getByLabel('Name').fill('Weekly');
  const zone = page.getByRole('combobox', { name: 'Time zone' });
  await zone.fill('Berlin');
  await page.getByRole('option', { name: 'Europe/Berlin' }).click();
  await page.getByText('Every Monday at 06:00, Berlin').waitFor();
  await page.getByLabel('Files are').selectOption('sftp');
  await page.getByRole('button', { name: 'Schedule an export' }).click();
  await page.getByText('This field is required.').first().waitFor();
  await walk.checkAccessibility(page);
  await page.getByLabel('Files are').selectOption('download');
  await page.getByRole('button', { name: 'Schedule an export' }).click();
  await page.getByRole('heading', { name: 'Weekly' }).waitFor();
  await page.getByRole('button', { name: 'Run now' }).click();
  await page.getByText('on request').waitFor();
  await page.getByRole('button', { name: 'Pause' }).click();
  await page.getByText('Paused').waitFor();
  await page.getByRole('button', { name: 'Resume' }).waitFor();
  await walk.checkAccessibility(page);
}

export async function a_viewer_sees_exports_and_cannot_make_one(walk) {
  const page = await walk.page('/exports', { as: 'viewer', language: 'de', scheme: 'dark' });
  await page.getByRole('heading', { name: 'Exporte', exact: true }).waitFor();
  await page.getByRole('link', { name: 'Zeitpläne' }).waitFor();
  walk.assert.equal(await page.getByRole('link', { name: 'Neuer Export' }).count(), 0);
  walk.assert.equal(await page.getByRole('button', { name: 'Herunterladen' }).count(), 0);
  await walk.checkAccessibility(page);
}

export async function what_is_typed_before_the_time_zone_is_known_is_kept(walk) {
  const owner = await walk.organization();
  const { slug } = owner.organizations[0];
  await walk.call(owner, 'PATCH', `/organizations/${slug}`, { settings: { time_zone: 'Europe/Vienna' } });
  const page = await walk.page('/exports', { as: owner });
  let release;
  const released = new Promise((resolve) => { release = resolve; });
  await page.route(`**/api/v1/organizations/${slug}`, async (route) => {
    await released;
    await route.fallback();
  });
  await page.goto(`${walk.base}/o/${slug}/exports/schedules/new`);
  const name = page.getByLabel('Name');
  await name.fill('Weekly');
  release();
  await walk.until(async () => {
    walk.assert.equal(await page.getByRole('combobox', { name: 'Time zone' }).inputValue(), 'Europe/Vienna');
  });
  walk.assert.equal(await name.inputValue(), 'Weekly');
}
