import { Injectable, Module } from '@nestjs/common';
import { Maintenance } from '@aps/platform/maintenance';
import { ObjectStorage, StorageModule } from '@aps/platform/storage';
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

/** Removes files that nothing refers to, and bytes that no row tells of. */
@Injectable()
class FilesTasks {
  constructor(maintenance: Maintenance, files: FilesService, storage: ObjectStorage) {
    maintenance.register({ name: 'files', everyS: 300, batch: BATCH, run: () => files.removeExpired(BATCH) });
    maintenance.register({ name: 'half_written_files', everyS: 3_600, batch: Infinity, run: () => storage.removeAbandoned() });
  }
}

/** For a worker application. */
@Module({ imports: [FilesModule, StorageModule], providers: [FilesTasks] })
export class FilesMaintenanceModule {}
