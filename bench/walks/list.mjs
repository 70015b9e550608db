// How long the longest task is while a list of thousands of documents is scrolled to its end.

export async function measure(walk, { token, slug, rows }) {
  const session = { access_token: token, organizations: [{ slug, role: 'owner' }] };
  session.user = await walk.call(session, 'GET', '/users/me');
  const page = await walk.page('/documents', { as: session });
  const scroller = page.getByRole('region', { name: 'Documents' });
  await scroller.getByRole('row').nth(20).waitFor();
  await page.evaluate(() => {
    window.tasks_ = [];
    new PerformanceObserver((list) => window.tasks_.push(...list.getEntries())).observe({ type: 'longtask' });
  });
  await scroller.hover();
  const last = scroller.locator(`[aria-rowindex="${rows + 1}"]`);
  while ((await last.count()) === 0) await page.mouse.wheel(0, 480);
  const tasks = await page.evaluate(() => window.tasks_.map(({ duration }) => duration));
  return Math.max(0, ...tasks);
}
