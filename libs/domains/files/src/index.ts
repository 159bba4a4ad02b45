export { FileTargets, type TargetReader } from './file-targets';
export { FilesMaintenanceModule, FilesModule } from './files.module';
export { FilesQueries } from './files.queries';
export type { FileRow } from './files.repository';
export { FilesService, type IncomingFile } from './files.service';
export { attachmentOf, type FileReference } from './file-reference';
export { fileOf } from './file-probe';
export { safeFilename } from './filename';
export { isText } from './media-type';
