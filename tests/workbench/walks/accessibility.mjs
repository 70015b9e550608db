// Every page, in German, whose words are the longest: light and dark, narrow, wide, and at 200 % zoom.
//
// `$name` in a path stands for the id of a record; test_pages.py compares the paths with the routes.
import { field, FIELDS, prepare, submit } from '../steps/labeling.mjs';

// A window of 1280 by 800 px at 200 % zoom has half as many CSS pixels.
const SIZES = { wide: [1280, 800], zoomed: [640, 400], narrow: [320, 700] };
const SCHEMES = ['light', 'dark'];
// Checks each size in both colors, which takes twice as long.
const CHECKS_ALL = process.env.WALK_BOTH_COLORS === 'on';

const OUTSIDE = [
  '/sign-in', '/sign-on', '/confirm-sign-on', '/organizations', '/forgot-password', '/reset-password',
  '/accept-invitation', '/confirm-email',
];
const DEMO = [
  '/', '/documents', '/documents/$artifactId', '/review', '/review/$itemId', '/tag-sets/$tagSetId',
  '/schemas', '/schemas/$schemaId', '/quality', '/quality/fields', '/quality/agreement',
  '/quality/disagreements', '/quality/people', '/models', '/drift', '/members', '/teams', '/teams/$teamId',
  '/audit', '/notifications', '/notification-preferences',
];
const SET_UP = [
  '/schemas/templates', '/schemas/import', '/routing', '/routing/new', '/routing/$ruleId', '/connectors',
  '/connectors/new', '/connectors/$connectorId', '/connectors/$connectorId/edit', '/imports', '/imports/new',
  '/imports/$jobId', '/integrations', '/integrations/webhooks/$webhookId', '/integrations/api-keys',
];
const DELIVERY = [
  '/exports', '/exports/new', '/exports/$jobId', '/exports/schedules', '/exports/schedules/new',
  '/exports/schedules/$scheduleId', '/exports/schedules/$scheduleId/edit', '/members/invitations', '/settings',
  '/settings/sign-on', '/profile', '/billing', '/billing/profile', '/billing/invoices', '/label/$artifactId',
  '/review/merge/$artifactId',
];

// Runs in the page: it is shown, everything has been read, and no color is on its way to another.
function isAtRest(scheme) {
  const { status, location, resolvedLocation } = globalThis.__TSR_ROUTER__.state;
  if (status !== 'idle' || location.href !== resolvedLocation?.href) return false;
  if (document.documentElement.dataset.mantineColorScheme !== scheme) return false;
  const isEndless = (one) => one.effect.getComputedTiming().endTime === Infinity;
  const isLoading = document.querySelector('[role=status][aria-label="Wird geladen"]') !== null;
  return !isLoading && document.getAnimations().every(isEndless);
}

// Runs in the page: opens another page without loading the application again, as links do.
function followLink(href) {
  return globalThis.__TSR_ROUTER__.navigate({ href });
}

// Checks an open page in a size and a color.
async function checkAs(walk, page, [width, height], scheme) {
  await page.emulateMedia({ colorScheme: scheme });
  await page.setViewportSize({ width, height });
  await page.waitForFunction(isAtRest, scheme);
  await walk.checkAccessibility(page);
}

// Opens the pages one after the other, and checks each three times: all sizes, and both colors.
async function check(walk, session, paths, ids = {}) {
  const page = await walk.page('/workbench/licences.json', { as: session, language: 'de' });
  const prefix = session ? `/o/${session.organizations[0].slug}` : '';
  for (const [number, path] of paths.entries()) {
    const href = `${prefix}${path.replace(/\$\w+/, (name) => ids[name.slice(1)])}`;
    const before = page.url();
    if (number === 0) await page.goto(`${walk.base}${href}`);
    else await page.evaluate(followLink, href);
    walk.assert.notEqual(page.url(), before);
    await page.locator('h1').first().waitFor();
    for (const [step, size] of Object.values(SIZES).entries()) {
      await checkAs(walk, page, size, SCHEMES[(number + step) % 2]);
      if (CHECKS_ALL) await checkAs(walk, page, size, SCHEMES[(number + step + 1) % 2]);
    }
  }
}

async function findFirst(walk, session, path) {
  const [{ id }] = await walk.call(session, 'GET', path);
  return id;
}

export async function pages_without_a_session_are_accessible(walk) {
  await check(walk, undefined, OUTSIDE);
}

export async function pages_of_the_demo_are_accessible(walk) {
  const session = await walk.session('owner');
  const ids = {
    artifactId: await findFirst(walk, session, '/artifacts'),
    itemId: await findFirst(walk, session, '/review-queue'),
    tagSetId: await findFirst(walk, session, '/tag-sets?status=accepted'),
    schemaId: await findFirst(walk, session, '/schemas'),
    teamId: await findFirst(walk, session, '/teams'),
  };
  await check(walk, session, DEMO, ids);
}

export async function pages_of_setting_up_are_accessible(walk) {
  const owner = await walk.organization('Accessible');
  const make = async (path, body) => (await walk.call(owner, 'POST', path, body)).id;
  const settings = { url: 'http://127.0.0.1:2/' };
  const connectorId = await make('/connectors', { name: 'Belege', type: 'http', settings });
  const ids = {
    ruleId: await make('/routing-rules', { name: 'Alle', action: { priority: 60 } }),
    connectorId,
    jobId: await make(`/connectors/${connectorId}/crawl`, {}),
    webhookId: await make('/webhooks', { url: 'http://127.0.0.2:2/', events: ['artifact.ingested'] }),
  };
  await check(walk, owner, SET_UP, ids);
}

export async function pages_of_delivery_and_settings_are_accessible(walk) {
  const columns = [field('name', 'Name', 'text'), field('amount', 'Betrag', 'money')];
  const lines = field('lines', 'Positionen', 'table', { required: false, columns });
  const work = await prepare(walk, { fields: [...FIELDS, lines], policy: { labels_per_artifact: 2 } });
  const { session } = work;
  const labelers = await Promise.all(['Mia', 'Ben'].map((name) => walk.member(session, 'labeler', name)));
  for (const [number, labeler] of labelers.entries())
    await submit(walk, labeler, work.id, { supplier: 'B', number: `${number}`, date: '2026-01-30', total: '1 EUR' });
  const { schema_id: schema } = await work.call('GET', `/artifacts/${work.id}`);
  const other = await work.call('POST', '/artifacts', { name: 'zwei.txt', text: 'Rechnung 2', schema_id: schema });
  await walk.until(async () => walk.assert.equal((await work.call('GET', `/artifacts/${other.id}`)).status, 'ready'));
  const plan = { name: 'Wöchentlich', cron: '0 6 * * 1', time_zone: 'Europe/Berlin', format: 'csv' };
  const ids = {
    jobId: (await work.call('POST', '/exports', { format: 'csv' })).id,
    scheduleId: (await work.call('POST', '/exports/scheduled', plan)).id,
  };
  const paths = DELIVERY.filter((path) => !path.endsWith('$artifactId'));
  await check(walk, session, paths, ids);
  await check(walk, session, ['/label/$artifactId'], { artifactId: other.id });
  await check(walk, session, ['/review/merge/$artifactId'], { artifactId: work.id });
}
