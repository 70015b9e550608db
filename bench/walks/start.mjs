// Measure the time until the first paint of the sign-in page, and until the start page is usable.

const THROTTLING = 4;

// Returns the milliseconds until the first paint and until the page's heading, with an empty cache.
async function visit(walk, path, options) {
  const page = await walk.page('/workbench/licences.json', options);
  const devtools = await page.context().newCDPSession(page);
  await devtools.send('Emulation.setCPUThrottlingRate', { rate: THROTTLING });
  await page.goto(`${walk.base}${path}`);
  // A locator would search for roles with the slowed processor.
  await page.waitForFunction(() => document.querySelector('h1'));
  const times = await page.evaluate(() => ({
    usable: performance.now(),
    painted: performance.getEntriesByName('first-contentful-paint')[0]?.startTime,
  }));
  // A slowed page takes processor time even when it does nothing.
  await page.context().close();
  return times;
}

const median = (values) => values.toSorted((a, b) => a - b)[Math.floor(values.length / 2)];

export async function measure(walk, { times }) {
  const session = await walk.session('labeler');
  const signIn = [];
  const home = [];
  for (let round = 0; round < times; round += 1) {
    signIn.push(await visit(walk, '/sign-in', {}));
    home.push(await visit(walk, '/o/demo/', { as: session }));
  }
  return {
    signIn: median(signIn.map(({ painted }) => painted)),
    home: median(home.map(({ usable }) => usable)),
  };
}
