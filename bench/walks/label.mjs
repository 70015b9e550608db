// Measure the labeling screen: the opening of a long document, panning, and typing.
import { field, FIELDS, input, prepare, saved } from '../../tests/workbench/steps/labeling.mjs';

const COLUMNS = 50;
const LONG_FRAME_MS = 25;
const ROUNDS = 5;
const THROTTLING = 4;

// Returns a PDF whose pages have `words` words each, in small print.
function buildPdf(pages, words) {
  const rows = Math.ceil(words / COLUMNS);
  const height = 780 / rows;
  const lines = Array.from({ length: rows }, (_, row) => {
    const texts = Array.from({ length: COLUMNS }, (__, column) => `w${row}x${column}`);
    return `1 0 0 1 20 ${(800 - row * height).toFixed(2)} Tm (${texts.join(' ')}) Tj`;
  });
  const content = `BT /F1 ${Math.min(height * 0.7, 4).toFixed(2)} Tf ${lines.join('\n')} ET`;
  const objects = ['<< /Type /Catalog /Pages 2 0 R >>'];
  const kids = Array.from({ length: pages }, (_, page) => `${page + 5} 0 R`).join(' ');
  objects.push(`<< /Type /Pages /Kids [${kids}] /Count ${pages} >>`);
  objects.push('<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica >>');
  objects.push(`<< /Length ${content.length} >>\nstream\n${content}\nendstream`);
  const box = '/MediaBox [0 0 595 842] /Resources << /Font << /F1 3 0 R >> >> /Contents 4 0 R';
  for (let page = 0; page < pages; page += 1) objects.push(`<< /Type /Page /Parent 2 0 R ${box} >>`);
  let text = '%PDF-1.4\n';
  const offsets = objects.map((object, at) => {
    const offset = text.length;
    text += `${at + 1} 0 obj\n${object}\nendobj\n`;
    return offset;
  });
  const start = text.length;
  const rest = offsets.map((offset) => `${String(offset).padStart(10, '0')} 00000 n \n`).join('');
  text += `xref\n0 ${objects.length + 1}\n0000000000 65535 f \n${rest}`;
  return `${text}trailer\n<< /Size ${objects.length + 1} /Root 1 0 R >>\nstartxref\n${start}\n%%EOF\n`;
}

async function upload(walk, work, pages, words) {
  const form = new FormData();
  form.append('file', new Blob([buildPdf(pages, words)], { type: 'application/pdf' }), `${words}.pdf`);
  const { schema_id: schemaId } = await work.call('GET', `/artifacts/${work.id}`);
  form.append('schema_id', schemaId);
  const { id } = await walk.call(work.session, 'POST', '/artifacts', form);
  await walk.until(async () => {
    walk.assert.equal((await work.call('GET', `/artifacts/${id}`)).status, 'ready');
  });
  return id;
}

async function open(walk, work, id) {
  const page = await walk.page(`/label/${id}`, { as: work.session });
  await page.locator('[data-page="1"] img').waitFor();
  await page.getByRole('form', { name: 'Fields' }).waitFor();
  return page;
}

// Returns the milliseconds until the first page and the fields are shown, with an empty cache.
async function measureOpening(walk, work, id) {
  const page = await walk.page('/workbench/licences.json', { as: work.session });
  const devtools = await page.context().newCDPSession(page);
  await devtools.send('Emulation.setCPUThrottlingRate', { rate: THROTTLING });
  await page.goto(`${walk.base}/o/${work.session.organizations[0].slug}/label/${id}`);
  await page.waitForFunction(() => {
    const image = document.querySelector('[data-page="1"] img');
    return image?.complete && document.querySelector('[data-fields] textarea, [data-fields] input');
  });
  const time = await page.evaluate(() => performance.now());
  await page.close();
  return time;
}

// Returns the share of late frames while the page is dragged with the space bar.
async function measurePanning(page) {
  await page.getByRole('button', { name: 'Larger' }).click();
  await page.getByRole('button', { name: 'Larger' }).click();
  await page.getByRole('button', { name: 'Larger' }).click();
  await page.locator('[data-scroller]').focus();
  const frame = await page.locator('[data-scroller]').boundingBox();
  const [x, y] = [frame.x + frame.width / 2, frame.y + frame.height / 2];
  await page.mouse.move(x, y);
  await page.keyboard.down('Space');
  await page.mouse.down();
  await page.evaluate(() => {
    const frames = [];
    let last = performance.now();
    const tick = (now) => {
      frames.push(now - last);
      last = now;
      if (!globalThis.panned) requestAnimationFrame(tick);
    };
    globalThis.frames = frames;
    requestAnimationFrame(tick);
  });
  for (let step = 0; step < 120; step += 1) {
    const angle = step / 10;
    await page.mouse.move(x + 200 * Math.sin(angle), y + 250 * Math.sin(angle * 1.7));
  }
  const frames = await page.evaluate(() => {
    globalThis.panned = true;
    return globalThis.frames;
  });
  await page.mouse.up();
  await page.keyboard.up('Space');
  return frames.filter((time) => time > LONG_FRAME_MS).length / frames.length;
}

// Returns the 95th percentile of the milliseconds from a key press to the paint that shows it.
async function measureTyping(page, text) {
  await input(page, 'Invoice number').click();
  await page.evaluate(() => {
    globalThis.keys = [];
    new PerformanceObserver((list) => {
      for (const entry of list.getEntries()) if (entry.name === 'keydown') globalThis.keys.push(entry.duration);
    }).observe({ type: 'event', durationThreshold: 16 });
  });
  await page.keyboard.type(text, { delay: 30 });
  await saved(page);
  const slow = await page.evaluate(() => globalThis.keys);
  // Events that are faster than the threshold are not reported.
  const all = [...slow, ...Array(Math.max(0, text.length - slow.length)).fill(16)].sort((a, b) => a - b);
  return all[Math.floor(all.length * 0.95)];
}

const lines = field('lines', 'Lines', 'table', {
  required: false,
  columns: ['a', 'b', 'c', 'd'].map((key) => field(key, key.toUpperCase(), 'text', { required: false })),
});

export async function measure(walk) {
  const work = await prepare(walk, { fields: [...FIELDS, lines] });
  const many = Array.from({ length: 40 }, (_, row) =>
    ['a', 'b', 'c', 'd'].map((key) => ({ field: `lines.${key}`, row, value: `${key}${row}`, evidence: [{ page: 1 }] })),
  ).flat();
  const long = await upload(walk, work, 10, 400);
  const times = [];
  for (let round = 0; round < ROUNDS; round += 1) times.push(await measureOpening(walk, work, long));
  const opening = times.toSorted((a, b) => a - b)[Math.floor(ROUNDS / 2)];
  const dense = await upload(walk, work, 1, 5000);
  const set = await work.call('POST', `/artifacts/${dense}/tag-sets`, { from: 'empty' });
  await work.call('PUT', `/tag-sets/${set.id}/tags`, { tags: many, revision: set.revision });
  const page = await open(walk, work, dense);
  const panning = await measurePanning(page);
  const typing = await measureTyping(page, 'a number that is typed into a field of the form');
  return { opening, panning, typing };
}
