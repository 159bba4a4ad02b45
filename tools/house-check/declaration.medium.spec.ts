import { Controller, Get, Module } from '@nestjs/common';
import { Public } from '@aps/guards';
import { BASE_MODULES, testService } from '@aps/testing';
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

const t = testService([...BASE_MODULES, ForgetfulModule]);

it('a handler without a declaration is found by the inventory', async () => {
  const found = await routesOf('api-gateway', ForgetfulModule);
  expect(found.map((r) => [r.handler, r.access?.tier])).toEqual([
    ['ForgetfulController.declared', 'public'],
    ['ForgetfulController.forgotten', undefined],
  ]);
});

it('and denied when it is called', async () => {
  expect((await fetch(`${t.url}/forgetful/declared`)).status).toBe(200);
  const denied = await fetch(`${t.url}/forgetful/forgotten`);
  const text = await denied.text();
  expect([denied.status, text.includes('canary')]).toEqual([403, false]);
});
