// Managers invite people, build teams and see who may do what.

export async function people_are_invited_and_an_invitation_is_revoked(walk) {
  const owner = await walk.organization('People');
  const page = await walk.page('/members', { as: owner });
  await page.getByRole('rowheader', { name: 'Olga Owner' }).waitFor();
  await page.keyboard.press('i');
  const dialog = page.getByRole('dialog', { name: 'Invite people' });
  await dialog.getByLabel('Email addresses').fill('Nora <nora@example.com>,mona@example.com,lena.example.com');
  await dialog.getByRole('radio', { name: 'Reviewer' }).check();
  await dialog.getByRole('button', { name: 'Send 2 invitations' }).click();
  await page.getByText('2 invitations were sent.').waitFor();
  // What is no address stays, and is named.
  await dialog.getByRole('alert').getByText('lena.example.com').waitFor();
  walk.assert.equal(await dialog.getByLabel('Email addresses').inputValue(), 'lena.example.com');
  await dialog.getByLabel('Email addresses').fill('');
  await page.keyboard.press('Escape');
  await page.getByRole('link', { name: 'Invitations' }).click();
  await page.getByRole('button', { name: 'Revoke the invitation of nora@example.com' }).click();
  await page.getByRole('dialog').getByRole('button', { name: 'Revoke' }).click();
  await page.getByRole('rowheader', { name: 'nora@example.com' }).waitFor({ state: 'detached' });
  const open = await walk.call(owner, 'GET', `/organizations/${owner.organizations[0].slug}/invitations`);
  walk.assert.deepEqual(open.map(({ email, role }) => [email, role]), [['mona@example.com', 'reviewer']]);
}

export async function a_team_is_created_and_found_in_the_chart(walk) {
  const owner = await walk.organization('Teams');
  const page = await walk.page('/teams', { as: owner });
  await page.getByText('No teams yet').waitFor();
  await page.getByRole('button', { name: 'New team' }).click();
  const dialog = page.getByRole('dialog', { name: 'New team' });
  await dialog.getByRole('textbox', { name: 'Name' }).fill('Leases');
  await dialog.getByLabel('Skills').fill('Dutch');
  // The answer is lost. Sent again, the name is not taken.
  await page.route('**/api/v1/teams', async (route) => {
    await route.fetch();
    await route.abort();
  }, { times: 1 });
  await dialog.getByRole('button', { name: 'Create team' }).click();
  await dialog.getByRole('alert').waitFor();
  await dialog.getByRole('button', { name: 'Create team' }).click();
  await page.getByRole('heading', { name: 'Leases', level: 1 }).waitFor();
  await page.getByRole('link', { name: 'All teams' }).click();
  await page.getByLabel('Find a team, person or skill').fill('dutch');
  await page.waitForURL('**/teams?q=dutch');
  await page.getByRole('link', { name: 'Leases' }).waitFor();
}

export async function viewers_see_no_actions_on_people(walk) {
  const page = await walk.page('/members', { as: 'viewer' });
  await page.getByRole('rowheader', { name: 'Adam Admin' }).waitFor();
  walk.assert.equal(await page.getByRole('button', { name: 'Invite' }).count(), 0);
  walk.assert.equal(await page.getByRole('button', { name: 'Actions for Adam Admin' }).count(), 0);
  walk.assert.equal(await page.getByRole('link', { name: 'Audit log' }).count(), 0);
}

export async function what_is_shown_stays_when_it_cannot_be_read_again(walk) {
  const owner = await walk.organization('Teams');
  const team = await walk.call(owner, 'POST', '/teams', { name: 'Leases' });
  const page = await walk.page('/workbench/icon.svg', { as: owner });
  await page.clock.install();
  await page.goto(`${walk.base}/o/${owner.organizations[0].slug}/teams/${team.id}`);
  await page.getByRole('button', { name: 'Edit' }).click();
  const name = page.getByRole('dialog').getByRole('textbox', { name: 'Name' });
  await name.fill('Rents');
  await page.route(`**/api/v1/teams/${team.id}`, (route) => {
    const json = { error: { code: 'rate_limited', message: 'Slowly.' } };
    return route.request().method() === 'GET' ? route.fulfill({ status: 429, json }) : route.fallback();
  });
  // What was read a while ago is read again when the window gets the focus.
  await page.clock.fastForward(10_000);
  await page.evaluate(() => window.dispatchEvent(new Event('visibilitychange')));
  await page.getByText('Slowly.').waitFor();
  walk.assert.equal(await name.inputValue(), 'Rents');
}
