import { Injectable, Module } from '@nestjs/common';
import { Maintenance } from '@aps/platform/maintenance';
import { StorageModule } from '@aps/platform/storage';
import { TextReader } from './extraction/text-reader';
import { FileTargets } from './file-targets';
import { FilesQueries } from './files.queries';
import { FilesRepository } from './files.repository';
import { FilesService } from './files.service';

const BATCH = 100;

/** Files, their bytes and who may see them. */
@Module({
  imports: [StorageModule],
  providers: [FilesRepository, FileTargets, FilesQueries, FilesService, TextReader],
  exports: [FileTargets, FilesQueries, FilesService, TextReader],
})
export class FilesModule {}

/** Removes files that nothing refers to. */
@Injectable()
class FilesTasks {
  constructor(maintenance: Maintenance, files: FilesService) {
    maintenance.register({ name: 'files', everyS: 300, batch: BATCH, run: () => files.removeExpired(BATCH) });
  }
}

/** For a worker application. */
@Module({ imports: [FilesModule], providers: [FilesTasks] })
export class FilesMaintenanceModule {}
