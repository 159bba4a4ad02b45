import { Module } from '@nestjs/common';
import { EgressModule } from '@aps/platform/egress';
import { EnvironmentsModule } from '../environments.module';
import { ImageChecks } from '../images/image-checks';
import { ImageRegistry } from '../images/image-registry';
import { Sandboxes } from '../sandbox/sandboxes';
import { CommandRunner } from './command-runner';
import { EnvironmentsMaintenance } from './environments.maintenance';
import { ImageValidations } from './image-validation';
import { SandboxHosting } from './sandbox-hosting';

/** What runs the commands of sandboxes, for the application that does so: nobody else loads drivers and what looks at images. */
@Module({
  imports: [EgressModule, EnvironmentsModule],
  providers: [CommandRunner, EnvironmentsMaintenance, ImageChecks, ImageRegistry, ImageValidations, SandboxHosting, Sandboxes],
  exports: [CommandRunner, EnvironmentsModule, ImageValidations, SandboxHosting, Sandboxes],
})
export class SandboxesModule {}
