import { Body, Controller, Post } from '@nestjs/common';
import { ApiTags } from '@nestjs/swagger';
import { JoinWaitlistRequest, ReceivedResponse } from '@aps/dtos';
import { Public } from '@aps/guards';
import { Operation } from '@aps/platform/http';
import { RateLimit } from '@aps/platform/rate-limit';
import { WaitlistService } from '../waitlist.service';

@ApiTags('Waitlist')
@Controller('api/waitlist')
export class WaitlistController {
  constructor(private readonly waitlist: WaitlistService) {}

  @Post()
  @Public()
  @RateLimit('waitlist')
  @Operation({
    summary: 'Ask to be let in',
    description: 'The answer is the same for every address.',
    status: 202,
    answers: ReceivedResponse,
  })
  async join(@Body() { email, name, note }: JoinWaitlistRequest): Promise<ReceivedResponse> {
    await this.waitlist.ask(email, name, note);
    return { status: 'received' };
  }
}
