// Take the screenshots for docs/guides/workbench.md and the README, in the demo organization.

async function takeScreenshot(page, folder, name) {
  await page.waitForLoadState('networkidle');
  await page.mouse.move(0, 0);
  await page.screenshot({ path: `${folder}/${name}.png` });
}

// Returns a ready PDF with the active invoice schema, or another ready document if there is no PDF.
async function findInvoice(walk) {
  const schemas = await walk.call('admin', 'GET', '/schemas?document_type=invoice&status=active');
  const ready = await walk.call('admin', 'GET', `/artifacts?status=ready&schema_id=${schemas[0].id}&page_size=100`);
  return ready.find((artifact) => artifact.name.endsWith('.pdf')) ?? ready[0];
}

async function takeLabelScreenshot(walk, folder, name, options) {
  const { id } = await findInvoice(walk);
  const page = await walk.page(`/label/${id}`, { as: 'labeler', ...options });
  await page.locator('[data-page="1"] img').waitFor();
  await page.getByRole('form').waitFor();
  await takeScreenshot(page, folder, name);
}

const PAGES = [
  ['home', '/', 'labeler'],
  ['documents', '/documents', 'reviewer'],
  ['exports', '/exports/new', 'admin'],
  ['quality', '/quality', 'admin', { scheme: 'dark' }],
  ['teams', '/teams', 'admin'],
  ['home-narrow', '/', 'labeler', { width: 390, language: 'de' }],
];

export async function take(walk, { folder }) {
  await takeLabelScreenshot(walk, folder, 'label', {});
  await takeLabelScreenshot(walk, folder, 'label-narrow', { width: 390, scheme: 'dark' });
  for (const [name, path, as, options] of PAGES) {
    const page = await walk.page(path, { as, ...options });
    await page.getByRole('heading', { level: 1 }).waitFor();
    await takeScreenshot(page, folder, name);
  }
  const schema = (await walk.call('admin', 'GET', '/schemas?document_type=invoice&status=active'))[0];
  const editor = await walk.page(`/schemas/${schema.id}`, { as: 'admin' });
  await editor.getByRole('heading', { level: 1 }).waitFor();
  await takeScreenshot(editor, folder, 'schema');
  const [first] = await walk.call('reviewer', 'GET', '/review-queue');
  const review = await walk.page(`/review/${first.tag_set_id ?? first.id}`, { as: 'reviewer' });
  await review.locator('[data-page="1"] img').waitFor();
  await takeScreenshot(review, folder, 'review');
}
