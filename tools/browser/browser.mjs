// A browser that a test drives: Chromium through playwright-core, told what to do line by line.
//
// Standard input: one JSON object per line, {do, ...}; standard output: one line {answer} or
// {error} for each. The browser ends with its standard input. See COMMANDS.
import { createInterface } from 'node:readline';
import { runAxe } from './accessibility.mjs';
import { launch } from './launch.mjs';

const browser = await launch();

let page;
let blocked = [];
let requests = [];

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

async function state() {
  const sent = await Promise.all(requests.map((request) => request.allHeaders()));
  // The focus of `autofocus` is set when the page is first drawn.
  await page.evaluate(() => new Promise((done) => { requestAnimationFrame(() => requestAnimationFrame(done)); }));
  const shown = await page.evaluate(() => ({
    language: document.documentElement.lang,
    heading: document.querySelector('h1')?.innerText,
    text: document.body.innerText,
    focused: { id: document.activeElement.id, role: document.activeElement.getAttribute('role') },
    outline: getComputedStyle(document.activeElement).outlineStyle,
    overflow: document.documentElement.scrollWidth - document.documentElement.clientWidth,
    problems: [...document.querySelectorAll('[role=alert] li')].map((item) => item.innerText),
  }));
  const referers = sent.map((headers) => headers.referer).filter(Boolean);
  const urls = requests.map((request) => request.url());
  return { ...shown, title: await page.title(), url: page.url(), blocked, referers, urls };
}

// Does what leads to another page. The event is awaited, not the state: until the response is
// processed, the old page is in the state `load`.
async function navigate(action) {
  const [response] = await Promise.all([
    page.waitForResponse((found) => found.request().isNavigationRequest()),
    page.waitForEvent('load'),
    action(),
  ]);
  return { ...(await state()), status: response.status() };
}

const COMMANDS = {
  // A new profile: {locale, width, cookies}.
  async begin({ locale, width = 1280, cookies = [] }) {
    await page?.context().close();
    const context = await browser.newContext({ locale, viewport: { width, height: 800 } });
    await context.addCookies(cookies);
    page = await context.newPage();
    await watch();
  },
  async open({ url }) {
    const response = await page.goto(url);
    return { ...(await state()), status: response.status() };
  },
  async fill({ values }) {
    for (const [label, value] of Object.entries(values)) await page.getByLabel(label, { exact: true }).fill(value);
  },
  // Presses a key, in the element that has the focus.
  async press({ key }) {
    await page.keyboard.press(key);
    return state();
  },
  // Follows the link that has the focus, and waits for the next page.
  async follow() {
    return navigate(() => page.keyboard.press('Enter'));
  },
  // Presses the form's button and waits for the next page.
  async submit() {
    return navigate(() => page.locator('form button').click());
  },
  async check() {
    return runAxe(page);
  },
};

for await (const line of createInterface({ input: process.stdin })) {
  const { do: name, ...given } = JSON.parse(line);
  let said;
  try {
    said = { answer: (await COMMANDS[name](given)) ?? null };
  } catch (error) {
    said = { error: String(error.stack ?? error) };
  }
  process.stdout.write(`${JSON.stringify(said)}\n`);
}
await browser.close();
