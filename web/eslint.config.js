import js from '@eslint/js';
import a11y from 'eslint-plugin-jsx-a11y';
import hooks from 'eslint-plugin-react-hooks';
import ts from 'typescript-eslint';

// A room may import kit and the rooms after it in this list; those in one line not each other.
const ROOMS = [
  ['delivery', 'billing', 'insight', 'intake'],
  ['workflow'],
  ['documents'],
  ['schemas'],
  ['identity'],
];

// Of another feature only its index; what is above a feature is written from `@/`.
const INSIDES = {
  regex: `^@/(${ROOMS.flat().join('|')})/[^/]+/.+`,
  message: 'Import another feature by its folder: `@/room/feature`.',
};
const UPWARD = {
  regex: '^\\.\\./\\.\\./',
  message: 'Write `@/…` for what is outside of the feature.',
};

function layer(room, above) {
  const rest = above.filter((name) => name !== room);
  const patterns = [INSIDES, UPWARD];
  const message = `${room} may import kit and the rooms below it only.`;
  if (rest.length > 0) patterns.push({ regex: `^@/(${rest.join('|')})(/|$)`, message });
  patterns.push({ regex: '^@/(routes|main)$', message: 'The registry imports features.' });
  return { files: [`src/${room}/**`], rules: { 'no-restricted-imports': ['error', { patterns }] } };
}

export default ts.config(
  { ignores: ['build/', 'dist/', 'src/kit/api/schema.d.ts', 'src/kit/i18n/resources.d.ts'] },
  js.configs.recommended,
  ts.configs.strictTypeChecked,
  a11y.flatConfigs.strict,
  hooks.configs.flat['recommended-latest'],
  {
    languageOptions: {
      parserOptions: {
        projectService: { allowDefaultProject: ['*.js', 'scripts/*.mjs'] },
        tsconfigRootDir: import.meta.dirname,
      },
    },
    linterOptions: { reportUnusedDisableDirectives: 'error' },
    rules: {
      'max-lines': ['error', { max: 300 }],
      'max-lines-per-function': ['error', { max: 60, skipComments: true, skipBlankLines: true }],
      'no-restricted-syntax': [
        'error',
        {
          selector: 'JSXAttribute[name.name="dangerouslySetInnerHTML"]',
          message: 'Text of documents must never become HTML.',
        },
      ],
      // Numbers are safe in templates.
      '@typescript-eslint/restrict-template-expressions': ['error', { allowNumber: true }],
      // A handler may start something asynchronous: errors are shown where the mutation is.
      '@typescript-eslint/no-misused-promises': [
        'error',
        { checksVoidReturn: { attributes: false } },
      ],
      '@typescript-eslint/no-confusing-void-expression': 'off',
      // The router's redirects are thrown.
      '@typescript-eslint/only-throw-error': 'off',
    },
  },
  { files: ['src/kit/**'], ...layer('kit', ROOMS.flat()), rules: layer('kit', ROOMS.flat()).rules },
  ...ROOMS.flatMap((row, index) =>
    row.map((room) => layer(room, ROOMS.slice(0, index + 1).flat())),
  ),
  { files: ['**/*.test.{ts,tsx}'], rules: { 'max-lines-per-function': 'off' } },
  { files: ['*.js', 'scripts/**'], ...ts.configs.disableTypeChecked },
);
