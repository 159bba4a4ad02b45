import { Global, Module } from '@nestjs/common';
import { RateLimiter } from './limiter';
import { OpenStreams } from './open-streams';
import { RateLimitGuard } from './rate-limit.guard';

/** Needs the Redis room. The application decides where {@link RateLimitGuard} stands among its guards. */
@Global()
@Module({ providers: [RateLimiter, RateLimitGuard, OpenStreams], exports: [RateLimiter, RateLimitGuard, OpenStreams] })
export class RateLimitModule {}
