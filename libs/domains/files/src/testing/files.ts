import { MaintenanceModule } from '@aps/platform/maintenance';
import { FACE } from '@aps/testing';
import { FilesMaintenanceModule } from '../files.module';
import { FilesHttpModule } from '../http';

/** Files behind HTTP, and what removes them. */
export const FILES = [...FACE, MaintenanceModule, FilesMaintenanceModule, FilesHttpModule];
