// The page of all notifications.

async function withNotifications(walk) {
  const owner = await walk.organization('Told');
  const labeler = await walk.member(owner, 'labeler', 'Lena Labeler');
  const { id } = await walk.call(owner, 'POST', '/artifacts', { name: 'lease.txt', text: 'Rent' });
  await walk.call(owner, 'POST', `/artifacts/${id}/assign`, { user_ids: [labeler.user.id] });
  const unread = () => walk.call(labeler, 'GET', '/notifications/unread-count');
  await walk.until(async () => walk.assert.equal((await unread()).unread, 1));
  return { labeler, unread };
}

export async function all_notifications_are_filtered_marked_and_deleted(walk) {
  const { labeler, unread } = await withNotifications(walk);
  const page = await walk.page('/', { as: labeler });
  await page.getByRole('button', { name: 'Notifications: 1 unread' }).click();
  await page.getByRole('dialog', { name: 'Notifications' }).getByRole('link', { name: 'Show all' }).click();
  await page.getByRole('heading', { name: 'Notifications', level: 1 }).waitFor();
  const entry = page.getByRole('list', { name: 'Notifications' }).getByRole('listitem');
  await entry.getByText('New', { exact: false }).waitFor();
  await walk.checkAccessibility(page);
  await entry.getByRole('button', { name: /^Actions for/ }).click();
  await page.getByRole('menuitem', { name: 'Mark as read' }).click();
  await page.getByRole('button', { name: 'Notifications', exact: true }).waitFor();
  walk.assert.equal((await unread()).unread, 0);
  // The filters are in the address.
  await page.getByText('Unread', { exact: true }).click();
  await page.getByText('Nothing matches the filters.').waitFor();
  await page.getByText('Read', { exact: true }).click();
  await page.getByRole('combobox', { name: 'About' }).click();
  await page.getByRole('option', { name: 'Work that is assigned to you' }).click();
  await page.waitForURL(/read=read.*kind=assignment|kind=assignment.*read=read/);
  await page.reload();
  await entry.getByRole('button', { name: /^Actions for/ }).click();
  await page.getByRole('menuitem', { name: 'Mark as unread' }).click();
  await page.getByText('Nothing matches the filters.').waitFor();
  await page.getByText('All', { exact: true }).click();
  await entry.getByRole('button', { name: /^Actions for/ }).click();
  await page.getByRole('menuitem', { name: 'Delete' }).click();
  await page.getByRole('dialog').getByRole('button', { name: 'Delete' }).click();
  await entry.waitFor({ state: 'detached' });
  walk.assert.deepEqual(await walk.call(labeler, 'GET', '/notifications'), []);
}
