// The object that each walk gets: it opens pages, calls the API, checks accessibility and waits.
import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { checkAccessibility } from './accessibility.mjs';

// The time limit in seconds of a step. While you write walks, a lower limit shows failures earlier.
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

  // Returns the session of a demo user, for example labeler or labeler-2.
  async session(user) {
    const body = { email: `${user}@demo.example`, password: this.password };
    if (!this.#sessions.has(user)) this.#sessions.set(user, await this.call(null, 'POST', '/auth/login', body));
    return this.#sessions.get(user);
  }

  // Creates an organization, and returns the session of its owner, whose password is `password`.
  async organization(name = 'Walk') {
    const email = `${randomUUID()}@example.com`;
    const body = { email, password: this.password, name: 'Olga Owner', organization_name: name };
    return this.call(null, 'POST', '/auth/register', body);
  }

  // Adds a member with the password `password` to the owner's organization; returns the session.
  async member(owner, role, name = 'Mia Member') {
    const email = `${randomUUID()}@example.com`;
    const slug = owner.organizations[0].slug;
    await this.call(owner, 'POST', `/organizations/${slug}/invitations`, { email, role });
    const link = await this.findLink(email, '/accept-invitation');
    const token = new URL(link).searchParams.get('token');
    return this.call(null, 'POST', `/auth/invitations/${token}/accept`, { name, password: this.password });
  }

  // Waits for an email to an address with a link to this path, and returns the newest such link.
  async findLink(email, path) {
    return this.until(async () => {
      const files = (await readdir(this.mail)).sort();
      const texts = await Promise.all(files.map((file) => readFile(join(this.mail, file), 'utf8')));
      const emails = texts.filter((text) => text.includes(`To: ${email}`)).map(decodeEmail);
      // The plain text comes before the HTML. File names begin with the time.
      const links = emails.map((text) => {
        const urls = text.match(/https?:\/\/\S+/g) ?? [];
        return urls.find((url) => URL.parse(url)?.pathname === path);
      });
      const link = links.findLast((url) => url !== undefined);
      assert.ok(link, `no email to ${email} has a link to ${path}`);
      return link;
    });
  }

  // Calls the API, and returns `data` of the response. `user` is a session, a demo user, or null.
  async call(user, method, path, body, headers = {}) {
    const session = typeof user === 'string' ? await this.session(user) : user;
    const credentials = session
      ? { Authorization: `Bearer ${session.access_token}`, 'X-Org-Slug': session.organizations[0].slug }
      : {};
    const isForm = body instanceof FormData;
    const response = await fetch(`${this.base}/api/v1${path}`, {
      method,
      headers: { ...credentials, ...(body && !isForm ? { 'Content-Type': 'application/json' } : {}), ...headers },
      body: body && !isForm ? JSON.stringify(body) : body,
    });
    const text = await response.text();
    if (!response.ok) throw new Error(`${method} ${path}: ${response.status} ${text}`);
    return text ? JSON.parse(text).data : undefined;
  }

  // Opens `path` in a new browser profile, and returns the page. `as` is a session or a demo user.
  // With it, paths except /o/ and /workbench/ are below the session's organization.
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
    const isAbsolute = path.startsWith('/o/') || path.startsWith('/workbench/');
    const prefix = session && !isAbsolute ? `/o/${session.organizations[0].slug}` : '';
    await page.goto(`${this.base}${prefix}${path}`);
    return page;
  }

  // Collects what the Content Security Policy blocks on a page, and the errors of its scripts.
  async #watch(page) {
    const devtools = await page.context().newCDPSession(page);
    await devtools.send('Audits.enable');
    devtools.on('Audits.issueAdded', ({ issue }) => {
      if (issue.code === 'ContentSecurityPolicyIssue') this.#blocked.push(JSON.stringify(issue.details));
    });
    page.on('pageerror', (error) => this.#blocked.push(String(error.stack ?? error)));
    page.on('console', (message) => {
      // An error response is not an error of the page.
      const isErrorResponse = message.text().startsWith('Failed to load resource');
      if (message.type() === 'error' && !isErrorResponse) this.#blocked.push(message.text());
    });
  }

  // Asserts that a collected message contains `text`, and forgets all such messages.
  assertFailed(text) {
    assert.ok(this.#blocked.some((message) => message.includes(text)), `nothing failed with ${text}`);
    this.#blocked = this.#blocked.filter((message) => !message.includes(text));
  }

  // Asserts that the Content Security Policy blocked nothing, and that no script failed.
  assertNothingBlocked() {
    assert.deepEqual(this.#blocked, []);
  }

  // Repeats `check` until it does not throw, at most for SECONDS, and returns its result. The pauses
  // become longer, because requests take processor time from the service.
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

  // Throws an error if a page violates WCAG 2.2 AA, or is wider than the window.
  async checkAccessibility(page) {
    await checkAccessibility(page);
  }

  // Returns the texts of the open pages and the collected messages. Saves screenshots in `folder`.
  async describe(folder, name) {
    const descriptions = [];
    for (const page of this.#contexts.flatMap((context) => context.pages())) {
      const path = join(folder, `${name}-${descriptions.length}.png`);
      await page.screenshot({ path }).catch(() => undefined);
      const text = await page.locator('body').innerText({ timeout: 1000 }).catch(() => 'closed');
      descriptions.push(`${page.url()} (${path})\n${text.slice(0, 1500)}`);
    }
    return [...descriptions, ...this.#blocked].join('\n---\n');
  }

  async close() {
    await Promise.all(this.#contexts.map((context) => context.close()));
  }
}

// Decodes the parts of quoted-printable text that links can contain.
function decodeEmail(text) {
  return text.replaceAll(/=\r?\n/g, '').replaceAll('=3D', '=');
}

// Runs in the page: stores the session as the workbench does, but only once, so that it can end.
function storeSession({ access_token: token, user, organizations }) {
  if (sessionStorage.getItem('stored') !== null) return;
  sessionStorage.setItem('stored', 'yes');
  sessionStorage.setItem('session', JSON.stringify({ token, user, organizations }));
}
