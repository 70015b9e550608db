// A manager sets up an empty organization, until the first export reaches another system.
import { createServer } from 'node:http';

const FILES = { 'receipt-1.txt': 'Receipt 1\nTotal 12.00 EUR', 'receipt-2.txt': 'Receipt 2\nTotal 7.50 EUR' };

// One server is the source of documents and the receiver of the webhook.
async function serve() {
  const got = [];
  const server = createServer((request, response) => {
    if (request.method === 'POST') {
      const parts = [];
      request.on('data', (part) => parts.push(part));
      request.on('end', () => got.push(JSON.parse(Buffer.concat(parts).toString())));
      response.end('thanks');
      return;
    }
    const file = FILES[request.url.slice('/files/'.length)];
    const links = Object.keys(FILES).map((name) => `<a href="${name}">${name}</a>`);
    response.setHeader('Content-Type', file ? 'text/plain' : 'text/html');
    response.end(file ?? `<!doctype html><title>Files</title>${links.join(' ')}`);
  });
  await new Promise((resolve) => server.listen(0, '127.0.0.2', resolve));
  server.unref();
  return { base: `http://127.0.0.2:${server.address().port}`, got };
}

const open = async (page, name) => page.getByRole('navigation', { name: 'Main' }).getByRole('link', { name }).click();

async function makeSchema(page) {
  await open(page, 'Schemas');
  await page.getByText(/^No schemas yet/).waitFor();
  await page.getByRole('link', { name: /template/i }).first().click();
  await page.getByRole('searchbox', { name: 'Search templates' }).fill('receipt');
  await page.getByRole('link', { name: 'Receipt' }).click();
  const dialog = page.getByRole('dialog', { name: 'Receipt' });
  await dialog.getByRole('textbox', { name: 'Name of the new schema' }).fill('Receipts');
  await dialog.getByRole('button', { name: 'Create a schema' }).click();
  await page.getByRole('heading', { name: 'Receipts', level: 1 }).waitFor();
  await page.getByRole('button', { name: 'Publish' }).click();
  await page.getByRole('dialog').getByRole('button', { name: 'Publish' }).click();
  await page.getByText('Active', { exact: true }).waitFor();
}

async function makeRule(page) {
  await open(page, 'Routing');
  await page.getByText(/^No rules/).waitFor();
  await page.keyboard.press('n');
  await page.getByRole('textbox', { name: 'Name', exact: true }).fill('Receipts');
  await page.getByRole('combobox', { name: 'How it is compared' }).click();
  await page.getByRole('option', { name: 'contains', exact: true }).click();
  await page.getByRole('textbox', { name: 'Value' }).fill('receipt');
  await page.getByRole('combobox', { name: /^Schema/ }).click();
  await page.getByRole('option', { name: 'Receipts' }).click();
  await page.getByRole('button', { name: 'Save' }).click();
  await page.getByRole('link', { name: 'Receipts', exact: true }).waitFor();
}

async function makeConnector(page, base) {
  await open(page, 'Connectors');
  await page.getByRole('heading', { name: 'No connectors' }).waitFor();
  await page.keyboard.press('n');
  await page.getByRole('link', { name: /^Web server/ }).click();
  await page.getByRole('textbox', { name: /^Name/ }).fill('Till');
  await page.getByRole('textbox', { name: /^Index page/ }).fill(`${base}/files/`);
  await page.getByRole('button', { name: 'Add connector' }).click();
  await page.getByRole('heading', { name: 'Till', exact: true }).waitFor();
  await page.getByRole('button', { name: 'Test' }).click();
  await page.getByRole('dialog').getByText('The connection works').waitFor();
  await page.keyboard.press('Escape');
  await page.getByRole('button', { name: 'Crawl now' }).click();
  await page.getByText('Completed', { exact: true }).first().waitFor();
}

async function makePeople(page) {
  await open(page, 'Members');
  await page.getByRole('rowheader', { name: 'Olga Owner' }).waitFor();
  await page.keyboard.press('i');
  const dialog = page.getByRole('dialog', { name: 'Invite people' });
  await dialog.getByLabel('Email addresses').fill('nora@example.com');
  await dialog.getByRole('radio', { name: 'Labeler' }).check();
  await dialog.getByRole('button', { name: 'Send 1 invitation' }).click();
  await page.getByText('1 invitation was sent.').waitFor();
  await open(page, 'Teams');
  await page.getByText('No teams yet').waitFor();
  await page.getByRole('button', { name: 'New team' }).click();
  const team = page.getByRole('dialog', { name: 'New team' });
  await team.getByRole('textbox', { name: 'Name' }).fill('Tills');
  await team.getByRole('button', { name: 'Create team' }).click();
  await page.getByRole('heading', { name: 'Tills', level: 1 }).waitFor();
}

async function makeWebhook(page, base) {
  await open(page, 'Integrations');
  await page.getByRole('heading', { name: 'No webhooks' }).waitFor();
  await page.keyboard.press('n');
  const dialog = page.getByRole('dialog');
  await dialog.getByLabel('URL').fill(`${base}/hook`);
  await dialog.getByRole('checkbox', { name: 'export.completed' }).check();
  await dialog.getByRole('button', { name: 'Add webhook' }).click();
  await dialog.getByRole('button', { name: 'I have stored the secret' }).click();
  await page.getByText('Nothing has been sent yet.', { exact: false }).waitFor();
}

// A document is labeled; how that looks is walked through elsewhere.
async function labelOne(walk, owner) {
  const [{ id }] = await walk.call(owner, 'GET', '/artifacts?q=receipt');
  const { id: set, revision } = await walk.call(owner, 'POST', `/artifacts/${id}/tag-sets`, {});
  const tags = [{ field: 'merchant_name', value: 'Corner till' }];
  await walk.call(owner, 'PUT', `/tag-sets/${set}/tags`, { tags, revision });
}

export async function an_empty_organization_is_set_up_until_the_first_export(walk) {
  const owner = await walk.organization('Empty');
  const { base, got } = await serve();
  const page = await walk.page('/', { as: owner });
  await makeSchema(page);
  await makeRule(page);
  await makeConnector(page, base);
  await open(page, 'Documents');
  await page.getByText('2 of 2 entries').waitFor();
  // The rule has given them their schema.
  await page.getByRole('row', { name: /receipt-1\.txt/ }).getByText('Receipts').waitFor();
  await makePeople(page);
  await makeWebhook(page, base);
  await labelOne(walk, owner);
  await open(page, 'Exports');
  await page.getByRole('heading', { name: 'No exports' }).waitFor();
  await page.keyboard.press('n');
  await page.getByRole('radio', { name: 'JSON Lines' }).check();
  await page.getByRole('checkbox', { name: 'Draft' }).check();
  await page.getByRole('group', { name: 'Preview' }).getByText('Corner till').waitFor();
  await page.keyboard.press('Control+Enter');
  await page.getByRole('button', { name: 'Download' }).waitFor();
  await walk.until(() => walk.assert.deepEqual(got.map(({ event }) => event), ['export.completed']));
  walk.assert.equal(got[0].data.row_count, 1);
}
