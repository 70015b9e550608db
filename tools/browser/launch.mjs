// Start the Chromium that unpack.mjs has unpacked.
import { join } from 'node:path';
import { chromium } from 'playwright-core';
import { CHROMIUM } from './unpack.mjs';

export function launch() {
  return chromium.launch({
    executablePath: join(CHROMIUM, 'chromium'),
    // Tests may run as root, or in containers where Chromium cannot create its sandbox.
    args: ['--no-sandbox', '--disable-gpu', '--disable-dev-shm-usage'],
    env: {
      ...process.env,
      LD_LIBRARY_PATH: join(CHROMIUM, 'al2023', 'lib'),
      FONTCONFIG_PATH: join(CHROMIUM, 'fonts'),
    },
  });
}
