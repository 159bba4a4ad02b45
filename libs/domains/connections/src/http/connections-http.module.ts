import { Module } from '@nestjs/common';
import { ConnectionsModule } from '../connections.module';
import { CatalogController } from './catalog.controller';
import { ConnectionsController } from './connections.controller';
import { ConsentsController } from './consents.controller';
import { OAuthCallbackController } from './oauth-callback.controller';

// Routes are tried in the order in which they are registered: those with words come before that with an id.
@Module({
  imports: [ConnectionsModule],
  controllers: [CatalogController, ConnectionsController, ConsentsController, OAuthCallbackController],
})
export class ConnectionsHttpModule {}
