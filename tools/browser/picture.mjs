// Take screenshots of workbench pages, for developers who are changing these pages.
//
//   node picture.mjs BASE EMAIL PASSWORD FOLDER PATH…   (WIDTHS=320,1280 SCHEMES=light,dark LANGS=en,de)
//
// BASE is the URL of `npm run dev` or of the service. If EMAIL is empty (''), nobody signs in. The
// messages of the browser's console are printed.
import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { launch } from './launch.mjs';

const [base, email, password, folder, ...paths] = process.argv.slice(2);
const readList = (name, defaultValue) => (process.env[name] ?? defaultValue).split(',');
mkdirSync(folder, { recursive: true });
const browser = await launch();

async function signIn(page) {
  await page.goto(`${base}/sign-in`);
  await page.locator('input[type=email]').fill(email);
  await page.locator('input[type=password]').fill(password);
  await page.locator('button[type=submit]').click();
  await page.waitForURL((url) => !url.pathname.startsWith('/sign-in'));
}

for (const locale of readList('LANGS', 'en')) {
  for (const colorScheme of readList('SCHEMES', 'light,dark')) {
    const context = await browser.newContext({ locale, colorScheme, reducedMotion: 'reduce' });
    const page = await context.newPage();
    page.on('console', (message) => console.log(message.type(), message.text()));
    page.on('pageerror', (error) => console.log('pageerror', error.message));
    if (email) await signIn(page);
    for (const path of paths) {
      for (const width of readList('WIDTHS', '320,1280')) {
        await page.setViewportSize({ width: Number(width), height: 800 });
        await page.goto(`${base}${path}`, { waitUntil: 'networkidle' });
        const name = [path.replaceAll(/\W+/g, '_'), locale, colorScheme, width].join('-');
        await page.screenshot({ path: join(folder, `${name}.png`) });
      }
    }
    await context.close();
  }
}
await browser.close();
