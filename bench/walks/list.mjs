// Measure the milliseconds of the longest task while a list of documents is scrolled to its end.

export async function measure(walk, { token, slug, rows }) {
  const session = { access_token: token, organizations: [{ slug, role: 'owner' }] };
  session.user = await walk.call(session, 'GET', '/users/me');
  const page = await walk.page('/documents', { as: session });
  const scroller = page.getByRole('region', { name: 'Documents' });
  await scroller.getByRole('row').nth(5).waitFor();
  // The list leaves out archived documents.
  const last = await scroller.getByRole('table').getAttribute('aria-rowcount');
  walk.assert.ok(Number(last) > rows, `only ${last} rows`);
  await page.evaluate(() => {
    window.tasks_ = [];
    new PerformanceObserver((list) => window.tasks_.push(...list.getEntries())).observe({ type: 'longtask' });
  });
  // Scrolls as fast as a person can, frame by frame, and waits at the end of the loaded rows.
  await scroller.evaluate(
    (element, end) =>
      new Promise((resolve) => {
        const scroll = () => {
          element.scrollTop += 400;
          if (element.querySelector(`[aria-rowindex="${end}"]`)) resolve();
          else requestAnimationFrame(scroll);
        };
        scroll();
      }),
    last,
  );
  const tasks = await page.evaluate(() => window.tasks_.map(({ duration }) => duration));
  return Math.max(0, ...tasks);
}
