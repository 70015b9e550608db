// What people see of months that have passed; test_past.py makes them.
import { readFile } from 'node:fs/promises';

const PROFILE = {
  name: 'Muster & Söhne GmbH',
  address: { lines: ['Mariahilfer Straße 1'], postal_code: '1060', city: 'Wien', country: 'AT' },
  tax_number: 'ATU13585627',
  email: 'rechnung@muster.example',
  currency: 'EUR',
  time_zone: 'Europe/Vienna',
  language: 'de',
};

export async function begin_to_pay(walk) {
  const owner = await walk.organization('Paying');
  await walk.call(owner, 'PUT', '/billing/profile', PROFILE);
  await walk.call(owner, 'POST', '/billing/plan/change', { plan: 'team' });
  return owner;
}

export async function wait_for_an_invoice(walk, { owner }) {
  await walk.until(async () => {
    const [invoice] = await walk.call(owner, 'GET', '/billing/invoices');
    walk.assert.ok(invoice?.pdf);
  });
}

export async function an_invoice_is_downloaded(walk, { owner }) {
  const page = await walk.page('/billing/invoices', { as: owner });
  const row = page.getByRole('row', { name: /Issued/ });
  await row.getByText('overdue').waitFor({ state: 'detached' });
  const [file] = await Promise.all([
    page.waitForEvent('download'),
    row.getByRole('button', { name: /^Download INV-.* as PDF$/ }).click(),
  ]);
  walk.assert.match(file.suggestedFilename(), /^INV-.*\.pdf$/);
  walk.assert.equal((await readFile(await file.path())).subarray(0, 5).toString(), '%PDF-');
  await row.getByRole('link').click();
  await page.getByRole('heading', { name: /^Invoice INV-/ }).waitFor();
  await page.getByText('Muster & Söhne GmbH').waitFor();
  const [again] = await Promise.all([
    page.waitForEvent('download'),
    page.getByRole('button', { name: 'Download PDF' }).click(),
  ]);
  walk.assert.equal(again.suggestedFilename(), file.suggestedFilename());
  await walk.checkAccessibility(page);
}

export async function publish_a_schema(walk) {
  const owner = await walk.organization('Drifting');
  const options = ['invoice', 'letter'].map((value) => ({ value, label: value }));
  const fields = [{ key: 'kind', label: 'Kind', type: 'choice', required: true, options }];
  const body = { name: 'Mail', document_type: 'mail', fields };
  const { id } = await walk.call(owner, 'POST', '/schemas', body);
  await walk.call(owner, 'POST', `/schemas/${id}/publish`, {});
  await walk.call(owner, 'POST', `/schemas/${id}/activate`);
  return { owner, schema_id: id };
}

export async function drift_is_found_and_acknowledged(walk, { owner }) {
  const page = await walk.page('/drift', { as: owner });
  await page.getByText('No drift', { exact: true }).waitFor();
  await page.getByRole('button', { name: 'Look for drift' }).click();
  const dialog = page.getByRole('dialog', { name: 'Look for drift' });
  await dialog.getByRole('combobox', { name: 'Schema' }).click();
  await page.getByRole('option', { name: 'Mail' }).click();
  await dialog.getByRole('button', { name: 'Start' }).click();
  const acknowledge = page.getByRole('button', { name: 'Acknowledge the drift of kind' });
  await acknowledge.first().waitFor();
  await page.getByText('Reports of the last search').waitFor();
  await walk.checkAccessibility(page);
  await acknowledge.first().click();
  const confirm = page.getByRole('dialog', { name: 'Acknowledge this drift?' });
  await confirm.getByRole('button', { name: 'Acknowledge' }).click();
  await page.getByText('The report was acknowledged.').waitFor();
  await page.getByRole('row', { name: /kind/i }).getByText('Acknowledged').first().waitFor();
  const reports = await walk.call(owner, 'GET', '/quality/drift?status=acknowledged');
  walk.assert.equal(reports.length, 1);
  // The notification of the drift leads to its reports.
  const bell = page.getByRole('button', { name: /^Notifications: / });
  await walk.until(async () => walk.assert.notEqual((await walk.call(owner, 'GET', '/notifications')).length, 0));
  await page.reload();
  await bell.click();
  await page.getByRole('dialog', { name: 'Notifications' }).getByRole('button', { name: /drift|Mail/i }).first().click();
  await page.waitForURL(/\/drift\?detection_id=/);
  await page.getByText('Reports of the last search').waitFor();
}
