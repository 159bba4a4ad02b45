import { Module } from '@nestjs/common';
import { FilesModule } from '../files.module';
import { FileTransfers } from './file-transfers';
import { FilesController } from './files.controller';

export { MAX_FORM_BYTES } from './multipart';

@Module({ imports: [FilesModule], controllers: [FilesController], providers: [FileTransfers] })
export class FilesHttpModule {}
