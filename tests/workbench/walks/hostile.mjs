// Documents and names that try to run scripts: nothing of them runs, and everything is shown as text.

const RUN = 'globalThis.hacked=(globalThis.hacked??0)+1;alert(1)';
const NAME = `"><img src=x onerror="${RUN}"><svg onload="${RUN}">.txt`.replaceAll('/', '');
const HTML = `<!doctype html><title>${NAME}</title><body onload="${RUN}"><script>${RUN}</script>
  <img src="https://evil.example/x.png" onerror="${RUN}"><iframe srcdoc="<script>parent.hacked=1</script>"></iframe>
  <a href="javascript:${RUN}">click</a><p>Harmless rent words</p></body>`;
const SVG = `<svg xmlns="http://www.w3.org/2000/svg" width="200" height="80" onload="${RUN}"><script>${RUN}</script>
  <foreignObject width="100" height="50"><body xmlns="http://www.w3.org/1999/xhtml"><img src="x" onerror="${RUN}"/></body>
  </foreignObject><text x="10" y="40">Rent</text></svg>`;
const TEXT = `Rent <script>${RUN}</script> <img src=x onerror=${RUN}> {{constructor.constructor('${RUN}')()}} [x](javascript:${RUN})`;

async function upload(walk, session, name, type, content, rest = {}) {
  const form = new FormData();
  form.set('name', name);
  form.set('file', new Blob([content], { type }), 'file');
  for (const [key, value] of Object.entries(rest)) form.set(key, value);
  return walk.call(session, 'POST', '/artifacts', form);
}

async function settle(walk, session, id) {
  await walk.until(async () => {
    const { status } = await walk.call(session, 'GET', `/artifacts/${id}`);
    walk.assert.notEqual(status, 'processing');
  });
}

// Documents that labels, comments and reviews of somebody hostile belong to.
async function prepare(walk) {
  const owner = await walk.organization('<img src=x onerror=alert(1)>');
  const labeler = await walk.member(owner, 'labeler', `Lena <img src=x onerror=${RUN}>`);
  const call = (method, path, body) => walk.call(owner, method, path, body);
  const fields = [{ key: 'supplier', label: NAME, type: 'text', description: TEXT, required: true }];
  const schema = await call('POST', '/schemas', { name: NAME, description: TEXT, fields, guidelines: TEXT });
  await call('POST', `/schemas/${schema.id}/publish`, {});
  await call('POST', `/schemas/${schema.id}/activate`);
  const metadata = JSON.stringify({ [NAME.slice(0, 100)]: TEXT });
  const made = await upload(walk, owner, NAME, 'text/plain', TEXT, { schema_id: schema.id, metadata });
  const html = await upload(walk, owner, 'page.html', 'text/html', HTML, { schema_id: schema.id });
  const svg = await upload(walk, owner, 'drawing.svg', 'image/svg+xml', SVG).catch((error) => error.message);
  for (const { id } of [made, html, ...(svg.id ? [svg] : [])]) await settle(walk, owner, id);
  const lena = { ...labeler, organizations: labeler.organizations };
  const set = await walk.call(lena, 'POST', `/artifacts/${made.id}/tag-sets`, {});
  const tags = [{ field: 'supplier', value: TEXT }];
  await walk.call(lena, 'PUT', `/tag-sets/${set.id}/tags`, { tags, revision: set.revision });
  await walk.call(lena, 'POST', `/tag-sets/${set.id}/submit`);
  const body = `${TEXT} @${owner.user.email}`;
  await walk.call(lena, 'POST', `/tag-sets/${set.id}/comments`, { body, mentions: [owner.user.id] });
  return { owner, lena, made, html, svg, set };
}

// Nothing of the documents became an element, and nothing ran.
async function assertHarmless(walk, page) {
  const selector = 'img[src="x"], img[onerror], svg[onload], [onload], iframe, a[href^="javascript:"]';
  const found = await page.evaluate((harmful) => {
    const injected = document.querySelectorAll(harmful);
    return { hacked: globalThis.hacked ?? null, injected: injected.length };
  }, selector);
  walk.assert.deepEqual(found, { hacked: null, injected: 0 }, page.url());
}

async function check(walk, page, path, shown) {
  await page.goto(`${walk.base}${path}`);
  await shown.waitFor();
  await assertHarmless(walk, page);
}

export async function nothing_of_a_hostile_document_runs(walk) {
  const { owner, made, html, svg, set } = await prepare(walk);
  const root = `/o/${owner.organizations[0].slug}`;
  const page = await walk.page('/', { as: owner });
  const asked = [];
  page.on('dialog', (dialog) => {
    asked.push(dialog.message());
    void dialog.dismiss();
  });
  const outside = [];
  page.on('request', (request) => {
    if (!request.url().startsWith(walk.base) && !/^(blob|data):/.test(request.url())) outside.push(request.url());
  });
  const text = page.getByText('<script>', { exact: false }).first();
  const name = page.getByText('"><img src=x', { exact: false }).first();
  await check(walk, page, `${root}/documents`, name);
  await check(walk, page, `${root}/documents?q=rent`, page.locator('mark').first());
  await check(walk, page, `${root}/documents/${made.id}`, page.getByRole('img', { name: 'Page 1' }));
  await page.getByRole('tab', { name: 'Text' }).click();
  await page.locator('pre', { hasText: '<script>' }).waitFor();
  await assertHarmless(walk, page);
  await page.getByRole('tab', { name: 'History' }).click();
  await page.getByText('Lena <img', { exact: false }).first().waitFor();
  await check(walk, page, `${root}/documents/${html.id}`, page.getByRole('img', { name: 'Page 1' }));
  if (svg.id) await check(walk, page, `${root}/documents/${svg.id}`, page.getByRole('heading', { level: 1 }));
  else walk.assert.match(svg, /: 4\d\d /);
  await check(walk, page, `${root}/label/${html.id}`, page.locator('[data-page="1"] img'));
  await page.getByRole('button', { name: 'Guidelines' }).click();
  await page.getByRole('dialog', { name: 'Guidelines' }).getByText('{{constructor', { exact: false }).waitFor();
  await assertHarmless(walk, page);
  await check(walk, page, `${root}/review/${set.id}`, page.locator('[data-page="1"] img'));
  await check(walk, page, `${root}/tag-sets/${set.id}?panel=comments`, text);
  await check(walk, page, `${root}/review`, name);
  await check(walk, page, `${root}/schemas`, name);
  await check(walk, page, `${root}/members`, page.getByText('Lena <img', { exact: false }).first());
  await check(walk, page, `${root}/audit`, page.getByText('artifact', { exact: false }).first());
  await page.getByRole('button', { name: /^Notifications/ }).click();
  await page.getByRole('dialog', { name: 'Notifications' }).getByText('Lena <img', { exact: false }).first().waitFor();
  await assertHarmless(walk, page);
  await check(walk, page, `${root}/exports/new?format=jsonl`, page.getByRole('heading', { level: 1 }));
  walk.assert.deepEqual([asked, outside], [[], []]);
}
