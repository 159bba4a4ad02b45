import { existsSync, readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import covered from '../dev/redis-specs.json';

const ROOT = path.join(__dirname, '../..');
const TALKS_TO_REDIS = /from '(?:ioredis|bullmq|@nestjs\/bullmq|@aps\/platform\/redis)'|Transport\.REDIS/;

describe('the specs that are also run on a real Redis', () => {
  it('cover each file that talks to Redis', () => {
    const sources = ['apps', 'libs']
      .flatMap((folder) => readdirSync(path.join(ROOT, folder), { recursive: true, encoding: 'utf8' }).map((file) => `${folder}/${file}`))
      .filter((file) => file.endsWith('.ts') && !/\.spec\.ts$|\/testing\/|-e2e\//.test(file));
    expect(sources.filter((file) => TALKS_TO_REDIS.test(readFileSync(path.join(ROOT, file), 'utf8'))).sort()).toEqual(
      Object.keys(covered).sort(),
    );
  });

  it('are there', () => {
    expect(
      Object.values(covered)
        .flat()
        .filter((file) => !existsSync(path.join(ROOT, file))),
    ).toEqual([]);
  });
});
