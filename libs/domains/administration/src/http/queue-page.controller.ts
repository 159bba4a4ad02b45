import path from 'node:path';
import { All, Controller, OnModuleInit, Req, Res } from '@nestjs/common';
// eslint-disable-next-line no-restricted-imports -- a page is no operation of the API
import { ApiExcludeController } from '@nestjs/swagger';
import { DomainError, notFound } from '@aps/contracts';
import { type ActingUser, CurrentOperator, PlatformAdmin } from '@aps/guards';
import { Audit } from '@aps/platform/audit';
import { configSection, flag, setting } from '@aps/platform/config';
import { Database } from '@aps/platform/database';
import { Outbox } from '@aps/platform/outbox';
import express, { type Request, type RequestHandler, type Response } from 'express';
import { QUEUE_PAGE } from './queue-page.path';

export const queuePageConfig = configSection('queue-page', {
  writes: setting('QUEUE_PAGE_WRITES', flag(false), 'Whether operators may pause queues, and retry and remove jobs, on the page of queues'),
});

/** The page loads what is its own, and nothing from elsewhere. */
const CSP =
  "default-src 'none'; script-src 'self'; style-src 'self' 'unsafe-inline'; img-src 'self' data:; font-src 'self'; connect-src 'self'; base-uri 'self'; frame-ancestors 'none'";
const READS = ['GET', 'HEAD'];

/** What waits and runs in the queues, for the eyes of operators. Payloads are ids. */
@ApiExcludeController()
@Controller(QUEUE_PAGE)
@PlatformAdmin()
export class QueuePageController implements OnModuleInit {
  private page: RequestHandler;

  constructor(
    private readonly outbox: Outbox,
    private readonly db: Database,
    private readonly audit: Audit,
  ) {}

  /** Loads what shows the page where it is shown alone. */
  async onModuleInit(): Promise<void> {
    const [{ createBullBoard }, { BullMQAdapter }, { ExpressAdapter }] = await Promise.all([
      import('@bull-board/api'),
      import('@bull-board/api/bullMQAdapter'),
      import('@bull-board/express'),
    ]);
    const serverAdapter = new ExpressAdapter();
    serverAdapter.setBasePath(QUEUE_PAGE);
    const readOnlyMode = !queuePageConfig.value.writes;
    createBullBoard({
      queues: this.outbox.allQueues().map((queue) => new BullMQAdapter(queue, { readOnlyMode })),
      serverAdapter,
      options: {
        uiBasePath: path.dirname(require.resolve('@bull-board/ui/package.json')),
        uiConfig: { boardTitle: 'Queues', hideRedisDetails: true },
      },
    });
    this.page = express().use(QUEUE_PAGE, serverAdapter.getRouter() as RequestHandler);
  }

  @All(['', '*path'])
  async serve(@CurrentOperator() operator: ActingUser, @Req() request: Request, @Res() response: Response): Promise<void> {
    // What the page loads is named relatively to this.
    if (request.originalUrl === QUEUE_PAGE) return response.redirect(`${QUEUE_PAGE}/`);
    if (!READS.includes(request.method)) await this.admitWrite(operator, request);
    response.setHeader('Content-Security-Policy', CSP);
    await new Promise<void>((answered, refuse) => {
      response.once('close', answered);
      this.page(request, response, (error?: unknown) => refuse(error ? (error as Error) : notFound('Page')));
    });
  }

  /** Recorded before it is done: what Redis has done cannot be undone. @throws DomainError 403 `read_only` */
  private async admitWrite(operator: ActingUser, { method, path: target }: Request): Promise<void> {
    if (!queuePageConfig.value.writes) throw new DomainError('read_only', 'The page of queues only shows them.');
    const [, queue = null] = /^\/api\/queues\/([^/]+)/.exec(target.slice(QUEUE_PAGE.length)) ?? [];
    await this.db.transaction(operator, (tx) =>
      this.audit.record(tx, operator, 'queue.changed', queue, { method, path: target.slice(QUEUE_PAGE.length) }),
    );
  }
}
