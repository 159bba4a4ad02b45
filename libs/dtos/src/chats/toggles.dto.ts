import { BooleanField, EnumField, ListField, StringField } from '@aps/platform/http';

export class ToggleChangeDto {
  @StringField({ min: 1, max: 200, description: 'One of the scopes that the chat lists.', example: 'system:web' }) scope: string;
  @BooleanField({ description: 'On or off.' }) enabled: boolean;
}

export class ChangeTogglesRequest {
  @ListField(() => ToggleChangeDto, {
    optional: true,
    max: 500,
    description: 'Scopes to switch; the others stay as they are. Not together with `enabled_scopes`.',
  })
  toggles?: ToggleChangeDto[];
  @ListField('string', {
    optional: true,
    nullable: true,
    max: 500,
    unique: true,
    item: { min: 1, max: 200 },
    description: 'The scopes that are on; all others are off. Null: all are on, and those that come later too.',
    example: ['system:web'],
  })
  enabled_scopes?: string[] | null;
}

export class ToggleDto {
  @StringField({ description: 'What the tools behind it have as their scope.', example: 'system:web' }) scope: string;
  @StringField({ description: 'Its name, for humans.', example: 'Web search' }) label: string;
  @EnumField(['web', 'connection'], { name: 'ToggleKind', description: 'The web, or a connection.' }) kind: string;
  @StringField({ nullable: true, description: 'The connection; null for the web.' }) connection_id: string | null;
  @BooleanField({ description: 'Whether the chat has it on.' }) enabled: boolean;
}

export class TogglesResponse {
  @ListField(() => ToggleDto, { description: 'All that can be switched in this chat.' }) toggles: ToggleDto[];
  @ListField('string', { nullable: true, description: 'The scopes that are on, as stored; null: all, which is the default.' })
  enabled_scopes: string[] | null;
}
