// People sign in at an identity provider; test_sign_on.py starts it.

async function configure(walk, issuer) {
  const owner = await walk.organization('Signing on');
  const oidc = { issuer, client_id: 'public' };
  const slug = owner.organizations[0].slug;
  await walk.call(owner, 'POST', `/organizations/${slug}/sso`, { kind: 'oidc', default_role: 'labeler', oidc });
  return { owner, slug };
}

// Starts in the workbench, logs in at the provider, and consents.
async function signOn(page, slug, email) {
  await page.getByRole('button', { name: 'Single sign-on' }).click();
  await page.getByLabel('Email or organization').fill(slug);
  await page.getByRole('button', { name: 'Continue' }).click();
  const claims = new URLSearchParams({ sub: email, email, name: 'Pat Provider', email_verified: 'true' });
  await page.locator('input[name=login]').fill(claims.toString());
  await page.locator('input[name=password]').fill('x');
  await page.locator('button[type=submit]').click();
  await page.getByRole('button', { name: 'Continue' }).click();
}

export async function a_new_member_signs_in(walk, { issuer }) {
  const { slug } = await configure(walk, issuer);
  const page = await walk.page(`/sign-in?next=${encodeURIComponent(`/o/${slug}/profile`)}`);
  await signOn(page, slug, `${crypto.randomUUID()}@people.example`);
  await page.waitForURL(`**/o/${slug}/profile`);
  await page.getByRole('button', { name: 'Account of Pat Provider' }).waitFor();
}

export async function an_owner_confirms_by_email(walk, { issuer }) {
  const { owner, slug } = await configure(walk, issuer);
  const page = await walk.page('/sign-in');
  await signOn(page, slug, owner.user.email);
  await page.getByText('You have received an email.').waitFor();
  const link = new URL(await walk.findLink(owner.user.email, '/sign-on'));
  await page.goto(`${walk.base}${link.pathname}${link.search}`);
  await page.getByRole('button', { name: 'Confirm and sign in' }).click();
  await page.waitForURL(`**/o/${slug}/`);
  await page.getByRole('button', { name: 'Account of Olga Owner' }).waitFor();
}

// The owner configures sign-on in the settings; what the service refuses stands at its field.
export async function an_owner_configures_sign_on(walk, { issuer }) {
  const owner = await walk.organization('Configured');
  const { slug } = owner.organizations[0];
  const page = await walk.page('/settings/sign-on', { as: owner });
  await page.getByText('Not configured.', { exact: false }).waitFor();
  await page.getByLabel('Issuer').fill('http://127.0.0.2:1');
  await page.getByLabel('Client ID').fill('public');
  await page.getByLabel('Client secret').fill('secret');
  await page.getByRole('combobox', { name: 'Role of new members' }).click();
  await page.getByRole('option', { name: 'Labeler' }).click();
  await page.getByRole('button', { name: 'Add a group' }).click();
  await page.getByRole('textbox', { name: /^Group/ }).fill('reviewers');
  await page.getByRole('combobox', { name: 'Role', exact: true }).click();
  await page.getByRole('option', { name: 'Reviewer' }).click();
  const save = page.getByRole('button', { name: 'Check and save' });
  await save.click();
  await page.getByLabel('Issuer').and(page.locator('[aria-invalid=true]')).waitFor();
  await page.getByLabel('Issuer').fill(issuer);
  await save.click();
  await page.getByText('Single sign-on was saved.').waitFor();
  await page.getByRole('textbox', { name: 'Redirect address' }).waitFor();
  const read = () => walk.call(owner, 'GET', `/organizations/${slug}/sso`);
  const saved = await read();
  walk.assert.deepEqual(
    [saved.oidc.issuer, saved.oidc.has_client_secret, saved.default_role, saved.group_mapping[0].role],
    [issuer, true, 'labeler', 'reviewer'],
  );
  // The secret is kept when another thing changes; passwords are turned off only after a question.
  await page.getByText('A secret is stored.', { exact: false }).waitFor();
  await page.getByLabel('Turn passwords off', { exact: false }).click({ force: true });
  await save.click();
  const dialog = page.getByRole('dialog', { name: 'Turn passwords off?' });
  await walk.checkAccessibility(page);
  await dialog.getByRole('button', { name: 'Cancel' }).click();
  walk.assert.equal((await read()).enforced, false);
  await page.getByLabel('Turn passwords off', { exact: false }).click({ force: true });
  await page.getByLabel('Members can sign in this way').click({ force: true });
  await save.click();
  await walk.until(async () => walk.assert.equal((await read()).enabled, false));
  walk.assert.equal((await read()).oidc.has_client_secret, true);
}
