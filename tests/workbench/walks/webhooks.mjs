// Deliveries of webhooks: sent again one by one, replayed, and after a receiver was dead.
import { createServer } from 'node:http';

// A receiver that answers with `status`, which can be changed, and keeps what it got.
async function receive(status) {
  const receiver = { status, got: [] };
  const server = createServer((request, response) => {
    const parts = [];
    request.on('data', (part) => parts.push(part));
    request.on('end', () => {
      receiver.got.push(JSON.parse(Buffer.concat(parts).toString()));
      response.writeHead(receiver.status).end(receiver.status === 200 ? 'thanks' : 'broken');
    });
  });
  await new Promise((resolve) => server.listen(0, '127.0.0.2', resolve));
  server.unref();
  receiver.url = `http://127.0.0.2:${server.address().port}/labels`;
  return receiver;
}

const add = (walk, owner, receiver) =>
  walk.call(owner, 'POST', '/webhooks', { url: receiver.url, events: ['artifact.ingested'] });

const ingest = (walk, owner, ...names) =>
  Promise.all(names.map((name) => walk.call(owner, 'POST', '/artifacts', { name, text: name })));

async function waitForDeliveries(walk, owner, id, status, count) {
  await walk.until(async () => {
    const found = await walk.call(owner, 'GET', `/webhooks/${id}/deliveries?status=${status}`);
    walk.assert.equal(found.length, count);
  });
}

export async function deliveries_are_sent_again_and_replayed(walk) {
  const owner = await walk.organization();
  const receiver = await receive(200);
  const { id } = await add(walk, owner, receiver);
  await ingest(walk, owner, 'a.txt');
  await waitForDeliveries(walk, owner, id, 'delivered', 1);
  await walk.call(owner, 'POST', `/webhooks/${id}/deactivate`, {});
  await ingest(walk, owner, 'missed.txt');
  await waitForDeliveries(walk, owner, id, 'abandoned', 1);
  await walk.call(owner, 'POST', `/webhooks/${id}/activate`, {});
  const page = await walk.page(`/integrations/webhooks/${id}`, { as: owner });
  await page.getByLabel('Status').selectOption('Delivered');
  await page.getByText('1 entry', { exact: true }).waitFor();
  await page.getByRole('button', { name: 'artifact.ingested' }).click();
  const delivery = page.getByRole('dialog', { name: 'Delivery' });
  await delivery.getByText('Attempt 1').waitFor();
  await delivery.getByRole('button', { name: 'Redeliver' }).click();
  await walk.until(() => walk.assert.equal(receiver.got.length, 2));
  await delivery.getByText('Attempt 2').waitFor();
  await page.keyboard.press('Escape');
  await delivery.waitFor({ state: 'detached' });
  // Replays what was missed.
  await page.getByRole('button', { name: 'More actions' }).click();
  await page.getByRole('menuitem', { name: 'Replay deliveries' }).click();
  const replay = page.getByRole('dialog', { name: 'Replay deliveries' });
  await replay.getByText('1 event was missed.', { exact: false }).waitFor();
  await replay.getByRole('checkbox', { name: 'Delivered' }).check();
  await replay.getByText('delivered within the last 24 hours', { exact: false }).waitFor();
  // A time that is not complete is not left out, which would replay everything.
  await replay.getByLabel('From').pressSequentially('0101');
  await replay.getByRole('button', { name: 'Replay' }).click();
  walk.assert.equal(await replay.getByLabel('From').evaluate((one) => one.validity.badInput), true);
  await replay.getByLabel('From').fill('2031-01-01T00:00');
  await replay.getByRole('button', { name: 'Replay' }).click();
  await replay.getByLabel('From').and(page.locator('[aria-invalid=true]')).waitFor();
  await walk.checkAccessibility(page);
  await replay.getByLabel('From').fill('');
  await replay.getByRole('button', { name: 'Replay' }).click();
  await replay.waitFor({ state: 'detached' });
  await page.getByText(/^Replay: finished/).waitFor();
  await page.getByText('1 of 1', { exact: false }).waitFor();
  await walk.until(() => walk.assert.equal(receiver.got.length, 3));
}

export async function a_webhook_whose_receiver_was_dead_is_activated_again(walk) {
  const owner = await walk.organization();
  const receiver = await receive(500);
  const { id } = await add(walk, owner, receiver);
  await ingest(walk, owner, ...Array.from({ length: 12 }, (_, index) => `${index}.txt`));
  // Ten failures in a row deactivate it. A new address ends the pauses between the attempts.
  let changes = 0;
  await walk.until(async () => {
    const { active } = await walk.call(owner, 'GET', `/webhooks/${id}`);
    if (active) await walk.call(owner, 'PATCH', `/webhooks/${id}`, { url: `${receiver.url}?n=${(changes += 1)}` });
    walk.assert.equal(active, false);
  });
  const page = await walk.page('/', { as: owner });
  // The owner is told, and the notification leads to the webhook.
  await page.getByRole('button', { name: /^Notifications: / }).click();
  await page.getByRole('button', { name: /webhook/i }).first().click();
  await page.waitForURL(`**/integrations/webhooks/${id}`);
  await page.getByText('This webhook is deactivated').waitFor();
  await page.getByText('10 failed attempts in a row', { exact: false }).waitFor();
  // A test shows that the receiver is still broken.
  await page.getByRole('button', { name: 'Send test' }).click();
  const delivery = page.getByRole('dialog', { name: 'Delivery' });
  await delivery.getByText('broken').first().waitFor();
  await page.keyboard.press('Escape');
  await delivery.waitFor({ state: 'detached' });
  receiver.status = 200;
  receiver.got = [];
  const missed = page.getByRole('checkbox', { name: /^Also send the \d+ missed events$/ });
  walk.assert.equal(await missed.isChecked(), true);
  await page.getByRole('button', { name: 'Activate again' }).click();
  await page.getByText('This webhook is deactivated').waitFor({ state: 'detached' });
  // The test is sent again, too; it is not an event.
  const arrived = () => new Set(receiver.got.flatMap(({ data }) => data.artifact_id ?? [])).size;
  await walk.until(() => walk.assert.equal(arrived(), 12));
  await page.getByText(/^Replay: finished/).waitFor();
  await ingest(walk, owner, 'later.txt');
  await walk.until(() => walk.assert.equal(arrived(), 13));
}
