import { Controller, Get, Param, Post, Query } from '@nestjs/common';
import { ApiTags } from '@nestjs/swagger';
import { QueueResponse, WorkerDrainResponse, WorkerListResponse } from '@aps/dtos';
import { type AccessOptions, type ActingUser, CurrentOperator, PlatformAdmin } from '@aps/guards';
import { answer, Operation, PageQuery, toPage } from '@aps/platform/http';
import { WorkersQueries } from '../workers.queries';
import { WorkersService } from '../workers.service';
import { toWorker } from './administration.convert';

/** No worker's id is a UUID. */
const WORKER_PARAM: AccessOptions = { params: { worker: 'string' } };

@ApiTags('Administration: workers')
@Controller('/api/admin/workers')
@PlatformAdmin()
export class AdminWorkersController {
  constructor(
    private readonly queries: WorkersQueries,
    private readonly workers: WorkersService,
  ) {}

  @Get()
  @Operation({
    summary: 'List the workers that live, what they hold, and what waits in the queues',
    description: 'In the order in which they were started. One that has been silent for a minute is gone; one that restarts is another.',
    answers: WorkerListResponse,
  })
  async list(@Query() query: PageQuery) {
    const queues = (await this.queries.queues()).map((queue) => answer(QueueResponse, queue));
    return toPage(await this.queries.page(query), query, toWorker, { queues });
  }

  @Post(':worker/drain')
  @PlatformAdmin(WORKER_PARAM)
  @Operation({
    summary: 'Let a worker begin nothing new',
    description: 'It ends what it has, and stays. What waits goes to the others, or waits. Repeating it changes nothing.',
    status: 202,
    answers: WorkerDrainResponse,
  })
  async drain(@CurrentOperator() operator: ActingUser, @Param('worker') id: string) {
    return answer(WorkerDrainResponse, await this.workers.setDraining(operator, id, true));
  }

  @Post(':worker/resume')
  @PlatformAdmin(WORKER_PARAM)
  @Operation({
    summary: 'Let a drained worker take work again',
    description: 'Not one whose process was told to end. Repeating it changes nothing.',
    status: 202,
    answers: WorkerDrainResponse,
  })
  async resume(@CurrentOperator() operator: ActingUser, @Param('worker') id: string) {
    return answer(WorkerDrainResponse, await this.workers.setDraining(operator, id, false));
  }
}
