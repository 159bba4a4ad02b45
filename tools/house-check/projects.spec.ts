import { execFileSync } from 'node:child_process';
import { readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';

const ROOT = path.join(__dirname, '../..');

interface Project {
  name: string;
  tags: string[];
  targets?: Record<string, unknown>;
}

const projects = ['apps', 'libs', 'tools'].flatMap((folder) =>
  readdirSync(path.join(ROOT, folder), { recursive: true, encoding: 'utf8' })
    .filter((file) => path.basename(file) === 'project.json')
    .map((file) => path.join(folder, path.dirname(file))),
);
const projectOf = (folder: string) => JSON.parse(readFileSync(path.join(ROOT, folder, 'project.json'), 'utf8')) as Project;

describe('the workspace', () => {
  it.each(projects)('%s builds, lints and tests by Nx', (folder) => {
    const { targets } = projectOf(folder);
    // End-to-end tests run what others have built.
    expect(Object.keys(targets ?? {}).sort()).toEqual(folder.endsWith('-e2e') ? ['lint', 'test'] : ['build', 'lint', 'test']);
  });

  it('has a project for every domain, tagged by its folder', () => {
    const domains = readdirSync(path.join(ROOT, 'libs/domains'));
    expect(
      projects
        .filter((folder) => folder.startsWith('libs/domains/'))
        .map((folder) => path.basename(folder))
        .sort(),
    ).toEqual(domains.sort());
    for (const domain of domains) {
      expect(projectOf(`libs/domains/${domain}`)).toMatchObject({ name: domain, tags: ['type:domain', `scope:${domain}`] });
    }
  });

  it('has a place for every domain in the order of domains, without which it might import any', () => {
    const order = JSON.parse(readFileSync(path.join(ROOT, 'tools/dev/domain-order.json'), 'utf8')) as string[];
    const domains = readdirSync(path.join(ROOT, 'libs/domains'));
    expect(domains.filter((domain) => !order.includes(domain))).toEqual([]);
    const told = /The order of the domains: ([^.]+)\./.exec(readFileSync(path.join(ROOT, 'docs/architecture.md'), 'utf8'))![1];
    expect(told.split(/\s*<\s*/)).toEqual(order);
  });

  it('exports from a domain its modules, and what somebody else imports', () => {
    const sources = ['apps', 'libs', 'tools'].flatMap((folder) =>
      readdirSync(path.join(ROOT, folder), { recursive: true, encoding: 'utf8' })
        .filter((file) => file.endsWith('.ts'))
        .map((file) => ({ file: path.join(folder, file), text: readFileSync(path.join(ROOT, folder, file), 'utf8') })),
    );
    const listed = (text: string) =>
      [...text.matchAll(/^(?:import|export) (?:type )?\{([^}]*)\} from '([^']+)';/gm)].map(([, names, from]) => ({
        names: names.match(/\b(?!type )\w+/g)!,
        from,
      }));
    for (const domain of readdirSync(path.join(ROOT, 'libs/domains'))) {
      const { text } = sources.find(({ file }) => file === `libs/domains/${domain}/src/index.ts`)!;
      const others = sources.filter(({ file }) => !file.startsWith(`libs/domains/${domain}/`)).flatMap((source) => listed(source.text));
      const wanted = new Set(others.flatMap(({ names, from }) => (from === `@aps/${domain}` ? names : [])));
      const unwanted = listed(text).flatMap(({ names }) => names.filter((name) => !wanted.has(name) && !name.endsWith('Module')));
      expect([domain, unwanted, text.includes('export *')]).toEqual([domain, [], false]);
    }
  });

  it('plans a domain and those above it when one of its files has changed', () => {
    const planned = execFileSync(
      'node_modules/.bin/nx',
      ['show', 'projects', '--affected', '-t', 'lint', '--files=libs/domains/chats/src/turns/turn.kind.ts'],
      {
        cwd: ROOT,
        env: { ...process.env, NX_DAEMON: 'false' },
        encoding: 'utf8',
      },
    );
    const names = planned.trim().split('\n');
    expect(names).toEqual(expect.arrayContaining(['chats', 'chat-worker', 'api-gateway']));
    expect(names).not.toContain('agents');
  });
});
