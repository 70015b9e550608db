// Unpack Chromium, its fonts and the NSS libraries that it needs into the folder CHROMIUM.
//
// The npm package @sparticuz/chromium contains all of them. Nothing is downloaded, and only the
// machine's C library is needed. launch.mjs starts Chromium from this folder.
import { mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { inflate } from '@sparticuz/chromium';

const PACKAGES = join(import.meta.dirname, 'node_modules');
export const CHROMIUM = join(PACKAGES, '.chromium');
const FONTS = `<?xml version="1.0"?>
<fontconfig>
  <dir>${join(CHROMIUM, 'fonts')}</dir>
  <cachedir>${join(CHROMIUM, 'fonts-cache')}</cachedir>
</fontconfig>
`;
const ARCHIVES = ['chromium.br', 'fonts.tar.br', 'al2023.tar.br'];

if (process.argv[1] === import.meta.filename) {
  rmSync(CHROMIUM, { recursive: true, force: true });
  mkdirSync(CHROMIUM);
  // The package unpacks the archives into the folder for temporary files.
  process.env.TMPDIR = CHROMIUM;
  const folder = join(PACKAGES, '@sparticuz', 'chromium', 'bin');
  await Promise.all(ARCHIVES.map((name) => inflate(join(folder, name))));
  // The package's own configuration has paths of another machine, so no text would be drawn.
  writeFileSync(join(CHROMIUM, 'fonts', 'fonts.conf'), FONTS);
}
