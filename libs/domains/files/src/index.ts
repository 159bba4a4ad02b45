export { FileTargets, type TargetReader } from './file-targets';
export { FilesMaintenanceModule, FilesModule } from './files.module';
export { FilesQueries } from './files.queries';
export type { FileRow } from './files.repository';
export { attachmentOf, FilesService, type FileReference, type IncomingFile } from './files.service';
export { fileOf } from './file-probe';
export { safeFilename } from './filename';
export { isText } from './media-type';
