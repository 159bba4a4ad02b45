import { IntersectionType, OmitType, PartialType, PickType } from '@nestjs/swagger';
import { DateTimeField, EnumField, IntField, ListField, NestedField, PageOf, StringField, UuidField } from '@aps/platform/http';
import { PROJECT_RESOURCE_TYPES, type ProjectResourceType } from '@aps/contracts';
import { WishedSlug } from '../common';
import { SharedBlockSettings } from '../agents/shared-block.dto';

export class ProjectSettings extends SharedBlockSettings {
  @StringField({ nullable: true, max: 32, description: 'As clients write colours.', example: '#2f7d6b' }) color: string | null;
  @StringField({ nullable: true, max: 64, description: 'As clients name icons.', example: 'briefcase' }) icon: string | null;
}

/** Fields that are absent stay as they are. */
export class UpdateProjectRequest extends PartialType(ProjectSettings, { skipNullProperties: false }) {
  @WishedSlug('customer-care', 'Unique among the projects of the organization.') slug?: string | null;
}

export class CreateProjectRequest extends IntersectionType(OmitType(UpdateProjectRequest, ['name']), PickType(ProjectSettings, ['name'])) {}

export class ReorderProjectsRequest {
  @ListField('uuid', { max: 1_000, description: 'Projects in the order that they are to stand in; the others come after them, in theirs.' })
  project_ids: string[];
}

/** How many resources a project has, by type. */
export class ProjectResourceCounts implements Record<ProjectResourceType, number> {
  @IntField({ description: 'Agents.', example: 2 }) agent: number;
  @IntField({ description: 'Agent teams.', example: 1 }) agent_team: number;
  @IntField({ description: 'Inboxes.', example: 1 }) inbox: number;
  @IntField({ description: 'Processes.', example: 0 }) process: number;
  @IntField({ description: 'Prompt templates.', example: 0 }) prompt_template: number;
  @IntField({ description: 'Knowledge bases.', example: 0 }) knowledge_base: number;
  @IntField({ description: 'Skills of the organization.', example: 0 }) skill: number;
  @IntField({ description: 'Connections.', example: 0 }) connection: number;
}

/** Resources that belong together, and what its agents share. */
export class ProjectResponse extends ProjectSettings {
  @UuidField({ description: 'The project.' }) id: string;
  @StringField({ description: 'Its short name.', example: 'customer-care' }) slug: string;
  @IntField({ description: 'Its place among the projects: the lowest first.', example: 0 }) display_order: number;
  @NestedField(() => ProjectResourceCounts, { description: 'What is in it.' }) resource_counts: ProjectResourceCounts;
  @DateTimeField({ description: 'When it was made.' }) created_at: string;
  @DateTimeField({ description: 'When it was changed last.' }) updated_at: string;
}

export class ProjectListResponse extends PageOf(ProjectResponse) {
  @IntField({ description: 'Resources of the organization that are in no project, whatever page is asked for.', example: 4 })
  uncategorized_count: number;
}

export class ResourceRef {
  @EnumField(PROJECT_RESOURCE_TYPES, { name: 'ProjectResourceType', description: 'What it is.', example: 'agent' })
  entity_type: ProjectResourceType;

  @StringField({ min: 1, max: 64, description: 'Its id.', example: '0191e7c2-8a4b-7c3d-9e5f-2b6a1c0d4e8f' }) entity_id: string;
}

export class AddResourcesRequest {
  @ListField(() => ResourceRef, { min: 1, max: 500, description: 'What is to be in the project.' }) resources: ResourceRef[];
}

export class AddResourcesResponse {
  @IntField({ description: 'Those that were in no project.', example: 2 }) added: number;
  @IntField({ description: 'Those that were in another one.', example: 1 }) moved: number;
  @IntField({ description: 'Those that were in it.', example: 0 }) unchanged: number;
}

export class ProjectResourceResponse extends ResourceRef {
  @StringField({ description: 'What people call it.', example: 'Support agent' }) name: string;
  @StringField({ description: 'Its short name.', example: 'support-agent' }) slug: string;
  @DateTimeField({ description: 'Since when it is in the project.' }) added_at: string;
}
