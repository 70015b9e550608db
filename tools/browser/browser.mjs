// Run a browser that a test controls: Chromium with playwright-core.
//
// Each line of standard input is a JSON object {do, ...}, where `do` is a key of COMMANDS. For each
// line, a line {answer} or {error} is written. The browser is closed when standard input ends.
import { createInterface } from 'node:readline';
import { runAxe } from './accessibility.mjs';
import { launch } from './launch.mjs';

const browser = await launch();

let page;
let blocked = [];
let requests = [];

// Collects the page's requests, blocked resources and script errors from now on.
async function watch() {
  blocked = [];
  requests = [];
  const session = await page.context().newCDPSession(page);
  await session.send('Audits.enable');
  session.on('Audits.issueAdded', ({ issue }) => {
    if (issue.code === 'ContentSecurityPolicyIssue') blocked.push(JSON.stringify(issue.details));
  });
  page.on('console', (message) => {
    if (message.text().includes('Content Security Policy')) blocked.push(message.text());
  });
  page.on('pageerror', (error) => blocked.push(String(error)));
  page.on('request', (request) => requests.push(request));
}

// Returns what the page shows, and the URLs and referers of its requests.
async function readState() {
  const requestHeaders = await Promise.all(requests.map((request) => request.allHeaders()));
  // The focus of `autofocus` is set when the page is first drawn.
  await page.evaluate(() => new Promise((done) => { requestAnimationFrame(() => requestAnimationFrame(done)); }));
  const content = await page.evaluate(() => ({
    language: document.documentElement.lang,
    heading: document.querySelector('h1')?.innerText,
    text: document.body.innerText,
    focused: { id: document.activeElement.id, role: document.activeElement.getAttribute('role') },
    outline: getComputedStyle(document.activeElement).outlineStyle,
    overflow: document.documentElement.scrollWidth - document.documentElement.clientWidth,
    problems: [...document.querySelectorAll('[role=alert] li')].map((item) => item.innerText),
  }));
  const referers = requestHeaders.map((headers) => headers.referer).filter(Boolean);
  const urls = requests.map((request) => request.url());
  return { ...content, title: await page.title(), url: page.url(), blocked, referers, urls };
}

// Calls `action`, which must open another page, and returns the state of that page. This waits for
// the event `load`, because the old page stays in the state `load` until the response is processed.
async function navigate(action) {
  const [response] = await Promise.all([
    page.waitForResponse((candidate) => candidate.request().isNavigationRequest()),
    page.waitForEvent('load'),
    action(),
  ]);
  return { ...(await readState()), status: response.status() };
}

const COMMANDS = {
  // Starts with a new browser profile.
  async begin({ locale, width = 1280, cookies = [] }) {
    await page?.context().close();
    const context = await browser.newContext({ locale, viewport: { width, height: 800 } });
    await context.addCookies(cookies);
    page = await context.newPage();
    await watch();
  },
  async open({ url }) {
    const response = await page.goto(url);
    return { ...(await readState()), status: response.status() };
  },
  async fill({ values }) {
    for (const [label, value] of Object.entries(values)) await page.getByLabel(label, { exact: true }).fill(value);
  },
  // Presses a key, in the element that has the focus.
  async press({ key }) {
    await page.keyboard.press(key);
    return readState();
  },
  // Follows the link that has the focus, and waits for the next page.
  async follow() {
    return navigate(() => page.keyboard.press('Enter'));
  },
  // Presses the form's button, and waits for the next page.
  async submit() {
    return navigate(() => page.locator('form button').click());
  },
  async check() {
    return runAxe(page);
  },
};

for await (const line of createInterface({ input: process.stdin })) {
  const { do: name, ...options } = JSON.parse(line);
  let result;
  try {
    result = { answer: (await COMMANDS[name](options)) ?? null };
  } catch (error) {
    result = { error: String(error.stack ?? error) };
  }
  process.stdout.write(`${JSON.stringify(result)}\n`);
}
await browser.close();
