import { existsSync, readdirSync } from 'node:fs';
import path from 'node:path';
import type { Type } from '@nestjs/common';
import { ModulesContainer } from '@nestjs/core';
import { ChatsModule } from '@aps/chats';
import { RunControlModule } from '@aps/processes';
import { previewOf } from './testing/surface';

const APPS = path.join(__dirname, '../../apps');
const apps = readdirSync(APPS).filter((name) => existsSync(path.join(APPS, name, 'src/app.module.ts')));

/** The modules of an app. */
async function modulesOf(app: string): Promise<Set<unknown>> {
  const { AppModule } = (await import(path.join(APPS, app, 'src/app.module'))) as { AppModule: Type<unknown> };
  const graph = await previewOf(AppModule);
  const modules = new Set([...graph.get<ModulesContainer>(ModulesContainer).values()].map(({ metatype }) => metatype));
  await graph.close();
  return modules;
}

it('every app in which chats end, or questions do, has who tells that to the runs that wait for it', async () => {
  const ending: string[] = [];
  for (const app of apps) {
    const modules = await modulesOf(app);
    if (!modules.has(ChatsModule)) continue;
    ending.push(app);
    expect([app, modules.has(RunControlModule)]).toEqual([app, true]);
  }
  expect(ending).toEqual(expect.arrayContaining(['api-gateway', 'chat-worker', 'process-engine']));
});
