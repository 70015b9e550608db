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
