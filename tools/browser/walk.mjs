// What walks use: pages with a session, calls of the API, accessibility checks, waiting.
import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { checkAccessibility } from './accessibility.mjs';

// Less while walks are written: a failure is known earlier.
const SECONDS = Number(process.env.WALK_SECONDS ?? 60);
const LOCALES = { en: 'en-US', de: 'de-DE' };

export class Walk {
  #browser;
  #contexts = [];
  #blocked = [];
  #sessions = new Map();

  constructor({ browser, base, password, mail }) {
    this.#browser = browser;
    this.base = base;
    this.password = password;
    this.mail = mail;
    this.assert = assert;
  }

  // The session of a demo user: viewer, labeler, labeler2, reviewer, admin or owner.
  async session(role) {
    const body = { email: `${role}@demo.example`, password: this.password };
    if (!this.#sessions.has(role)) this.#sessions.set(role, await this.call(null, 'POST', '/auth/login', body));
    return this.#sessions.get(role);
  }

  // A new organization, with the session of its owner, whose password is `password`.
  async organization(name = 'Walk') {
    const email = `${randomUUID()}@example.com`;
    const body = { email, password: this.password, name: 'Olga Owner', organization_name: name };
    return this.call(null, 'POST', '/auth/register', body);
  }

  // A new member of the organization of `owner`, with a session and the same password.
  async member(owner, role, name = 'Mia Member') {
    const email = `${randomUUID()}@example.com`;
    const slug = owner.organizations[0].slug;
    await this.call(owner, 'POST', `/organizations/${slug}/invitations`, { email, role });
    const link = await this.findLink(email, '/accept-invitation');
    const token = new URL(link).searchParams.get('token');
    return this.call(null, 'POST', `/auth/invitations/${token}/accept`, { name, password: this.password });
  }

  // The link to a page of the service in the newest email to an address, which a job writes.
  async findLink(email, path) {
    return this.until(async () => {
      const files = (await readdir(this.mail)).sort();
      const texts = await Promise.all(files.map((file) => readFile(join(this.mail, file), 'utf8')));
      const own = texts.filter((text) => text.includes(`To: ${email}`)).map(decodeEmail);
      // The plain text comes before the HTML; names of files begin with the time.
      const links = own.map((text) => {
        const found = text.match(/https?:\/\/\S+/g) ?? [];
        return found.find((one) => URL.parse(one)?.pathname === path);
      });
      const link = links.findLast((found) => found !== undefined);
      assert.ok(link, `no email to ${email} leads to ${path}`);
      return link;
    });
  }

  // Calls the API, and returns `data` of the answer. `session` is one of those above, a role, or null.
  async call(session, method, path, body, headers = {}) {
    const from = typeof session === 'string' ? await this.session(session) : session;
    const own = from
      ? { Authorization: `Bearer ${from.access_token}`, 'X-Org-Slug': from.organizations[0].slug }
      : {};
    const isForm = body instanceof FormData;
    const response = await fetch(`${this.base}/api/v1${path}`, {
      method,
      headers: { ...own, ...(body && !isForm ? { 'Content-Type': 'application/json' } : {}), ...headers },
      body: body && !isForm ? JSON.stringify(body) : body,
    });
    const text = await response.text();
    if (!response.ok) throw new Error(`${method} ${path}: ${response.status} ${text}`);
    return text ? JSON.parse(text).data : undefined;
  }

  // A page of a new browser profile at `path`, which begins below the organization if somebody is
  // signed in. `as` is a role of the demo organization or a session; `scripts` turns JavaScript off.
  async page(path = '/', { as, language = 'en', scheme = 'light', width = 1280, height = 800, scripts = true } = {}) {
    const session = typeof as === 'string' ? await this.session(as) : as;
    const context = await this.#browser.newContext({
      locale: LOCALES[language],
      colorScheme: scheme,
      viewport: { width, height },
      reducedMotion: 'reduce',
      javaScriptEnabled: scripts,
    });
    context.setDefaultTimeout(SECONDS * 1000);
    this.#contexts.push(context);
    if (session) await context.addInitScript(storeSession, session);
    const page = await context.newPage();
    await this.#watch(page);
    const isOutside = path.startsWith('/o/') || path.startsWith('/workbench/');
    const prefix = session && !isOutside ? `/o/${session.organizations[0].slug}` : '';
    await page.goto(`${this.base}${prefix}${path}`);
    return page;
  }

  // Collects what the policy blocked, and errors of scripts.
  async #watch(page) {
    const devtools = await page.context().newCDPSession(page);
    await devtools.send('Audits.enable');
    devtools.on('Audits.issueAdded', ({ issue }) => {
      if (issue.code === 'ContentSecurityPolicyIssue') this.#blocked.push(JSON.stringify(issue.details));
    });
    page.on('pageerror', (error) => this.#blocked.push(String(error.stack ?? error)));
    page.on('console', (message) => {
      // Answers that are no success are no mistakes of the page.
      const isAnswer = message.text().startsWith('Failed to load resource');
      if (message.type() === 'error' && !isAnswer) this.#blocked.push(message.text());
    });
  }

  // A script failed, as the walk wanted.
  assertFailed(text) {
    assert.ok(this.#blocked.some((one) => one.includes(text)), `nothing failed with ${text}`);
    this.#blocked = this.#blocked.filter((one) => !one.includes(text));
  }

  // Nothing was blocked by the policy of the pages, and no script failed.
  assertNothingBlocked() {
    assert.deepEqual(this.#blocked, []);
  }

  // Repeats an assertion until it holds, more and more rarely: asking keeps the service from its work.
  async until(check) {
    const end = Date.now() + SECONDS * 1000;
    for (let pause = 30; ; pause = Math.min(pause * 1.5, 300)) {
      try {
        return await check();
      } catch (error) {
        if (Date.now() > end) throw error;
        await new Promise((resolve) => setTimeout(resolve, pause));
      }
    }
  }

  // Fails on violations of WCAG 2.2 AA, and on content that is cut off at the side.
  async checkAccessibility(page) {
    await checkAccessibility(page);
  }

  // What the open pages show, for the message of a failure; their pictures are in `folder`.
  async describe(folder, name) {
    const shown = [];
    for (const page of this.#contexts.flatMap((context) => context.pages())) {
      const path = join(folder, `${name}-${shown.length}.png`);
      await page.screenshot({ path }).catch(() => undefined);
      const text = await page.locator('body').innerText({ timeout: 1000 }).catch(() => 'closed');
      shown.push(`${page.url()} (${path})\n${text.slice(0, 1500)}`);
    }
    return [...shown, ...this.#blocked].join('\n---\n');
  }

  async close() {
    await Promise.all(this.#contexts.map((context) => context.close()));
  }
}

// Quoted-printable text, as far as links need it.
function decodeEmail(text) {
  return text.replaceAll(/=\r?\n/g, '').replaceAll('=3D', '=');
}

// Runs in the page: the session as the workbench keeps it, once, so that it can be ended.
function storeSession({ access_token: token, user, organizations }) {
  if (sessionStorage.getItem('given') !== null) return;
  sessionStorage.setItem('given', 'yes');
  sessionStorage.setItem('session', JSON.stringify({ token, user, organizations }));
}
