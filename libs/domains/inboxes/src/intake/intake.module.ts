import { Module } from '@nestjs/common';
import { FilesModule } from '@aps/files';
import { StoredChannels } from './channel-directory.queries';
import { ChannelDirectory, Intake } from './intake.port';
import { IntakeRepository } from './intake.repository';
import { IntakeService } from './intake.service';

/** Where doors find their channels, and hand in what comes. */
@Module({
  imports: [FilesModule],
  providers: [IntakeRepository, { provide: ChannelDirectory, useClass: StoredChannels }, { provide: Intake, useClass: IntakeService }],
  exports: [ChannelDirectory, Intake],
})
export class IntakeModule {}
