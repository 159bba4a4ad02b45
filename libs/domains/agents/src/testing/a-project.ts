import { Project } from '@aps/entities';
import type { TestService } from '@aps/testing';
import { uuidv7 } from 'uuidv7';

/** A project, where no domain that makes any is at hand. @returns its id */
export const aProject = (service: TestService, orgId: string, columns: Partial<Project> = {}): Promise<string> =>
  service.insert(Project, { org_id: orgId, slug: `project-${uuidv7().slice(-12)}`, name: 'Project', display_order: 0, ...columns });
