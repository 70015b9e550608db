// People sign in and out.

const signInWith = async (page, email, password) => {
  await page.getByLabel('Email').fill(email);
  await page.getByLabel('Password', { exact: false }).and(page.locator('input')).fill(password);
  await page.getByRole('button', { name: 'Sign in' }).click();
};

export async function the_way_back_leads_to_the_page_that_was_asked_for(walk) {
  const page = await walk.page('/o/demo/?from=link');
  await page.getByRole('heading', { name: 'Sign in' }).waitFor();
  await signInWith(page, 'labeler@demo.example', walk.password);
  await page.waitForURL('**/o/demo/?from=link');
  await page.getByRole('heading', { level: 1 }).waitFor();
}

export async function a_wrong_password_is_refused_in_words(walk) {
  const page = await walk.page('/sign-in');
  await signInWith(page, 'labeler@demo.example', 'wrong password');
  const alert = page.getByRole('alert');
  await alert.waitFor();
  walk.assert.match(await alert.innerText(), /email|password/i);
  walk.assert.equal(new URL(page.url()).pathname, '/sign-in');
}

export async function the_token_is_only_in_the_storage_of_the_tab(walk) {
  const page = await walk.page('/sign-in');
  await signInWith(page, 'labeler@demo.example', walk.password);
  await page.waitForURL('**/o/demo/');
  const { token } = JSON.parse(await page.evaluate(() => sessionStorage.getItem('session')));
  walk.assert.match(token, /^ey/);
  walk.assert.deepEqual(await page.context().cookies(), []);
  walk.assert.ok(!(await page.evaluate(() => JSON.stringify(localStorage))).includes(token));
}

export async function signing_out_ends_the_session_in_all_tabs(walk) {
  const page = await walk.page('/', { as: await walk.organization() });
  const other = await page.context().newPage();
  await other.goto(page.url());
  await other.getByRole('heading', { level: 1 }).waitFor();
  const { token } = JSON.parse(await page.evaluate(() => sessionStorage.getItem('session')));
  await page.getByRole('button', { name: /^Account of/ }).click();
  await page.getByRole('menuitem', { name: 'Sign out' }).click();
  await page.getByRole('heading', { name: 'Sign in' }).waitFor();
  await other.getByRole('heading', { name: 'Sign in' }).waitFor();
  const answer = await fetch(`${walk.base}/api/v1/users/me`, { headers: { Authorization: `Bearer ${token}` } });
  walk.assert.equal(answer.status, 401);
}

export async function signing_out_does_not_wait_for_the_service(walk) {
  const page = await walk.page('/', { as: await walk.organization() });
  await page.route('**/auth/logout', () => undefined);
  await page.getByRole('button', { name: /^Account of/ }).click();
  await page.getByRole('menuitem', { name: 'Sign out' }).click();
  await page.getByRole('heading', { name: 'Sign in' }).waitFor();
  walk.assert.equal(await page.evaluate(() => sessionStorage.getItem('session')), null);
}

export async function another_way_to_sign_in_leaves_the_other_tabs_as_they_are(walk) {
  const owner = await walk.organization();
  const page = await walk.page('/', { as: owner });
  await page.getByText('Nothing is assigned to you.').waitFor();
  const other = await page.context().newPage();
  await other.goto(page.url());
  await other.getByText('Nothing is assigned to you.').waitFor();
  await other.evaluate(() => { document.body.dataset.kept = 'yes'; });
  await walk.call(owner, 'POST', '/auth/sessions/revoke-all');
  for (const tab of [page, other]) {
    await tab.keyboard.press('n');
    await tab.getByRole('dialog', { name: 'Sign in again' }).waitFor();
  }
  await page.getByRole('button', { name: 'Sign in another way' }).click();
  await signInWith(page, owner.user.email, walk.password);
  await other.getByRole('dialog', { name: 'Sign in again' }).waitFor({ state: 'detached' });
  await other.getByRole('heading', { name: 'Home' }).waitFor();
  walk.assert.equal(await other.evaluate(() => document.body.dataset.kept), 'yes');
}
