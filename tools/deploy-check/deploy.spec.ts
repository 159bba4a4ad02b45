import { spawnSync } from 'node:child_process';
import { chmodSync, existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { at } from './files';

/** Plays a cluster: answers what a command of kubectl asks from the folder of its files, and notes the command. */
const KUBECTL = `#!/bin/sh
cd "$(dirname "$0")"
echo "$*" >> calls
case "$*" in
  *'get job migrate'*)
    conditions="$(sed -n "$(grep -c 'get job' calls)p;\\$p" conditions | head -n 1)"
    case "$conditions" in
      away) exit 1 ;;
      gone) ;;
      *) echo "migrate $conditions" ;;
    esac ;;
  *'get pods'*) cat waiting ;;
  *'logs '*) echo 'what the migration said' ;;
esac
`;

describe('k8s/deploy.sh', () => {
  let dir: string;
  beforeEach(() => {
    dir = mkdtempSync(path.join(tmpdir(), 'aps-deploy-'));
    for (const [name, text] of Object.entries({ kubectl: KUBECTL, sleep: '#!/bin/sh\n' })) {
      writeFileSync(path.join(dir, name), text);
      chmodSync(path.join(dir, name), 0o755);
    }
  });
  afterEach(() => rmSync(dir, { recursive: true, force: true }));

  /** @param conditions the types of the job's true conditions, each time it is asked, or that it is gone, or the cluster away; the last one for good */
  function deploy(conditions: string[], waiting = '') {
    writeFileSync(path.join(dir, 'conditions'), `${conditions.join('\n')}\n`);
    writeFileSync(path.join(dir, 'waiting'), waiting);
    const { status, stderr } = spawnSync(at('k8s/deploy.sh'), ['production'], {
      env: { PATH: `${dir}:${process.env.PATH}` },
      encoding: 'utf8',
      timeout: 25_000,
    });
    const calls = existsSync(path.join(dir, 'calls')) ? readFileSync(path.join(dir, 'calls'), 'utf8').trim().split('\n') : [];
    return { status, stderr, calls, applied: calls.filter((call) => call.includes('apply ')), last: calls.at(-1) };
  }

  it('migrates, and then rolls out the apps and waits for them', () => {
    const { status, applied, last } = deploy(['', '', 'SuccessCriteriaMet Complete']);
    expect([status, applied]).toEqual([0, ['apply -k migrate', 'apply -k .']]);
    expect(last).toContain('rollout status deployment -l agent-platform/kind=app');
  });

  it('stops as soon as the migration has failed, says what it said and leaves the apps alone', () => {
    expect(deploy(['', 'FailureTarget', 'FailureTarget Failed'])).toMatchObject({
      status: 1,
      applied: ['apply -k migrate'],
      stderr: expect.stringMatching(/^The migration failed\.[\s\S]*what the migration said/),
    });
  });

  it('stops when the migration is gone, or nobody says what has become of it, and bears a moment of that', () => {
    expect(deploy(['', 'away', 'away', 'Complete']).status).toBe(0);
    rmSync(path.join(dir, 'calls'));
    for (const [said, why] of [
      ['gone', 'The migration is gone'],
      ['away', 'The cluster does not answer'],
    ]) {
      const { calls, ...ended } = deploy(['', said]);
      expect(ended).toMatchObject({ status: 1, applied: ['apply -k migrate'], stderr: expect.stringContaining(why) });
      // A cluster that does not even refuse is waited for as long, and asked for nothing else meanwhile.
      expect(calls.filter((call) => call.includes('get pods'))).toHaveLength(1);
      for (const call of calls) if (/ (get|describe|logs) /.test(call)) expect(call).toContain('--request-timeout=20s');
      rmSync(path.join(dir, 'calls'));
    }
  });

  it.each(['ImagePullBackOff', 'CreateContainerConfigError'])('stops when the migration cannot begin: %s', (reason) => {
    expect(deploy([''], reason)).toMatchObject({
      status: 1,
      applied: ['apply -k migrate'],
      stderr: expect.stringContaining('does not start'),
    });
  });
});
