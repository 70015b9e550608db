// Figures of quality, as charts and as tables.

export async function a_trend_is_shown_as_a_chart_and_as_a_table(walk) {
  const page = await walk.page('/quality?metric=throughput&group_by=schema&bucket=week', { as: 'reviewer' });
  await page.getByRole('img', { name: 'Submissions by Week' }).waitFor();
  await page.getByText('Table', { exact: true }).click();
  const table = page.getByRole('region', { name: 'Submissions by Week' });
  await table.getByRole('columnheader', { name: 'Supplier invoices' }).waitFor();
}

export async function agreement_is_computed_and_its_end_is_shown(walk) {
  const page = await walk.page('/quality/agreement', { as: 'reviewer' });
  await page.getByRole('button', { name: 'Compute' }).click();
  const dialog = page.getByRole('dialog', { name: 'Compute agreement' });
  await dialog.getByLabel('Schema').click();
  await page.getByRole('option', { name: 'Supplier invoices' }).click();
  await dialog.getByRole('button', { name: 'Start computing' }).click();
  await dialog.waitFor({ state: 'detached' });
  await page.getByRole('region', { name: 'Computations' }).getByText('Completed').first().waitFor();
}

export async function the_last_day_is_that_of_the_organization(walk) {
  const owner = await walk.organization();
  const { slug } = owner.organizations[0];
  await walk.call(owner, 'PATCH', `/organizations/${slug}`, { settings: { time_zone: 'Pacific/Auckland' } });
  const page = await walk.page('/workbench/icon.svg', { as: owner });
  await page.clock.setFixedTime('2026-11-28T12:00:00Z');
  await page.goto(`${walk.base}/o/${slug}/quality/people`);
  await walk.until(async () => {
    walk.assert.equal(await page.getByLabel('To').inputValue(), '2026-11-29');
  });
}
