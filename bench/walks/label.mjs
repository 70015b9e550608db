// How long the labeling screen takes to open, to move a dense page, and to show a pressed key.
import { readFile } from 'node:fs/promises';

const THROTTLING = 4;
const KEYS = 120;
// A frame that takes more than one and a half of a sixtieth of a second.
const LONG_FRAME_MS = 25;
const FIELDS = ['Supplier', 'Number', 'Customer', 'Total'].map((label) => ({
  key: label.toLowerCase(),
  label,
  type: 'text',
}));

const sort = (values) => values.toSorted((a, b) => a - b);
const quantile = (values, share) => sort(values)[Math.min(values.length - 1, Math.floor(values.length * share))];

async function upload(walk, session, schema, path) {
  const form = new FormData();
  form.set('schema_id', schema);
  form.set('file', new Blob([await readFile(path)], { type: 'application/pdf' }), 'bench.pdf');
  const { id } = await walk.call(session, 'POST', '/artifacts', form);
  await walk.until(async () => {
    walk.assert.equal((await walk.call(session, 'GET', `/artifacts/${id}`)).status, 'ready');
  });
  return id;
}

const isDrawn = () => {
  const image = document.querySelector('[data-page="1"] img');
  return Boolean(image?.complete && image.naturalWidth && document.querySelector('form'));
};

// Milliseconds until the first page and the fields can be used, with an empty cache.
async function visit(walk, session, id) {
  const page = await walk.page('/workbench/licences.json', { as: session });
  const devtools = await page.context().newCDPSession(page);
  await devtools.send('Emulation.setCPUThrottlingRate', { rate: THROTTLING });
  await page.goto(`${walk.base}/o/${session.organizations[0].slug}/label/${id}`);
  await page.waitForFunction(isDrawn, undefined, { polling: 'raf' });
  const usable = await page.evaluate(() => performance.now());
  await page.close();
  return usable;
}

async function open(walk, session, id) {
  const page = await walk.page(`/label/${id}`, { as: session });
  await page.waitForFunction(isDrawn);
  return page;
}

// The share of long frames while the page is moved to and fro with the middle button.
async function pan(page) {
  const { x, y, width, height } = await page.locator('[data-page="1"]').boundingBox();
  const middle = { x: x + width / 2, y: y + Math.min(height, 600) / 2 };
  await page.mouse.move(middle.x, middle.y);
  await page.mouse.down({ button: 'middle' });
  await page.evaluate(() => {
    window.frames_ = [];
    const look = (time) => {
      window.frames_.push(time);
      requestAnimationFrame(look);
    };
    requestAnimationFrame(look);
  });
  for (const lift of [-250, 0, -250, 0]) await page.mouse.move(middle.x, middle.y + lift, { steps: 60 });
  await page.mouse.up({ button: 'middle' });
  const times = await page.evaluate(() => window.frames_);
  const lengths = times.slice(1).map((time, n) => time - times[n]);
  return lengths.filter((length) => length > LONG_FRAME_MS).length / lengths.length;
}

// The 95th percentile of milliseconds from a pressed key until its effect is painted.
async function type(page) {
  await page.evaluate(() => {
    window.keys_ = [];
    // Shorter ones are not reported.
    const options = { type: 'event', durationThreshold: 16 };
    new PerformanceObserver((list) => window.keys_.push(...list.getEntries())).observe(options);
  });
  await page.getByRole('textbox', { name: 'Supplier' }).focus();
  await page.keyboard.type('words '.repeat(KEYS / 6), { delay: 40 });
  await page.locator('[data-save-state=saved]').waitFor();
  const found = await page.evaluate(() =>
    window.keys_.filter(({ name }) => name === 'keydown').map(({ duration }) => duration),
  );
  return quantile([...found, ...Array(Math.max(0, KEYS - found.length)).fill(0)], 0.95);
}

export async function measure(walk, { long, dense, times }) {
  const session = await walk.session('owner');
  const body = { name: 'Bench', document_type: 'bench', fields: FIELDS };
  const schema = await walk.call(session, 'POST', '/schemas', body);
  await walk.call(session, 'POST', `/schemas/${schema.id}/publish`, {});
  await walk.call(session, 'POST', `/schemas/${schema.id}/activate`);
  const [ten, one] = [await upload(walk, session, schema.id, long), await upload(walk, session, schema.id, dense)];
  const visits = [];
  for (let round = 0; round < times; round += 1) visits.push(await visit(walk, session, ten));
  const page = await open(walk, session, one);
  return { usable: quantile(visits, 0.5), longFrames: await pan(page), key: await type(page) };
}
