import { spawnSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';

const ROOT = path.join(__dirname, '../..');
const COMMITTED = path.join(ROOT, 'openapi/openapi.json');

/** What Redocly's recommended rules and Spectral's find in a document, errors and warnings alike. */
function findings(file: string): string[] {
  const { stdout, stderr, status } = spawnSync(process.execPath, [path.join(ROOT, 'tools/openapi/lint.mjs'), file], {
    encoding: 'utf8',
    maxBuffer: 1 << 26,
  });
  if (status !== 0) throw new Error(stderr);
  return JSON.parse(stdout) as string[];
}

describe('linters of OpenAPI documents', () => {
  it('find nothing in ours', () => {
    expect(findings(COMMITTED)).toEqual([]);
  });

  it('both find what is wrong with another', () => {
    const folder = mkdtempSync(path.join(tmpdir(), 'aps-lint-'));
    try {
      const { openapi, info } = JSON.parse(readFileSync(COMMITTED, 'utf8')) as Record<string, unknown>;
      const file = path.join(folder, 'openapi.json');
      writeFileSync(file, JSON.stringify({ openapi, info, paths: {} }));
      expect(findings(file)).toEqual([
        expect.stringMatching(/^redocly no-empty-servers/),
        expect.stringMatching(/^spectral oas3-api-servers/),
      ]);
    } finally {
      rmSync(folder, { recursive: true });
    }
  });
});
