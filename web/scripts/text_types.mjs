// Writes the types of all texts: a namespace is the folder that holds texts.en.json.
import { globSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';

const SOURCES = join(import.meta.dirname, '..', 'src');
const namespaces = globSync('**/texts.en.json', { cwd: SOURCES })
  .map((file) => dirname(file))
  .sort();
const members = namespaces.map(
  (name) => `    '${name}': typeof import('../../${name}/texts.en.json');`,
);
writeFileSync(
  join(SOURCES, 'kit', 'i18n', 'resources.d.ts'),
  `// Written by scripts/text_types.mjs.\nexport interface Resources {\n${members.join('\n').replaceAll(/^ {4}/gm, '  ')}\n}\n`,
);
