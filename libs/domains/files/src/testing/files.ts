import { MaintenanceModule } from '@aps/platform/maintenance';
import { BASE_MODULES } from '@aps/testing';
import { FilesMaintenanceModule } from '../files.module';
import { FilesHttpModule } from '../http';

/** Files behind HTTP, and what removes them. */
export const FILES = [...BASE_MODULES, MaintenanceModule, FilesMaintenanceModule, FilesHttpModule];
