import boundaries from 'eslint-plugin-boundaries';
import tseslint from 'typescript-eslint';

// The rooms of the house, and whom each may import. Imports point one way: cli/http → service → stations →
// store, mailbox, dialect → domain; stations never import each other (docs/architecture.md).
const rooms = {
  domain: [],
  runtime: ['domain'],
  config: ['domain', 'runtime'],
  dialect: ['domain'],
  mailbox: ['domain', 'runtime', 'dialect'],
  store: ['domain', 'runtime'],
  inbox: ['domain', 'runtime', 'store', 'mailbox'],
  pump: ['domain', 'runtime', 'store', 'mailbox', 'dialect'],
  delivery: ['domain', 'runtime', 'store'],
  backfill: ['domain', 'runtime', 'store', 'mailbox'],
  requests: ['domain', 'runtime', 'store', 'mailbox', 'dialect'],
  // A replay is tried out with what the pump decides by, and nothing else of it (below).
  actions: ['domain', 'runtime', 'store', 'mailbox', 'dialect', 'pump'],
  upkeep: ['domain', 'runtime', 'store', 'mailbox', 'dialect'],
  simulator: ['domain', 'runtime', 'mailbox', 'dialect'],
  service: [
    'domain',
    'runtime',
    'config',
    'dialect',
    'mailbox',
    'store',
    'inbox',
    'pump',
    'delivery',
    'backfill',
    'requests',
    'actions',
    'upkeep',
  ],
  http: ['domain', 'runtime', 'config', 'dialect', 'mailbox', 'store', 'actions', 'upkeep', 'service'],
  benchmark: [
    'domain',
    'runtime',
    'config',
    'dialect',
    'mailbox',
    'store',
    'inbox',
    'pump',
    'delivery',
    'backfill',
    'actions',
    'upkeep',
    'service',
  ],
  cli: [
    'benchmark',
    'domain',
    'runtime',
    'config',
    'dialect',
    'mailbox',
    'store',
    'inbox',
    'pump',
    'delivery',
    'backfill',
    'requests',
    'actions',
    'upkeep',
    'simulator',
    'service',
    'http',
  ],
};

export default tseslint.config(
  {
    ignores: ['node_modules/', 'dist/', 'coverage/', '.msgx/', 'src/console/', '*.config.ts', '*.config.js'],
  },
  {
    files: ['src/**/*.ts', 'test/**/*.ts', 'bench/**/*.ts', 'scripts/**/*.ts'],
    extends: [...tseslint.configs.strictTypeChecked],
    languageOptions: { parserOptions: { projectService: true, tsconfigRootDir: import.meta.dirname } },
    rules: {
      '@typescript-eslint/no-floating-promises': 'error',
      '@typescript-eslint/switch-exhaustiveness-check': 'error',
      '@typescript-eslint/no-explicit-any': 'error',
      '@typescript-eslint/restrict-template-expressions': [
        'error',
        { allowNumber: true, allowBoolean: true, allow: [{ name: ['Error', 'URL'], from: 'lib' }] },
      ],
      '@typescript-eslint/consistent-type-imports': 'error',
      '@typescript-eslint/no-confusing-void-expression': ['error', { ignoreArrowShorthand: true }],
      '@typescript-eslint/no-non-null-assertion': 'error',
      '@typescript-eslint/require-await': 'off',
    },
  },
  {
    files: ['src/**/*.ts'],
    plugins: { boundaries },
    settings: {
      'boundaries/elements': Object.keys(rooms).map((room) => ({ type: room, pattern: `src/${room}` })),
      'boundaries/include': ['src/**/*.ts'],
    },
    rules: {
      'boundaries/dependencies': [
        'error',
        {
          default: 'disallow',
          policies: Object.entries(rooms).map(([from, to]) => ({
            from: { element: { type: from } },
            allow: [from, ...to].map((type) => ({ to: { element: { type } } })),
          })),
        },
      ],
    },
  },
  {
    files: ['test/**/*.ts'],
    rules: { '@typescript-eslint/no-non-null-assertion': 'off' },
  },
  {
    files: ['src/actions/**/*.ts'],
    rules: {
      'no-restricted-imports': [
        'error',
        {
          patterns: [
            {
              group: ['../pump/*', '!../pump/world.ts', '!../pump/breather.ts'],
              message: 'An action judges as the pump does; it does not process.',
            },
          ],
        },
      ],
    },
  },
  {
    // The model and the checker judge the pipeline: they must not share its code, and so its errors.
    files: ['test/model/**/*.ts', 'test/torture/checker/**/*.ts'],
    ignores: ['**/*.test.ts'],
    rules: {
      'no-restricted-imports': [
        'error',
        {
          patterns: [
            { group: ['**/src/**'], message: 'The model and the checker share no code with the pipeline.' },
          ],
        },
      ],
    },
  },
);
