import { readFileSync } from 'node:fs';
import nx from '@nx/eslint-plugin';
import tseslint from 'typescript-eslint';

/** Domains in their order: a domain may know the ones before it. */
const ORDER = JSON.parse(readFileSync(new URL('tools/dev/domain-order.json', import.meta.url), 'utf8'));

const depConstraints = [
  {
    sourceTag: 'type:app',
    onlyDependOnLibsWithTags: ['type:domain', 'type:guards', 'type:dtos', 'type:contracts', 'type:entities', 'type:platform'],
  },
  {
    sourceTag: 'type:tool',
    onlyDependOnLibsWithTags: ['type:app', 'type:domain', 'type:guards', 'type:dtos', 'type:contracts', 'type:entities', 'type:platform'],
  },
  {
    sourceTag: 'type:domain',
    onlyDependOnLibsWithTags: ['type:domain', 'type:entities', 'type:dtos', 'type:guards', 'type:contracts', 'type:platform'],
  },
  { sourceTag: 'type:guards', onlyDependOnLibsWithTags: ['type:entities', 'type:contracts', 'type:platform'] },
  { sourceTag: 'type:dtos', onlyDependOnLibsWithTags: ['type:platform', 'type:contracts'] },
  { sourceTag: 'type:entities', onlyDependOnLibsWithTags: [] },
  { sourceTag: 'type:contracts', onlyDependOnLibsWithTags: [] },
  { sourceTag: 'type:platform', onlyDependOnLibsWithTags: ['type:contracts'] },
  { sourceTag: 'type:testing', onlyDependOnLibsWithTags: ['type:guards', 'type:entities', 'type:platform'] },
  ...ORDER.map((domain, i) => ({
    sourceTag: `scope:${domain}`,
    onlyDependOnLibsWithTags: [
      'scope:contracts',
      'scope:entities',
      'scope:dtos',
      'scope:guards',
      'scope:platform',
      ...ORDER.slice(0, i).map((d) => `scope:${d}`),
    ],
  })),
];

const boundaries = (constraints, allow = []) => [
  'error',
  { allow, allowCircularSelfDependency: true, depConstraints: constraints, enforceBuildableLibDependency: false },
];
/** What specs have besides. */
const withTesting = ({ onlyDependOnLibsWithTags, ...rest }) => ({
  ...rest,
  onlyDependOnLibsWithTags: [...onlyDependOnLibsWithTags, 'type:testing', 'scope:testing'],
});

/** Specs and what furnishes them ask the database what they like, and more. */
const NO_SPECS = ['**/*.spec.ts', '**/testing/**/*.ts', 'apps/*-e2e/**/*.ts'];

const NEITHER_HTTP_NOR_JOBS = {
  group: ['**/http', '**/http/*', '!@aps/platform/http', '**/jobs', '**/jobs/*', '@aps/dtos'],
  message: 'Service code imports neither http/ nor jobs/.',
};
const MODULES_ALONE = {
  group: ['typeorm', 'pg', 'ioredis', 'undici', 'axios', 'node-fetch'],
  message: 'An app is a main and a module list.',
};
const BY_OPERATION = '@Operation of @aps/platform/http says what a handler answers and refuses.';
const SWAGGER = { group: ['@nestjs/swagger'], allowImportNames: ['ApiTags', 'ApiBody', 'ApiConsumes'], message: BY_OPERATION };
const HTTP_CODE = { group: ['@nestjs/common'], importNames: ['HttpCode'], message: BY_OPERATION };
const TESTING = { group: ['**/testing', '**/testing/*', '@aps/testing', '@aps/*/testing'], message: 'Testing rooms are for specs.' };

/** Who may not import what, beyond projects. */
const restrict = (files, ignores, ...patterns) => ({ files, ignores, rules: { 'no-restricted-imports': ['error', { patterns }] } });

/**
 * Addresses are compared by their canonical form alone, which `canonicalEmail` makes. A database folds case by other rules, and so does
 * who folds by hand: where two rules meet, one person is taken for another.
 */
const FOLDS_AN_ADDRESS = 'Compare addresses by canonicalEmail() of @aps/platform/email and the column email_canonical.';
const SQL_FOLDS = String.raw`/\b(?:lower|upper)\s*\(\s*(?:\w+\.)?(?:\w*email\w*|recipient|sender)|\bcitext\b|(?<![?&\w])(?:\w+\.)?email\s*(?:=|<>|!=|~|I?LIKE\b|IN\b)/i`;
const ADDRESS = '/(?:e?mail|address|recipient|sender)$/i';
const foldsAddresses = ['Literal', 'TemplateElement']
  .map((node) => `${node}[value${node === 'Literal' ? '' : '.raw'}=${SQL_FOLDS}]`)
  .concat(
    ['name', 'property.name'].map(
      (name) => `CallExpression[callee.property.name=/^to(?:Locale)?(?:Lower|Upper)Case$/][callee.object.${name}=${ADDRESS}]`,
    ),
  )
  .map((selector) => ({ selector, message: FOLDS_AN_ADDRESS }));

/** Where SQL is written. Everybody else says what they want of a repository. */
const SQL_FILES = ['**/*.{repository,queries,sql}.ts', 'libs/platform/src/database/**'];
const FROM_DATABASE = 'ImportDeclaration[source.value="@aps/platform/database"] > ImportSpecifier';
const RAW_SQL = 'SQL is written in *.repository.ts, *.queries.ts and *.sql.ts.';
const writesSql = [
  { selector: `${FROM_DATABASE}[imported.name=/^(statement|(Org)?Listing)$/]`, message: RAW_SQL },
  { selector: 'CallExpression[callee.property.name="query"][callee.object.property.name="manager"]', message: RAW_SQL },
];
const LETS_NULL_IN = {
  selector: 'CallExpression[callee.name="PartialType"][arguments.length=1]',
  message: 'Say { skipNullProperties: false }: else null passes where no field allows it.',
};
/** Made while a module is loaded, so that the check of all statements knows it. */
const MADE_LATE = {
  selector:
    ':matches(MethodDefinition, PropertyDefinition) :matches(CallExpression[callee.name="statement"], NewExpression[callee.name=/^(Org)?Listing$/])',
  message: 'A statement, or a list of them, is a constant of its file.',
};
/** What every turn asks, and what senders and the payment provider wait for. */
const BATCHED = [
  'libs/domains/chats/**/*.{repository,queries,sql}.ts',
  'libs/domains/inference/src/holds/hold.repository.ts',
  'libs/domains/billing/src/deliveries/deliveries.repository.ts',
  'libs/domains/inboxes/src/{intake,pipeline}/*.{repository,queries,sql}.ts',
  'libs/domains/knowledge/src/{sources,syncs/syncs}.{repository,sql}.ts',
  'libs/domains/processes/src/engine/{journal.repository,process-run.sql}.ts',
];
const TURNS_ALONE =
  'Batches, and answers ahead of their commit, are for turns and other runs, and for what comes in (ADR 0014, 0015, 0021).';
const batches = [
  { selector: `${FROM_DATABASE}[imported.name="batchStatement"]`, message: TURNS_ALONE },
  { selector: 'CallExpression[callee.property.name=/^batched(Ahead)?$/]', message: TURNS_ALONE },
];

/** Platform gives the parts of a statement that write its tables: no domain spells out a job, its version, or how long the relay waits. */
const WRITES_PLATFORM = ['Literal', 'TemplateElement'].map((node) => ({
  selector: String.raw`${node}[value${node === 'Literal' ? '' : '.raw'}=/\b(?:INTO|UPDATE|DELETE\s+FROM)\s+(?:outbox|events)\b/i]`,
  message: 'Jobs and events are written by Outbox, by insertJobs() and deleteJobs(), and by appendEvents() of platform.',
}));

/** Who writes which tables of chats. Everybody reads; the parts of statements that other rooms need are exported by these. */
const CHAT_ROOMS = {
  state: 'chats|messages',
  turns: 'turns|turn_steps|chat_compactions',
  delegation: 'child_waits',
  hitl: 'hitl_requests',
  tools: 'todos',
};
const writesForeign = (own) =>
  Object.entries(CHAT_ROOMS)
    .filter(([room]) => room !== own)
    .flatMap(([room, tables]) =>
      ['Literal', 'TemplateElement'].map((node) => ({
        selector: String.raw`${node}[value${node === 'Literal' ? '' : '.raw'}=/\b(?:INTO|UPDATE|DELETE\s+FROM)\s+(?:${tables})\b/]`,
        message: `The room ${room} alone writes this table.`,
      })),
    );

const forbid = (files, ignores, selectors) => ({
  files,
  ignores: [...ignores, ...NO_SPECS],
  rules: { 'no-restricted-syntax': ['error', ...selectors] },
});

export default tseslint.config(
  { ignores: ['dist/**', 'node_modules/**', '.nx/**', '.data/**', 'tmp/**', 'docs/**', 'coverage/**'] },
  ...tseslint.configs.recommendedTypeChecked.map((c) => ({ ...c, files: ['**/*.ts'] })),
  {
    files: ['**/*.ts'],
    plugins: { '@nx': nx },
    languageOptions: { parserOptions: { projectService: true, tsconfigRootDir: import.meta.dirname } },
    rules: {
      // Rooms of one project import each other by their public interfaces, like everybody else does.
      '@nx/enforce-module-boundaries': boundaries(depConstraints),
      '@typescript-eslint/no-explicit-any': 'error',
      '@typescript-eslint/no-floating-promises': 'error',
      '@typescript-eslint/consistent-type-imports': 'off',
      '@typescript-eslint/no-unused-vars': ['error', { argsIgnorePattern: '^_', varsIgnorePattern: '^_', caughtErrors: 'none' }],
      '@typescript-eslint/only-throw-error': 'error',
      // Says what a value is where the compiler would take anything; removing it hides a change of shape.
      '@typescript-eslint/no-unnecessary-type-assertion': 'off',
      'no-console': 'error',
      eqeqeq: ['error', 'always'],
      'no-restricted-properties': [
        'error',
        {
          object: 'process',
          property: 'env',
          message: 'Only platform/config reads the environment: declare a setting in a config section.',
        },
        { object: 'URL', property: 'canParse', message: 'That of Node 20 is wrong beyond ASCII: use urlOf() of @aps/platform/egress.' },
      ],
    },
  },
  {
    files: ['libs/platform/src/config/**/*.ts', 'tools/**/*.ts', '**/*.spec.ts', '**/testing/**/*.ts', 'apps/*-e2e/**/*.ts'],
    rules: { 'no-restricted-properties': 'off', 'no-console': 'off' },
  },
  {
    // A program of its own, which runs where nothing of ours is.
    files: ['libs/domains/environments/src/daemon/*.ts'],
    rules: { 'no-restricted-properties': 'off', 'no-console': 'off' },
  },
  {
    files: ['**/*.spec.ts', '**/testing/**/*.ts', 'apps/*-e2e/**/*.ts'],
    rules: {
      // Specs of platform need real tables, and end-to-end suites each other's helpers.
      '@nx/enforce-module-boundaries': 'off',
      '@typescript-eslint/no-unsafe-assignment': 'off',
      '@typescript-eslint/no-unsafe-member-access': 'off',
      '@typescript-eslint/no-unsafe-argument': 'off',
      '@typescript-eslint/no-unsafe-call': 'off',
      '@typescript-eslint/no-unsafe-return': 'off',
      '@typescript-eslint/require-await': 'off',
    },
  },
  {
    // Specs of a domain load that domain and those before it, like its source; the model server is a tool.
    files: ['libs/domains/**/*.spec.ts', 'libs/domains/**/testing/**/*.ts', 'libs/testing/**/*.ts'],
    rules: {
      '@nx/enforce-module-boundaries': boundaries(depConstraints.map(withTesting), [
        '/tools/mock-model/',
        '/tools/local-provider/',
        '/tools/demo-tools/',
        '/testing/s3-server$',
      ]),
    },
  },
  forbid(['**/*.ts'], ['libs/platform/src/email/**'], [...foldsAddresses, ...WRITES_PLATFORM, ...writesSql, ...batches, LETS_NULL_IN]),
  forbid(SQL_FILES, [...BATCHED, 'libs/platform/src/**'], [...foldsAddresses, ...WRITES_PLATFORM, MADE_LATE, ...batches]),
  forbid(
    ['libs/platform/src/**/*.{repository,queries,sql}.ts'],
    ['libs/platform/src/{database,runs}/**'],
    [...foldsAddresses, MADE_LATE, ...batches],
  ),
  forbid(BATCHED, [], [...foldsAddresses, ...WRITES_PLATFORM, MADE_LATE, ...writesForeign(null)]),
  ...Object.keys(CHAT_ROOMS).map((room) =>
    forbid(
      [`libs/domains/chats/src/${room}/**/*.{repository,queries,sql}.ts`],
      [],
      [...foldsAddresses, ...WRITES_PLATFORM, MADE_LATE, ...writesForeign(room)],
    ),
  ),
  forbid(['libs/platform/src/{database,runs}/**/*.ts'], ['libs/platform/src/database/{listing,tables}.ts'], [...foldsAddresses, MADE_LATE]),
  // Tools stand outside of the house and look at all of it.
  { files: ['tools/**/*.ts'], rules: { '@nx/enforce-module-boundaries': 'off' } },
  restrict(['libs/**/*.ts'], NO_SPECS, TESTING),
  // Services know neither their controllers nor their processors, and no wire class.
  restrict(['libs/domains/*/src/**/*.ts'], ['libs/domains/*/src/{http,jobs}/**', ...NO_SPECS], NEITHER_HTTP_NOR_JOBS, TESTING),
  // An operation is declared in one way; the rest of it follows.
  restrict(['libs/domains/*/src/http/**/*.ts'], NO_SPECS, SWAGGER, HTTP_CODE, TESTING),
  // One guarded client for everything outbound.
  restrict(['apps/**/*.ts'], [], MODULES_ALONE),
  restrict(['apps/**/*.ts'], NO_SPECS, MODULES_ALONE, TESTING),
);
