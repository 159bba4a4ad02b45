import { Module } from '@nestjs/common';
import { SelfServeModule } from '../self-serve/self-serve.module';
import { SelfServeController } from './self-serve.controller';

/** What organizations do about their billing; served by the gateway. */
@Module({ imports: [SelfServeModule], controllers: [SelfServeController] })
export class BillingHttpModule {}
