// People work in several organizations, behind a path prefix, and end their session.
import { input, open, prepare } from '../steps/labeling.mjs';

// The session of somebody who owns two organizations.
async function ownTwo(walk) {
  const owner = await walk.organization('Alpha');
  await walk.call(owner, 'POST', '/organizations', { name: 'Beta' });
  const body = { email: owner.user.email, password: walk.password };
  return walk.call(null, 'POST', '/auth/login', body);
}

const addDocument = (walk, session, organization, name) =>
  walk.call({ ...session, organizations: [organization] }, 'POST', '/artifacts', { name, text: 'Rent' });

export async function nothing_of_the_last_organization_stays(walk) {
  const session = await ownTwo(walk);
  const [alpha, beta] = session.organizations;
  await addDocument(walk, session, alpha, 'alpha.txt');
  await addDocument(walk, session, beta, 'beta.txt');
  const page = await walk.page('/documents', { as: session });
  const menu = (name) => page.getByRole('button', { name: `Organization: ${name}` });
  await page.getByText('alpha.txt').waitFor();
  await menu('Alpha').click();
  await page.getByRole('menuitem', { name: 'Beta' }).click();
  await menu('Beta').waitFor();
  await page.getByRole('link', { name: 'Documents' }).click();
  await page.getByText('beta.txt').waitFor();
  // The way back, and back again at once: from one page to the same page of the other.
  await page.goBack();
  await page.goBack();
  await page.waitForURL(`**/o/${alpha.slug}/documents`);
  await menu('Alpha').waitFor();
  await page.getByText('alpha.txt').waitFor();
  await page.evaluate((slug) => history.pushState({}, '', `/o/${slug}/documents`), beta.slug);
  await menu('Beta').waitFor();
  await page.getByText('beta.txt').waitFor();
  walk.assert.equal(await page.getByText('alpha.txt').count(), 0);
}

async function switchTo(page, name) {
  await page.getByRole('button', { name: /^Organization:/ }).click();
  await page.getByRole('menuitem', { name }).click();
  await page.getByRole('button', { name: `Organization: ${name}` }).waitFor();
}

export async function files_go_to_the_organization_in_which_they_were_chosen(walk) {
  const session = await ownTwo(walk);
  const [alpha, beta] = session.organizations.map((one) => ({ ...session, organizations: [one] }));
  const page = await walk.page('/documents', { as: session });
  await page.getByText('No documents yet').waitFor();
  let release;
  const released = new Promise((resolve) => { release = resolve; });
  await page.route('**/api/v1/artifacts', async (route) => {
    if (route.request().method() === 'POST') await released;
    await route.fallback();
  });
  const names = ['a', 'b', 'c', 'd', 'e'].map((name) => `${name}.txt`);
  await page.keyboard.press('u');
  const [chooser] = await Promise.all([
    page.waitForEvent('filechooser'),
    page.getByRole('dialog').getByRole('button', { name: 'Choose files' }).click(),
  ]);
  await chooser.setFiles(names.map((name) => ({ name, mimeType: 'text/plain', buffer: Buffer.from(`Rent ${name}`) })));
  await page.getByText('e.txt').waitFor();
  await page.keyboard.press('Escape');
  await switchTo(page, 'Beta');
  release();
  await walk.until(async () => {
    const found = await walk.call(alpha, 'GET', '/artifacts');
    walk.assert.deepEqual(found.map(({ name }) => name).sort(), names);
  });
  walk.assert.deepEqual(await walk.call(beta, 'GET', '/artifacts'), []);
}

export async function a_draft_is_saved_where_it_was_begun(walk) {
  const work = await prepare(walk);
  await walk.call(work.session, 'POST', '/organizations', { name: 'Beta' });
  const body = { email: work.session.user.email, password: walk.password };
  const session = await walk.call(null, 'POST', '/auth/login', body);
  session.organizations.sort((a) => (a.slug === work.session.organizations[0].slug ? -1 : 1));
  const page = await open(walk, { ...work, session });
  await input(page, 'Supplier').fill('Brackenhill');
  await switchTo(page, 'Beta');
  await walk.until(async () => {
    const [{ tags }] = await work.drafts();
    walk.assert.deepEqual(tags.map(({ value }) => value), ['Brackenhill']);
  });
}

const PREFIX = '/labels';

// Serves the workbench below a prefix, as a proxy does whose address is PUBLIC_URL.
async function addPrefix(walk, page) {
  await page.route(
    (url) => url.pathname.startsWith(`${PREFIX}/`),
    async (route) => {
      const url = route.request().url().replace(`${walk.base}${PREFIX}`, walk.base);
      const response = await route.fetch({ url });
      if (!response.headers()['content-type']?.startsWith('text/html')) return route.fulfill({ response });
      const html = (await response.text())
        .replaceAll('"/workbench/', `"${PREFIX}/workbench/`)
        .replace('name="base-path" content=""', `name="base-path" content="${PREFIX}"`);
      await route.fulfill({ response, body: html });
    },
  );
}

async function signIn(walk, page, email) {
  await page.getByLabel('Email').fill(email);
  await page.locator('input[type=password]').fill(walk.password);
  await page.getByRole('button', { name: 'Sign in' }).click();
}

export async function links_keep_the_prefix_of_a_proxy(walk) {
  const owner = await walk.organization();
  const member = await walk.member(owner, 'labeler');
  const { slug } = owner.organizations[0];
  const made = await walk.call(owner, 'POST', '/artifacts', { name: 'note.txt', text: 'Rent' });
  await walk.call(owner, 'POST', `/artifacts/${made.id}/assign`, { user_ids: [member.user.id] });
  const page = await walk.page('/workbench/icon.svg');
  await addPrefix(walk, page);
  await page.goto(`${walk.base}${PREFIX}/open/${slug}/artifacts/${made.id}?lang=en`);
  await signIn(walk, page, member.user.email);
  const address = `${walk.base}${PREFIX}/o/${slug}/documents/${made.id}`;
  await page.waitForURL(address);
  await page.getByRole('link', { name: 'Home' }).click();
  await page.waitForURL(`${walk.base}${PREFIX}/o/${slug}/`);
  await page.getByRole('button', { name: /^Notifications/ }).click();
  await page.getByRole('dialog', { name: 'Notifications' }).getByRole('button', { name: /New/ }).click();
  await page.waitForURL(address);
  await walk.call(member, 'POST', '/auth/sessions/revoke-all');
  await page.reload();
  await page.getByRole('button', { name: 'Sign in another way' }).click();
  await page.waitForURL(`${walk.base}${PREFIX}/sign-in?**`);
  await signIn(walk, page, member.user.email);
  await page.waitForURL(address);
}
