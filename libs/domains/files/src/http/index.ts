import { Module } from '@nestjs/common';
import { FilesModule } from '@aps/files';
import { FilesController } from './files.controller';

@Module({ imports: [FilesModule], controllers: [FilesController] })
export class FilesHttpModule {}
