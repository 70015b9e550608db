// People change their own account.

export async function the_name_is_changed_and_shown_at_once(walk) {
  const owner = await walk.organization('Profile');
  const page = await walk.page('/', { as: owner });
  await page.getByRole('button', { name: 'Account of Olga Owner' }).click();
  await page.getByRole('menuitem', { name: 'Profile' }).click();
  const name = page.getByLabel('Name');
  await name.fill('Olga Other');
  await page.getByLabel('Language of emails').fill('nothing-known');
  await page.getByRole('button', { name: 'Save' }).click();
  await page.getByText('Must be the language tag').waitFor();
  await page.getByLabel('Language of emails').fill('de-AT');
  await page.getByRole('button', { name: 'Save' }).click();
  await page.getByRole('button', { name: 'Account of Olga Other' }).waitFor();
  const me = await walk.call(owner, 'GET', '/users/me');
  walk.assert.deepEqual([me.name, me.locale], ['Olga Other', 'de-AT']);
}

export async function the_password_is_changed_and_the_session_goes_on(walk) {
  const owner = await walk.organization('Profile');
  const page = await walk.page('/profile', { as: owner });
  const section = page.getByRole('region', { name: 'Password' });
  const [current, next] = [section.locator('input').nth(0), section.locator('input').nth(1)];
  await current.fill('wrong');
  await next.fill('another long passphrase');
  await section.getByRole('button', { name: 'Change the password' }).click();
  await section.getByText(/password/i).first().waitFor();
  await current.fill(walk.password);
  await section.getByRole('button', { name: 'Change the password' }).click();
  await page.getByText('Your password was changed.').waitFor();
  await page.reload();
  await page.getByRole('heading', { name: 'Where you are signed in' }).waitFor();
  const body = { email: owner.user.email, password: 'another long passphrase' };
  walk.assert.ok((await walk.call(null, 'POST', '/auth/login', body)).access_token);
}

export async function other_sessions_are_listed_and_ended(walk) {
  const owner = await walk.organization('Profile');
  const body = { email: owner.user.email, password: walk.password };
  const other = await walk.call(null, 'POST', '/auth/login', body);
  const page = await walk.page('/profile', { as: owner });
  await page.getByText('This session').waitFor();
  await page.getByRole('button', { name: 'End', exact: true }).click();
  await page.getByRole('button', { name: 'End', exact: true }).waitFor({ state: 'detached' });
  await walk.assert.rejects(walk.call(other, 'GET', '/users/me'), /401/);
}

export async function a_time_zone_that_the_browser_names_otherwise_is_kept(walk) {
  const owner = await walk.organization('Profile');
  await walk.call(owner, 'PATCH', '/users/me', { time_zone: 'Asia/Kolkata' });
  const page = await walk.page('/profile', { as: owner });
  await page.getByLabel('Name').fill('Olga Other');
  walk.assert.equal(await page.getByRole('combobox', { name: 'Time zone' }).inputValue(), 'Asia/Kolkata');
  await page.getByRole('button', { name: 'Save' }).click();
  await page.getByRole('button', { name: 'Account of Olga Other' }).waitFor();
  walk.assert.equal((await walk.call(owner, 'GET', '/users/me')).time_zone, 'Asia/Kolkata');
}
