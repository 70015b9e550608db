/** Programs that verify signatures. They are those of `examples/`, which the tests of the service run. */
import javascript from '@examples/verify_webhook.js?raw';
import python from '@examples/verify_webhook.py?raw';

export type ProgramLanguage = 'python' | 'javascript';

const HEAD = { python: 'TOLERANCE_SECONDS', javascript: 'const TOLERANCE_SECONDS' };
const TAIL = { python: '\n\ndef main', javascript: '\nfunction main' };
const SOURCE = { python, javascript };
const IMPORTS = {
  python: [
    'import base64',
    'import binascii',
    'import hashlib',
    'import hmac',
    'import time',
    'from collections.abc import Mapping',
  ].join('\n'),
  javascript: 'const crypto = require("node:crypto");',
};

/** Returns the functions of the example, without what checks its test vectors. */
export function programOf(language: ProgramLanguage): string {
  const source = SOURCE[language];
  const body = source.slice(source.indexOf(HEAD[language]), source.indexOf(TAIL[language]));
  return `${IMPORTS[language]}\n\n${body.trim()}\n`;
}
