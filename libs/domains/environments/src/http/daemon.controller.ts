import { Body, Controller, Headers, Post, Res } from '@nestjs/common';
import { ApiTags } from '@nestjs/swagger';
import {
  ClaimWorkRequest,
  ClaimWorkResponse,
  DaemonHeartbeatRequest,
  DaemonHeartbeatResponse,
  DaemonResultRequest,
  DaemonResultResponse,
} from '@aps/dtos';
import { Public } from '@aps/guards';
import { BodyLimit, Operation } from '@aps/platform/http';
import type { Response } from 'express';
import { HEARTBEAT_INTERVAL_S } from '../environments.policy';
import { Machines } from '../machines/machines.service';
import { workOf } from '../machines/work';

/** Of a result: two streams, and what JSON adds to them. */
const MAX_RESULT = 4 * 1024 * 1024;
const TOKEN = 'By `Authorization: Bearer aed_…`, the token of a remote machine.';

/** What daemons ask for that cannot open a socket. */
@ApiTags('Environments')
@Controller('api/daemon/work')
@Public({ provenBy: Machines })
export class DaemonController {
  constructor(private readonly machines: Machines) {}

  @Post('claim')
  @Operation({
    summary: 'Take the next command of a remote machine',
    description: `Waits for one, up to \`wait_s\`. It is a heartbeat, too. ${TOKEN}`,
    status: 200,
    answers: ClaimWorkResponse,
    refuses: ['not_authenticated'],
  })
  async claim(
    @Headers('authorization') authorization: string | undefined,
    @Body() { hello, wait_s }: ClaimWorkRequest,
    @Res({ passthrough: true }) response: Response,
  ): Promise<ClaimWorkResponse> {
    const gone = new AbortController();
    if (response.destroyed) gone.abort();
    response.once('close', () => gone.abort());
    const { environment_id, work, last_heartbeat } = await this.machines.claim(authorization, hello, wait_s ?? 0, gone.signal);
    return {
      ...{ environment_id, work: work && workOf(work), last_heartbeat: last_heartbeat.toISOString() },
      heartbeat_interval_s: HEARTBEAT_INTERVAL_S,
    };
  }

  @Post('heartbeat')
  @Operation({
    summary: 'Keep a remote machine, or its command, alive',
    description: `What is not heard of for 45 seconds is lost. ${TOKEN} One that was replaced serves for what was taken by it.`,
    status: 200,
    answers: DaemonHeartbeatResponse,
    refuses: ['not_authenticated', 'not_found', 'lease_moved'],
  })
  async heartbeat(
    @Headers('authorization') authorization: string | undefined,
    @Body() { work_id, expected_last_heartbeat }: DaemonHeartbeatRequest,
  ): Promise<DaemonHeartbeatResponse> {
    const { last_heartbeat, cancel } = await this.machines.heartbeat(authorization, work_id ?? null, expected_last_heartbeat);
    return { last_heartbeat: last_heartbeat.toISOString(), cancel };
  }

  @Post('result')
  @BodyLimit(MAX_RESULT)
  @Operation({
    summary: 'Tell what a command came to',
    description: `${TOKEN} One that was replaced serves for what was taken by it.`,
    status: 200,
    answers: DaemonResultResponse,
    refuses: ['not_authenticated', 'not_found'],
  })
  async result(
    @Headers('authorization') authorization: string | undefined,
    @Body() { work_id, exit_code, stdout, stderr, timed_out, truncated, content_base64 }: DaemonResultRequest,
  ): Promise<DaemonResultResponse> {
    const accepted = await this.machines.result(authorization, work_id, {
      ...{ exitCode: exit_code ?? null, stdout: stdout ?? '', stderr: stderr ?? '' },
      ...{ timedOut: timed_out ?? false, truncated: truncated ?? false },
      content: isString(content_base64) ? Buffer.from(content_base64, 'base64') : null,
    });
    return { accepted };
  }
}

const isString = (value: unknown): value is string => typeof value === 'string';
