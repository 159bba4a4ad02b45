import { CallHandler, Controller, ExecutionContext, Get, Injectable, NestInterceptor, UseInterceptors } from '@nestjs/common';
import type { Request } from 'express';
import { map } from 'rxjs';
import request from 'supertest';
import type { SelectiveInterceptor } from './selective-interceptors';
import { startEdge, type TestEdge } from './testing/edge';

@Injectable()
class OnRequest implements SelectiveInterceptor {
  concerns(req: Request): boolean {
    return req.headers['x-wrap'] !== undefined;
  }
  intercept(_: ExecutionContext, next: CallHandler) {
    return next.handle().pipe(map((answer) => ({ wrapped: answer as unknown })));
  }
}

@Injectable()
class Always implements NestInterceptor {
  intercept(_: ExecutionContext, next: CallHandler) {
    return next.handle().pipe(map((answer) => ({ always: answer as unknown })));
  }
}

@Controller()
class ThingsController {
  @Get('one')
  @UseInterceptors(OnRequest)
  async one() {
    return { n: 1 };
  }

  @Get('two')
  @UseInterceptors(OnRequest, Always)
  two() {
    return { n: 2 };
  }
}

describe('an interceptor that concerns few requests', () => {
  let edge: TestEdge;
  beforeAll(async () => {
    edge = await startEdge({ controllers: [ThingsController] });
  });
  afterAll(() => edge.close());

  const get = async (path: string, headers: Record<string, string> = {}) =>
    (await request(edge.url).get(path).set(headers)).body as unknown;

  it('takes part in those, and in no other', async () => {
    const intercept = jest.spyOn(OnRequest.prototype, 'intercept');
    expect(await get('/one')).toEqual({ n: 1 });
    expect(intercept).not.toHaveBeenCalled();
    expect(await get('/one', { 'x-wrap': '1' })).toEqual({ wrapped: { n: 1 } });
    expect(intercept).toHaveBeenCalledTimes(1);
  });

  it('leaves the others as they are', async () => {
    expect(await get('/two')).toEqual({ always: { n: 2 } });
    expect(await get('/two', { 'x-wrap': '1' })).toEqual({ wrapped: { always: { n: 2 } } });
  });
});
