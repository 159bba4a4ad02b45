import { IntersectionType, OmitType, PartialType, PickType } from '@nestjs/swagger';
import { DateTimeField, IntField, ListField, PageQuery, StringField, UuidField } from '@aps/platform/http';
import { IdOrNone, WishedSlug } from '../common';
import { SharedBlockSettings } from './shared-block.dto';

export class TeamSettings extends SharedBlockSettings {
  @StringField({ nullable: true, max: 200, description: 'Clients draw its picture from it.', example: 'teal-fox' }) avatar_seed:
    string | null;
}

/** Fields that are absent stay as they are. */
export class UpdateTeamRequest extends PartialType(TeamSettings, { skipNullProperties: false }) {
  @WishedSlug('customer-care', 'Unique among the teams of the organization.') slug?: string | null;
}

export class CreateTeamRequest extends IntersectionType(OmitType(UpdateTeamRequest, ['name']), PickType(TeamSettings, ['name'])) {}

export class TeamListQuery extends PageQuery {
  @IdOrNone('Only teams of this project, or `none`.') project_id?: string;
}

export class ReorderTeamsRequest {
  @ListField('uuid', { max: 1_000, description: 'Teams in the order that they are to stand in; the others come after them, in theirs.' })
  team_ids: string[];
}

/** Agents that work on the same things, and what they share. */
export class TeamResponse extends TeamSettings {
  @UuidField({ description: 'The team.' }) id: string;
  @StringField({ description: 'Names it in addresses.', example: 'customer-care' }) slug: string;
  @UuidField({ nullable: true, description: 'The project it belongs to; its agents do too, where they have none of their own.' })
  project_id: string | null;
  @IntField({ description: 'Its place among the teams: the lowest first.', example: 0 }) display_order: number;
  @IntField({ description: 'How many agents are in it.', example: 3 }) agent_count: number;
  @DateTimeField({ description: 'When it was made.' }) created_at: string;
  @DateTimeField({ description: 'When it was changed last.' }) updated_at: string;
}
