// The start page: what to do now.

// An organization with a published schema and one ready document, and the session of its owner.
async function withDocument(walk) {
  const owner = await walk.organization('Home');
  const fields = [{ key: 'number', type: 'text', required: true }];
  const schema = await walk.call(owner, 'POST', '/schemas', { name: 'Invoice', document_type: 'invoice', fields });
  await walk.call(owner, 'POST', `/schemas/${schema.id}/publish`, {});
  await walk.call(owner, 'POST', `/schemas/${schema.id}/activate`);
  const body = { name: '<img src=x onerror=alert(1)>.txt', text: 'Invoice 7', schema_id: schema.id };
  const artifact = await walk.call(owner, 'POST', '/artifacts', body);
  await walk.until(async () => {
    const { status } = await walk.call(owner, 'GET', `/artifacts/${artifact.id}`);
    walk.assert.equal(status, 'ready');
  });
  return { owner, artifact };
}

export async function one_key_claims_and_opens_the_next_document(walk) {
  const { owner, artifact } = await withDocument(walk);
  const page = await walk.page('/', { as: owner });
  await page.getByText('1 document is open.').waitFor();
  await page.keyboard.press('n');
  await page.waitForURL(`**/label/${artifact.id}`);
  const { claim } = await walk.call(owner, 'GET', `/artifacts/${artifact.id}`);
  walk.assert.ok(claim);
}

export async function nothing_to_do_is_said(walk) {
  const page = await walk.page('/', { as: await walk.organization() });
  await page.getByText('Nothing is assigned to you.').waitFor();
  await page.keyboard.press('n');
  await page.getByText('There is nothing to label now.').waitFor();
  await page.keyboard.press('r');
  await page.getByText('There is nothing to review now.').waitFor();
}

export async function assigned_work_is_listed_and_the_filter_is_in_the_address(walk) {
  const { owner, artifact } = await withDocument(walk);
  const assignee = owner.user.id;
  await walk.call(owner, 'POST', `/artifacts/${artifact.id}/assign`, { user_ids: [assignee] });
  const page = await walk.page('/', { as: owner });
  await page.getByRole('link', { name: artifact.name }).waitFor();
  await page.getByRole('radiogroup').getByText('Review').click();
  await page.waitForURL('**/?kind=review');
  await page.getByText('Nothing matches the filters.').waitFor();
  await page.goBack();
  await page.getByRole('link', { name: artifact.name }).click();
  await page.waitForURL(`**/label/${artifact.id}`);
}

export async function viewers_see_no_work(walk) {
  const page = await walk.page('/', { as: 'viewer' });
  await page.getByRole('heading', { name: 'Your activity' }).waitFor();
  walk.assert.equal(await page.getByRole('button', { name: /^Next/ }).count(), 0);
}

export async function notifications_are_counted_read_and_lead_to_their_page(walk) {
  const { owner, artifact } = await withDocument(walk);
  const labeler = await walk.member(owner, 'labeler');
  await walk.call(owner, 'POST', `/artifacts/${artifact.id}/assign`, { user_ids: [labeler.user.id] });
  const headers = { 'X-Org-Slug': labeler.organizations[0].slug };
  await walk.until(async () => {
    const { unread } = await walk.call(labeler, 'GET', '/notifications/unread-count', undefined, headers);
    walk.assert.equal(unread, 1);
  });
  const page = await walk.page('/', { as: labeler });
  await page.getByRole('button', { name: 'Notifications: 1 unread' }).waitFor();
  await page.keyboard.press('b');
  await page.getByRole('dialog').getByRole('button', { name: /New/ }).waitFor();
  await walk.checkAccessibility(page);
  await page.getByRole('dialog').getByRole('button', { name: /New/ }).click();
  await page.waitForURL(`**/documents/${artifact.id}`);
  await page.getByRole('button', { name: 'Notifications', exact: true }).waitFor();
}
