// The links in emails.

export async function an_invited_person_creates_an_account_and_is_in(walk) {
  const owner = await walk.organization('Inviting');
  const slug = owner.organizations[0].slug;
  const email = `${crypto.randomUUID()}@example.com`;
  await walk.call(owner, 'POST', `/organizations/${slug}/invitations`, { email, role: 'labeler' });
  const link = new URL(await walk.findLink(email, '/accept-invitation'));
  const page = await walk.page(`${link.pathname}${link.search}`);
  await page.getByRole('heading', { name: 'Join Inviting' }).waitFor();
  walk.assert.equal(new URL(page.url()).search, '');
  await page.getByLabel('Your name').fill('Ida Invited');
  await page.locator('input[type=password]').fill('short');
  await page.getByRole('button', { name: 'Join the organization' }).click();
  await page.getByText('Must have at least 10 characters.').waitFor();
  await page.locator('input[type=password]').fill(walk.password);
  await page.getByRole('button', { name: 'Join the organization' }).click();
  await page.waitForURL(`**/o/${slug}/`);
  await page.getByRole('button', { name: 'Account of Ida Invited' }).waitFor();
}

export async function a_used_invitation_is_refused_in_words(walk) {
  const page = await walk.page('/accept-invitation?token=nothing');
  await page.getByRole('alert').waitFor();
  await page.getByText('Ask whoever invited you').waitFor();
}

export async function a_forgotten_password_is_replaced(walk) {
  const owner = await walk.organization('Forgetting');
  const page = await walk.page('/sign-in');
  await page.getByRole('link', { name: 'Forgot the password?' }).click();
  // The page before has a field of the same name.
  await page.getByRole('heading', { name: 'Set a new password' }).waitFor();
  await page.getByLabel('Email').fill(owner.user.email);
  await page.getByRole('button', { name: 'Send the link' }).click();
  await page.getByRole('heading', { name: 'Check your email' }).waitFor();
  const link = new URL(await walk.findLink(owner.user.email, '/reset-password'));
  await page.goto(`${walk.base}${link.pathname}${link.search}`);
  await page.locator('input[type=password]').fill('another long passphrase');
  await page.getByRole('button', { name: 'Change the password and sign in' }).click();
  await page.waitForURL(`**/o/${owner.organizations[0].slug}/`);
  const body = { email: owner.user.email, password: 'another long passphrase' };
  walk.assert.ok((await walk.call(null, 'POST', '/auth/login', body)).access_token);
}

export async function a_link_of_a_notification_asks_to_sign_in_and_leads_on(walk) {
  const page = await walk.page('/open/demo/users/me/assignments?kind=review&lang=en');
  await page.getByRole('heading', { name: 'Sign in' }).waitFor();
  await page.getByLabel('Email').fill('reviewer@demo.example');
  await page.locator('input[type=password]').fill(walk.password);
  await page.getByRole('button', { name: 'Sign in' }).click();
  await page.waitForURL('**/o/demo/?kind=review');
}

export async function the_language_of_the_link_is_that_of_the_page(walk) {
  const page = await walk.page('/forgot-password?lang=de-AT');
  await page.getByRole('heading', { name: 'Setze ein neues Passwort' }).waitFor();
  await walk.checkAccessibility(page);
}

export async function single_sign_on_says_what_is_wrong(walk) {
  const page = await walk.page('/sign-in');
  await page.getByRole('button', { name: 'Single sign-on' }).click();
  await page.getByLabel('Email or organization').fill('demo');
  await page.getByRole('button', { name: 'Continue' }).click();
  await page.getByRole('alert').waitFor();
  await walk.checkAccessibility(page);
}

export async function a_failed_sign_on_is_explained(walk) {
  const page = await walk.page('/sign-on?error=permission_denied&error_description=No%20group.');
  await page.getByRole('alert').getByText('No group.').waitFor();
  await page.getByRole('link', { name: 'Start again' }).click();
  await page.getByRole('heading', { name: 'Sign in' }).waitFor();
}

export async function without_javascript_the_forms_of_the_service_remain(walk) {
  const owner = await walk.organization('Plain');
  const page = await walk.page('/forgot-password?lang=en', { scripts: false });
  await page.getByLabel('Email address').fill(owner.user.email);
  await page.getByRole('button', { name: 'Send the link' }).click();
  await page.getByRole('heading', { name: 'Check your email' }).waitFor();
  const link = new URL(await walk.findLink(owner.user.email, '/reset-password'));
  await page.goto(`${walk.base}${link.pathname}${link.search}`);
  await page.getByRole('heading', { name: 'Choose a new password' }).waitFor();
  walk.assert.equal(await page.locator('header .service').evaluate((one) => getComputedStyle(one).display), 'block');
}

export async function links_to_stop_emails_stay_plain(walk) {
  const page = await walk.page('/unsubscribe?token=nothing&lang=en');
  await page.getByRole('heading', { name: 'Stop these emails' }).waitFor();
  walk.assert.equal(await page.locator('script').count(), 0);
}
