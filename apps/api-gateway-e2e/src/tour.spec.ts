import { spawn } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { blocksOf, isAsDocumented, stepsOf } from '../../../tools/tour/blocks';
import { startPlatform, type Platform } from '../support';

const ROOT = path.resolve(__dirname, '../../..');
const README = readFileSync(path.join(ROOT, 'README.md'), 'utf8');
const MARK = '@@ end of step';

/** Runs the steps in one shell, as a reader would who pastes one after the other. @returns what each printed, errors included */
function run(scripts: string[], env: NodeJS.ProcessEnv): Promise<string[]> {
  const shell = spawn('bash', ['--noprofile', '--norc', '-s'], { cwd: ROOT, env, stdio: ['pipe', 'pipe', 'inherit'], detached: true });
  let printed = '';
  shell.stdout.on('data', (data: Buffer) => (printed += data.toString('utf8')));
  const late = setTimeout(() => process.kill(-(shell.pid ?? 0), 'SIGKILL'), 90_000);
  // Commands read from /dev/null, or they would read the script.
  shell.stdin.end(scripts.map((script) => `{\n${script}\n} </dev/null 2>&1\necho '${MARK}'\n`).join(''));
  return new Promise((resolve) =>
    shell.once('close', () => {
      clearTimeout(late);
      resolve(printed.split(`${MARK}\n`).slice(0, -1));
    }),
  );
}

/** Prints the end of the link that the mail folder holds, as soon as it does. Long lines are broken by `=`. */
const MAILED = `mailed() {
  until grep -qs verify/ "$MAIL_DIR"/*.eml; do sleep 0.1; done
  cat "$MAIL_DIR"/*.eml | node -p 'fs.readFileSync(0, "utf8").replace(/=\\n/g, "").match(/verify\\/(?:3D)?([\\w-]+)/)[1]'
}`;

describe('the tours of the documents', () => {
  let platform: Platform;
  let dir: string;

  beforeAll(async () => {
    dir = mkdtempSync(path.join(tmpdir(), 'aps-tour-'));
    platform = await startPlatform({
      apps: ['api-gateway', 'admin-api', 'billing-webhooks', 'inbox-intake', 'chat-worker', 'process-engine'],
      provider: true,
      env: {
        REGISTRATION_MODE: 'closed',
        BOOTSTRAP_ADMIN_EMAIL: 'you@example.com',
        EMAIL_PROOF: 'required',
        CREDITS_DEFAULT_NEW_ORG_PLAN: 'trial',
        // Whatever there is on the machine that isolates commands: what does is tried by specs of its own.
        SANDBOX_DRIVER: 'process',
      },
    });
    writeFileSync(
      path.join(dir, 'dev.json'),
      JSON.stringify({
        base_url: platform.url,
        database_url: platform.env.DATABASE_URL,
        polar: { api_url: platform.env.POLAR_API_URL },
        smtp: { host: '127.0.0.1', port: platform.smtpPort },
        ...platform.demo,
      }),
    );
  });
  afterAll(async () => {
    await platform?.stop();
    rmSync(dir, { recursive: true, force: true });
  });

  it.each(['README.md', 'docs/operations/billing.md'])('prints what it says: %s', async (document) => {
    const steps = stepsOf(readFileSync(path.join(ROOT, document), 'utf8'));
    expect(steps.length).toBeGreaterThan(5);
    const { OPENAI_API_KEY: _, ...env } = process.env;
    const outputs = await run(
      steps.map((step) => step.script),
      { ...env, APS_DATA_DIR: dir },
    );
    const differing = steps.flatMap(({ line, output }, i) => {
      const printed = outputs[i] ?? '(the shell did not get here within 90 seconds)';
      return output === null || isAsDocumented(printed, output) ? [] : [{ line, documented: output, printed }];
    });
    expect(differing).toEqual([]);
    expect(outputs).toHaveLength(steps.length);
  });

  it('lets the first person in where registration is closed', async () => {
    const block = blocksOf(README).find(({ info, text }) => info === 'sh' && text.includes('/api/auth/signup'))!;
    const script = block.text
      .replace('BASE=http://127.0.0.1:3000', `BASE=${platform.url}`)
      .replace('<the end of the mailed link>', `'"$(mailed)"'`);
    const [printed] = await run([`${MAILED}\n${script}`], { ...process.env, MAIL_DIR: platform.env.MAIL_DIR });
    expect(printed).toMatch(/"email":"colleague@example\.com"/);
    expect(printed).not.toContain('"code":');
  });
});
