// Webhooks and API keys under Integrations.
import { createServer } from 'node:http';

// A receiver at the private address that the service may reach. It answers with these
// statuses, and then with 200.
async function receive(...statuses) {
  const server = createServer((request, response) => {
    request.resume();
    response.writeHead(statuses.shift() ?? 200).end('received');
  });
  await new Promise((resolve) => server.listen(0, '127.0.0.2', resolve));
  server.unref();
  return `http://127.0.0.2:${server.address().port}/labels`;
}

async function addWebhook(walk, owner, url) {
  return walk.call(owner, 'POST', '/webhooks', { url, events: ['tag_set.accepted'] });
}

export async function an_operator_adds_a_webhook_and_sees_its_secret_once(walk) {
  const owner = await walk.organization();
  const page = await walk.page('/integrations', { as: owner });
  await page.getByRole('heading', { name: 'No webhooks' }).waitFor();
  await page.keyboard.press('n');
  const dialog = page.getByRole('dialog');
  await dialog.getByLabel('URL').fill(await receive());
  await dialog.getByRole('button', { name: 'Add webhook' }).click();
  await dialog.getByText('Choose at least one event.').waitFor();
  await dialog.getByRole('checkbox', { name: 'export.completed' }).check();
  await dialog.getByRole('button', { name: 'tag_set.accepted' }).click();
  await dialog.getByText('"tag_set_id"').waitFor();
  await dialog.getByRole('button', { name: 'Add webhook' }).click();
  const secret = await dialog.getByTestId('secret').innerText();
  walk.assert.match(secret, /^[0-9a-f]{64}$/);
  await dialog.getByText('def verify_standard').waitFor();
  await dialog.getByText('JavaScript').click();
  await dialog.getByText('function verifyStandard').waitFor();
  await dialog.getByRole('button', { name: 'I have stored the secret' }).click();
  await page.getByText('Nothing has been sent yet.', { exact: false }).waitFor();
  walk.assert.equal(await page.getByText(secret).count(), 0);
  await walk.checkAccessibility(page);
}

export async function an_operator_activates_a_webhook_again_under_integrations(walk) {
  const owner = await walk.organization();
  const url = await receive();
  const { id } = await addWebhook(walk, owner, url);
  await walk.call(owner, 'POST', `/webhooks/${id}/deactivate`, {});
  const page = await walk.page('/', { as: owner });
  await page.getByRole('link', { name: 'Integrations' }).click();
  await page.getByText('Deactivated', { exact: true }).last().waitFor();
  await page.getByRole('link', { name: url }).click();
  await page.getByText('This webhook is deactivated').waitFor();
  await walk.checkAccessibility(page);
  await page.getByRole('button', { name: 'Activate again' }).click();
  await page.getByText('This webhook is deactivated').waitFor({ state: 'detached' });
  walk.assert.equal((await walk.call(owner, 'GET', `/webhooks/${id}`)).active, true);
}

export async function an_operator_looks_at_a_test_delivery_and_sends_it_again(walk) {
  const owner = await walk.organization();
  const { id } = await addWebhook(walk, owner, await receive(503));
  const page = await walk.page(`/integrations/webhooks/${id}`, { as: owner });
  await page.getByRole('button', { name: 'Send test' }).click();
  const delivery = page.getByRole('dialog', { name: 'Delivery' });
  await delivery.getByText('"event": "test"').waitFor();
  // Its address opens the same delivery.
  await page.reload();
  await delivery.getByText('Attempt 1').waitFor();
  await delivery.getByText('503', { exact: true }).first().waitFor();
  await delivery.getByText('received', { exact: true }).first().waitFor();
  await walk.checkAccessibility(page);
  await page.keyboard.press('Escape');
  await delivery.waitFor({ state: 'detached' });
  await page.getByRole('button', { name: 'More actions' }).click();
  await page.getByRole('menuitem', { name: 'Change the secret' }).click();
  await page.getByRole('button', { name: 'Change the secret' }).click();
  walk.assert.match(await page.getByTestId('secret').innerText(), /^[0-9a-f]{64}$/);
  await page.getByRole('button', { name: 'I have stored the secret' }).click();
  await page.getByText('Previous secret').waitFor();
}

export async function an_api_key_works_until_it_is_revoked(walk) {
  const owner = await walk.organization();
  const page = await walk.page('/integrations/api-keys', { as: owner, scheme: 'dark', width: 320 });
  await page.getByRole('heading', { name: 'No API keys' }).waitFor();
  await page.getByRole('button', { name: 'Create API key' }).first().click();
  const dialog = page.getByRole('dialog');
  await dialog.getByLabel('Name').fill('nightly report');
  await dialog.getByLabel('Read only').check();
  await dialog.getByRole('button', { name: 'Create API key' }).click();
  const key = await dialog.getByTestId('secret').innerText();
  const use = () => fetch(`${walk.base}/api/v1/artifacts`, { headers: { 'X-API-Key': key } });
  walk.assert.equal((await use()).status, 200);
  await dialog.getByRole('button', { name: 'Done' }).click();
  await walk.checkAccessibility(page);
  await page.getByRole('button', { name: 'Revoke nightly report' }).click();
  await page.getByRole('dialog').getByRole('button', { name: 'Revoke' }).click();
  await page.getByRole('heading', { name: 'No API keys' }).waitFor();
  walk.assert.equal((await use()).status, 401);
}

export async function members_below_admin_do_not_see_integrations(walk) {
  const page = await walk.page('/integrations', { as: 'reviewer' });
  await page.getByText('Only administrators and owners manage webhooks.').waitFor();
  walk.assert.equal(await page.getByRole('link', { name: 'Integrations' }).count(), 0);
  walk.assert.equal(await page.getByRole('button', { name: 'Add webhook' }).count(), 0);
}

// Holds the answer to the next request to a path; returns a function that lets it go.
async function holdAnswer(page, path, method = 'POST') {
  let release;
  const released = new Promise((resolve) => { release = resolve; });
  const isHeld = new Promise((resolve) => {
    void page.route(path, async (route) => {
      if (route.request().method() !== method) return route.fallback();
      const response = await route.fetch();
      resolve();
      await released;
      await route.fulfill({ response });
    });
  });
  return { isHeld, release };
}

export async function a_secret_stays_until_somebody_has_stored_it(walk) {
  const owner = await walk.organization();
  const { id } = await addWebhook(walk, owner, await receive());
  const page = await walk.page(`/integrations/webhooks/${id}`, { as: owner });
  await page.getByRole('button', { name: 'More actions' }).click();
  await page.getByRole('menuitem', { name: 'Change the secret' }).click();
  const answer = await holdAnswer(page, '**/rotate-secret');
  await page.getByRole('button', { name: 'Change the secret' }).click();
  await answer.isHeld;
  // The old secret has been replaced already.
  await page.keyboard.press('Escape');
  await page.mouse.click(5, 5);
  // Neither must a failed reading of the page take the new one away.
  const json = { error: { code: 'rate_limited', message: 'Slowly.' } };
  await page.route(`**/api/v1/webhooks/${id}`, (route) => route.fulfill({ status: 429, json }));
  answer.release();
  const secret = page.getByTestId('secret');
  walk.assert.match(await secret.innerText(), /^[0-9a-f]{64}$/);
  await page.getByText('Slowly.').waitFor();
  await page.keyboard.press('Escape');
  walk.assert.match(await secret.innerText(), /^[0-9a-f]{64}$/);
  await page.getByRole('button', { name: 'I have stored the secret' }).click();
  await secret.waitFor({ state: 'detached' });
}

export async function an_api_key_whose_answer_was_lost_is_created_once(walk) {
  const owner = await walk.organization();
  const path = `/organizations/${owner.organizations[0].slug}/api-keys`;
  const page = await walk.page('/integrations/api-keys', { as: owner });
  await page.getByRole('button', { name: 'Create API key' }).first().click();
  const dialog = page.getByRole('dialog');
  await dialog.getByLabel('Name').fill('nightly report');
  await page.route(`**/api/v1${path}`, async (route) => {
    if (route.request().method() !== 'POST') return route.fallback();
    await route.fetch();
    await route.abort();
  }, { times: 1 });
  await dialog.getByRole('button', { name: 'Create API key' }).click();
  await dialog.getByRole('alert').waitFor();
  await dialog.getByRole('button', { name: 'Create API key' }).click();
  await dialog.getByRole('button', { name: 'Done' }).waitFor();
  walk.assert.equal((await walk.call(owner, 'GET', path)).length, 1);
}
