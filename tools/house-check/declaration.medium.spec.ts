import { Controller, Get, Module } from '@nestjs/common';
import { ENTITIES, MIGRATIONS } from '@aps/entities';
import { GuardsModule, Public } from '@aps/guards';
import { PlatformModule } from '@aps/platform/runtime';
import { createTestApp, createTestDatabase, type TestApp, type TestDatabase } from '@aps/platform/testing';
import { routesOf } from './testing/surface';

@Controller('forgetful')
class ForgetfulController {
  @Get('declared')
  @Public()
  declared(): object {
    return { open: true };
  }

  @Get('forgotten')
  forgotten(): object {
    return { secret: 'canary' };
  }
}

@Module({ controllers: [ForgetfulController] })
class ForgetfulModule {}

let database: TestDatabase;
let app: TestApp;

beforeAll(async () => {
  const schema = { entities: ENTITIES, migrations: MIGRATIONS };
  database = await createTestDatabase(schema);
  app = await createTestApp([PlatformModule.forRoot('test', schema), GuardsModule.forRoot(), ForgetfulModule]);
});
afterAll(async () => {
  await app?.close();
  await database?.drop();
});

it('a handler without a declaration is found by the inventory', async () => {
  const found = await routesOf('api-gateway', ForgetfulModule);
  expect(found.map((r) => [r.handler, r.access?.tier])).toEqual([
    ['ForgetfulController.declared', 'public'],
    ['ForgetfulController.forgotten', undefined],
  ]);
});

it('and denied when it is called', async () => {
  expect((await fetch(`${app.url}/forgetful/declared`)).status).toBe(200);
  const denied = await fetch(`${app.url}/forgetful/forgotten`);
  const text = await denied.text();
  expect([denied.status, text.includes('canary')]).toEqual([403, false]);
});
