// The pages of long documents: they are read bit by bit, and what is looked at stays.
import { prepare } from '../steps/labeling.mjs';

const LINES = Array.from({ length: 1000 }, (_, at) => `Line ${at} with the total ${at}.00 EUR`);

async function openLong(walk) {
  const work = await prepare(walk, { text: LINES.join('\n') });
  const { page_count: count } = await work.call('GET', `/artifacts/${work.id}`);
  walk.assert.ok(count > 10);
  const page = await walk.page('/', { as: work.session });
  // The last pages come when the test says so.
  const { promise: allowed, resolve: allow } = Promise.withResolvers();
  await page.route('**/pages?*cursor=*', async (route) => {
    await allowed;
    await route.continue();
  });
  await page.goto(`${page.url()}label/${work.id}`);
  await page.locator('[data-page="1"] img').waitFor();
  const readAll = async () => {
    allow();
    await page.locator(`[data-page="${count}"]`).waitFor({ state: 'attached' });
  };
  return { page, count, readAll };
}

const positionOf = (page) => page.locator('[data-scroller]').evaluate((element) => Math.round(element.scrollTop));

export async function a_long_document_begins_with_its_first_page(walk) {
  const { page, count, readAll } = await openLong(walk);
  await readAll();
  await page.getByText(`1 of ${count}`).waitFor();
  walk.assert.equal(await positionOf(page), 0);
  // What is in the middle stays there when it gets larger.
  await page.keyboard.press('F2');
  await page.keyboard.press('Alt+PageDown');
  await page.getByText(`2 of ${count}`).waitFor();
  const before = await positionOf(page);
  await page.keyboard.press('i');
  await page.getByText('125%').waitFor();
  walk.assert.ok((await positionOf(page)) > before);
  await page.getByText(`2 of ${count}`).waitFor();
}

export async function a_search_keeps_its_place_while_pages_are_read(walk) {
  const { page, readAll } = await openLong(walk);
  await page.keyboard.press('Control+f');
  await page.keyboard.type('total');
  await page.keyboard.press('Enter');
  await page.keyboard.press('Enter');
  const hits = page.getByRole('toolbar').getByRole('status');
  await hits.filter({ hasText: /^3 of/ }).waitFor();
  const some = await hits.innerText();
  await readAll();
  await walk.until(async () => walk.assert.notEqual(await hits.innerText(), some));
  walk.assert.match(await hits.innerText(), /^3 of/);
}
