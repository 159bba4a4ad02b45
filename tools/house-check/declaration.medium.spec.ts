import { Controller, Get, Module } from '@nestjs/common';
import { PlatformAdmin, Public } from '@aps/guards';
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

@Controller('closed')
@PlatformAdmin()
class ClosedController {
  @Get('own')
  @Public()
  own(): object {
    return { open: this.none() };
  }

  @Get('inherited')
  inherited(): object {
    return { secret: 'canary' };
  }

  none(): boolean {
    return true;
  }
}

@Module({ controllers: [ForgetfulController, ClosedController] })
class ForgetfulModule {}

const t = testService([...BASE_MODULES, ForgetfulModule]);

it('a handler without a declaration is found by the inventory', async () => {
  const found = await routesOf('api-gateway', ForgetfulModule);
  expect(Object.fromEntries(found.map((r) => [r.handler, r.access?.tier]))).toEqual({
    'ForgetfulController.declared': 'public',
    'ForgetfulController.forgotten': undefined,
    'ClosedController.own': 'public',
    'ClosedController.inherited': 'platform_admin',
  });
});

it('a handler has the declaration of its controller, if it has none of its own', async () => {
  const statusOf = async (path: string) => (await fetch(`${t.url}/closed/${path}`)).status;
  expect([await statusOf('own'), await statusOf('inherited')]).toEqual([200, 401]);
});

it('and denied when it is called', async () => {
  expect((await fetch(`${t.url}/forgetful/declared`)).status).toBe(200);
  const denied = await fetch(`${t.url}/forgetful/forgotten`);
  const text = await denied.text();
  expect([denied.status, text.includes('canary')]).toEqual([403, false]);
});
