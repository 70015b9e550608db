// Steps that walks of labeling and review share: documents to label, and taking words of a page.

export const TEXT = [
  'Brackenhill Print Works',
  'Invoice BPW-0613',
  'Date 2026-01-30',
  'Paper 100.00',
  'Ink 26.00',
  'Total 512.40 EUR',
].join('\n');

export const field = (key, label, type, rest = {}) => ({ key, label, type, required: true, ...rest });
export const FIELDS = [
  field('supplier', 'Supplier', 'text'),
  field('number', 'Invoice number', 'text'),
  field('date', 'Invoice date', 'date'),
  field('total', 'Total', 'money'),
];

// An organization with one schema and one document of it. `ai` turns predictions on; `predicted` makes one.
export async function prepare(walk, options = {}) {
  const { fields = FIELDS, text = TEXT, name = 'invoice.txt', policy, predicted = false, ai = predicted } = options;
  const session = await walk.organization('Labels');
  const call = (method, path, body) => walk.call(session, method, path, body);
  const { slug } = session.organizations[0];
  await call('PATCH', `/organizations/${slug}`, { settings: { allow_self_review: true } });
  const schema = await call('POST', '/schemas', {
    name: 'Invoices',
    document_type: 'invoice',
    fields,
    ...(policy ? { review_policy: policy } : {}),
    ...(options.guidelines ? { guidelines: options.guidelines } : {}),
  });
  await call('POST', `/schemas/${schema.id}/publish`, {});
  await call('POST', `/schemas/${schema.id}/activate`);
  if (ai) await call('POST', `/schemas/${schema.id}/ai-assist/enable`);
  const { id } = await call('POST', '/artifacts', { name, text, schema_id: schema.id });
  const until = (check) => walk.until(async () => walk.assert.ok(check(await call('GET', `/artifacts/${id}`))));
  await until((artifact) => artifact.status === 'ready');
  if (predicted) {
    await call('POST', `/artifacts/${id}/predict`);
    await until((artifact) => artifact.prediction?.status === 'completed');
  }
  const drafts = () => call('GET', `/tag-sets?artifact_id=${id}`);
  return { session, call, id, drafts };
}

export async function open(walk, { session, id }, options = {}) {
  const page = await walk.page(`/label/${id}`, { as: session, ...options });
  await page.locator('[data-page="1"] img').waitFor();
  await page.getByRole('form', { name: 'Fields' }).waitFor();
  return page;
}

export const input = (page, label) => page.getByRole('textbox', { name: label, exact: true });
export const saved = (page) => page.locator('[data-save-state=saved]').waitFor();

// The middle of a word on the screen, of a page that is turned clockwise.
export async function find(page, { call, id }, text, turned = 0) {
  const [{ words }] = await call('GET', `/artifacts/${id}/pages`);
  const { box } = words.find((one) => one.text === text);
  const image = page.locator('[data-page="1"]');
  await image.scrollIntoViewIfNeeded();
  const frame = await image.boundingBox();
  let [x, y] = [(box[0] + box[2]) / 2, (box[1] + box[3]) / 2];
  for (let angle = 0; angle < turned; angle += 90) [x, y] = [1 - y, x];
  return { x: frame.x + frame.width * x, y: frame.y + frame.height * y };
}

export async function click(page, work, text) {
  const { x, y } = await find(page, work, text);
  await page.mouse.click(x, y);
}

export async function drag(page, work, first, last) {
  const from = await find(page, work, first);
  const to = await find(page, work, last);
  await page.mouse.move(from.x - 2, from.y - 4);
  await page.mouse.down();
  await page.mouse.move(to.x, to.y);
  await page.mouse.move(to.x + 2, to.y + 4);
  await page.mouse.up();
}

// A tag set of the document with these values (by field, or `field#row`), submitted by somebody.
export async function submit(walk, session, artifactId, values) {
  const call = (method, path, body) => walk.call(session, method, path, body);
  const tags = Object.entries(values).map(([place, value]) => {
    const [field, row] = place.split('#');
    return { field, value, row: row === undefined ? null : Number(row) };
  });
  const set = await call('POST', `/artifacts/${artifactId}/tag-sets`, { from: 'empty' });
  await call('PUT', `/tag-sets/${set.id}/tags`, { tags, revision: set.revision });
  return call('POST', `/tag-sets/${set.id}/submit`);
}

export const valuesOf = (set) =>
  Object.fromEntries(set.tags.map(({ field, row, value }) => [row === null ? field : `${field}#${row}`, value.amount ?? value]));
