// The first seconds of a visit.

const MAX_BYTES = 250_000;

// The sizes of all scripts that a page loads until it is shown, as they are sent.
async function countScriptBytes(walk, path, options) {
  const page = await walk.page('/workbench/icon.svg', { ...options, as: undefined });
  const sizes = [];
  page.on('requestfinished', (request) => {
    if (request.resourceType() === 'script') sizes.push(request.sizes());
  });
  await page.goto(`${walk.base}${path}`);
  await page.getByRole('heading', { level: 1 }).waitFor();
  await page.waitForLoadState('networkidle');
  const found = await Promise.all(sizes);
  return found.reduce((sum, { responseBodySize }) => sum + responseBodySize, 0);
}

export async function the_first_page_needs_little_javascript(walk) {
  const bytes = await countScriptBytes(walk, '/sign-in');
  walk.assert.ok(bytes > 50_000 && bytes <= MAX_BYTES, `${bytes} bytes`);
  return bytes;
}

export async function unknown_pages_lead_to_the_start(walk) {
  const page = await walk.page('/nothing/here', { as: 'viewer' });
  await page.getByRole('heading', { name: 'This page does not exist' }).waitFor();
  await page.getByRole('link', { name: 'Go to the start page' }).click();
  await page.waitForURL('**/o/demo/');
}

export async function the_keys_of_a_page_are_shown_and_the_focus_returns(walk) {
  const page = await walk.page('/', { as: 'viewer' });
  const account = page.getByRole('button', { name: /^Account of/ });
  await account.focus();
  await page.keyboard.press('?');
  await page.getByRole('dialog', { name: 'Keyboard' }).waitFor();
  await page.keyboard.press('Escape');
  await page.getByRole('dialog').waitFor({ state: 'detached' });
  await walk.until(async () => walk.assert.ok(await account.evaluate((one) => one === document.activeElement)));
}

export async function the_language_is_chosen_by_the_browser_and_can_be_changed(walk) {
  const page = await walk.page('/', { as: 'viewer', language: 'de' });
  await page.getByRole('heading', { name: 'Start' }).waitFor();
  walk.assert.equal(await page.locator('html').getAttribute('lang'), 'de');
  await page.getByRole('button', { name: /^Sprache/ }).click();
  await page.getByRole('menuitem', { name: 'English' }).click();
  await page.getByRole('heading', { name: 'Home' }).waitFor();
  walk.assert.equal(await page.locator('html').getAttribute('lang'), 'en');
}

export async function a_new_tab_takes_the_session_of_the_open_one(walk) {
  const page = await walk.page('/sign-in');
  const session = await walk.session('viewer');
  await page.evaluate(({ access_token: token, user, organizations }) => {
    sessionStorage.setItem('session', JSON.stringify({ token, user, organizations }));
  }, session);
  await page.goto(`${walk.base}/o/demo/`);
  await page.getByRole('heading', { level: 1 }).waitFor();
  const tab = await page.context().newPage();
  await tab.goto(`${walk.base}/o/demo/`);
  await tab.getByRole('button', { name: /^Account of/ }).waitFor();
}
export async function an_expired_token_asks_for_the_password_and_the_action_goes_on(walk) {
  const owner = await walk.organization();
  const page = await walk.page('/', { as: owner });
  await page.getByText('Nothing is assigned to you.').waitFor();
  await page.evaluate(() => { document.body.dataset.kept = 'yes'; });
  await walk.call(owner, 'POST', '/auth/sessions/revoke-all');
  await page.keyboard.press('n');
  const dialog = page.getByRole('dialog', { name: 'Sign in again' });
  const password = dialog.locator('input[type=password]');
  await password.fill('wrong password');
  await page.keyboard.press('Enter');
  await dialog.getByRole('alert').waitFor();
  await password.fill(walk.password);
  await page.keyboard.press('Enter');
  await dialog.waitFor({ state: 'detached' });
  await page.getByText('There is nothing to label now.').waitFor();
  walk.assert.equal(await page.evaluate(() => document.body.dataset.kept), 'yes');
}

export async function a_session_that_one_tab_renews_goes_on_in_the_other(walk) {
  const owner = await walk.organization();
  const page = await walk.page('/', { as: owner });
  await page.getByText('Nothing is assigned to you.').waitFor();
  const other = await page.context().newPage();
  await other.goto(page.url());
  await other.getByText('Nothing is assigned to you.').waitFor();
  await walk.call(owner, 'POST', '/auth/sessions/revoke-all');
  for (const tab of [page, other]) {
    await tab.keyboard.press('n');
    await tab.getByRole('dialog', { name: 'Sign in again' }).waitFor();
  }
  await page.locator('input[type=password]').fill(walk.password);
  await page.keyboard.press('Enter');
  for (const tab of [page, other]) {
    await tab.getByRole('dialog', { name: 'Sign in again' }).waitFor({ state: 'detached' });
    // The dialog may have come by itself, and have taken the first key.
    await tab.keyboard.press('n');
    await tab.getByText('There is nothing to label now.').waitFor();
  }
}

export async function a_role_that_changed_is_followed(walk) {
  const owner = await walk.organization();
  const member = await walk.member(owner, 'labeler');
  const slug = owner.organizations[0].slug;
  await walk.call(owner, 'PATCH', `/organizations/${slug}/members/${member.user.id}`, { role: 'viewer' });
  const page = await walk.page('/', { as: member });
  await page.getByRole('button', { name: 'Next document' }).waitFor({ state: 'detached' });
  await page.getByRole('heading', { name: 'Your activity' }).waitFor();
}

export async function the_header_names_the_organization_that_was_switched_to(walk) {
  const owner = await walk.organization('First');
  await walk.call(owner, 'POST', '/organizations', { name: 'Second' });
  const both = await walk.call(null, 'POST', '/auth/login', { email: owner.user.email, password: walk.password });
  const { slug } = both.organizations.find(({ name }) => name === 'First');
  const page = await walk.page(`/o/${slug}/`, { as: both });
  await page.getByText('Nothing is assigned to you.').waitFor();
  await page.getByRole('button', { name: /^Organization.*First/ }).click();
  await page.getByRole('menuitem', { name: 'Second' }).click();
  await page.getByRole('button', { name: /^Organization.*Second/ }).waitFor();
  await page.getByText('Nothing is assigned to you.').waitFor();
}

export async function an_address_that_was_changed_signs_in_again(walk) {
  const owner = await walk.organization();
  const stranger = await walk.organization();
  const page = await walk.page('/', { as: owner });
  await page.getByText('Nothing is assigned to you.').waitFor();
  const email = `${crypto.randomUUID()}@example.com`;
  await walk.call(owner, 'POST', '/auth/email-change/request', { email, password: walk.password });
  const link = new URL(await walk.findLink(email, '/confirm-email'));
  await walk.call(null, 'POST', '/auth/email-change/confirm', { token: link.searchParams.get('token') });
  await page.keyboard.press('n');
  const dialog = page.getByRole('dialog', { name: 'Sign in again' });
  await dialog.getByLabel('Email').fill(stranger.user.email);
  await dialog.locator('input[type=password]').fill(walk.password);
  await page.keyboard.press('Enter');
  await dialog.getByText('This is another account.', { exact: false }).waitFor();
  await walk.checkAccessibility(page);
  await dialog.getByLabel('Email').fill(email);
  await dialog.locator('input[type=password]').fill(walk.password);
  await page.keyboard.press('Enter');
  await dialog.waitFor({ state: 'detached' });
  await page.getByText('There is nothing to label now.').waitFor();
}
