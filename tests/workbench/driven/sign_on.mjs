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
