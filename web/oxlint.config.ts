import { defineConfig, type DummyRuleMap, type OxlintOverride } from 'oxlint';

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

function layer(room: string, above: string[]): OxlintOverride {
  const rest = above.filter((name) => name !== room).join('|');
  const message = `${room} may import kit and the rooms below it only.`;
  const patterns = [
    INSIDES,
    UPWARD,
    ...(rest ? [{ regex: `^@/(${rest})(/|$)`, message }] : []),
    { regex: '^@/(routes|main)$', message: 'The registry imports features.' },
  ];
  return {
    files: [`src/${room}/**`],
    rules: { 'no-restricted-imports': ['error', { patterns }] },
  };
}

// The strict rules of these plugins that are not in the category of correctness.
const SCRIPT = [
  'no-case-declarations',
  'no-empty',
  'no-fallthrough',
  'no-prototype-builtins',
  'no-regex-spaces',
  'no-unexpected-multiline',
  'no-var',
  'prefer-const',
  'prefer-rest-params',
  'prefer-spread',
];
const TYPES = [
  'ban-ts-comment',
  'no-deprecated',
  'no-dynamic-delete',
  'no-empty-object-type',
  'no-explicit-any',
  'no-extraneous-class',
  'no-generated-empty-object-type',
  'no-invalid-void-type',
  'no-mixed-enums',
  'no-namespace',
  'no-non-null-asserted-nullish-coalescing',
  'no-non-null-assertion',
  'no-require-imports',
  'no-unnecessary-boolean-literal-compare',
  'no-unnecessary-condition',
  'no-unnecessary-template-expression',
  'no-unnecessary-type-arguments',
  'no-unnecessary-type-assertion',
  'no-unnecessary-type-constraint',
  'no-unnecessary-type-conversion',
  'no-unnecessary-type-parameters',
  'no-unsafe-argument',
  'no-unsafe-assignment',
  'no-unsafe-call',
  'no-unsafe-enum-assignment',
  'no-unsafe-enum-comparison',
  'no-unsafe-function-type',
  'no-unsafe-member-access',
  'no-unsafe-return',
  'prefer-literal-enum-member',
  'prefer-promise-reject-errors',
  'prefer-reduce-type-parameter',
  'prefer-return-this-type',
  'related-getter-setter-pairs',
  'require-await',
  'restrict-plus-operands',
  'return-await',
  'unified-signatures',
  'use-unknown-in-catch-callback-variable',
];

const UNTYPED = ['argument', 'assignment', 'call', 'member-access', 'return'];
const OFF: DummyRuleMap = Object.fromEntries(
  UNTYPED.map((name) => [`typescript/no-unsafe-${name}`, 'off']),
);

const strict = (prefix: string, names: string[]): DummyRuleMap =>
  Object.fromEntries(names.map((name) => [`${prefix}${name}`, 'error']));

export default defineConfig({
  plugins: ['typescript', 'import', 'react', 'jsx-a11y'],
  categories: { correctness: 'error' },
  ignorePatterns: ['build', 'dist', 'src/kit/api/schema.d.ts', 'src/kit/i18n/resources.d.ts'],
  options: { typeAware: true, typeCheck: true, reportUnusedDisableDirectives: 'error' },
  rules: {
    ...strict('', SCRIPT),
    ...strict('typescript/', TYPES),
    'import/no-cycle': 'error',
    'max-lines': ['error', { max: 300 }],
    'max-lines-per-function': ['error', { max: 60, skipComments: true, skipBlankLines: true }],
    'react/rules-of-hooks': 'error',
    // Text of documents must never become HTML.
    'react/no-danger': 'error',
    // Numbers are safe in templates.
    'typescript/restrict-template-expressions': ['error', { allowNumber: true }],
    // A handler may start something asynchronous: errors are shown where the mutation is.
    'typescript/no-misused-promises': ['error', { checksVoidReturn: { attributes: false } }],
    // Roles that have no element, and names that come from elsewhere, are in order.
    'jsx-a11y/prefer-tag-over-role': 'off',
    'jsx-a11y/control-has-associated-label': 'off',
    // What a page shows of today needs no second look.
    'react/purity': 'off',
    // Texts are sorted by their characters here.
    'typescript/require-array-sort-compare': 'off',
  },
  overrides: [
    layer('kit', ROOMS.flat()),
    ...ROOMS.flatMap((row, index) =>
      row.map((room) => layer(room, ROOMS.slice(0, index + 1).flat())),
    ),
    { files: ['**/*.test.{ts,tsx}'], rules: { 'max-lines-per-function': 'off' } },
    // They have no types.
    { files: ['scripts/**'], rules: OFF },
  ],
});
