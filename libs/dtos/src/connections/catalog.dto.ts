import { BooleanField, EnumField, IntField, ListField, StringField } from '@aps/platform/http';
import { CONNECTION_METHODS, type ConnectionMethod } from './connection.dto';

const KINDS = ['static', 'managed', 'custom_mcp'] as const;
const FIELD_TYPES = ['text', 'password'] as const;

/** Something that can be connected. */
export class CatalogCard {
  @StringField({ description: 'Names the app.', example: 'deepwiki' }) app_key: string;
  @EnumField(KINDS, {
    description:
      '`managed`: people sign in at a provider, which calls its tools; `custom_mcp`: any server that speaks the Model Context Protocol.',
    example: 'static',
  })
  kind: (typeof KINDS)[number];
  @StringField({ description: 'What people call it.', example: 'DeepWiki' }) name: string;
  @StringField({ description: 'What it is for.', example: 'Answers questions about public GitHub repositories.' }) description: string;
  @StringField({ nullable: true, description: 'A picture of it.', example: null }) icon_url: string | null;
  @StringField({ description: 'What its connections have in common.', example: 'deepwiki' }) provider_key: string;
  @BooleanField({ description: 'Whether the caller sees a connection of it.' }) connected: boolean;
  @IntField({ description: 'How many connections of it the caller sees.', example: 1 }) connection_count: number;
  @BooleanField({ description: 'Whether knowledge can be made of what it holds.' }) knowledge_capable: boolean;
}

export class CatalogResponse {
  @ListField(() => CatalogCard, { description: 'A card for each app.' }) items: CatalogCard[];
  @IntField({ description: 'How many there are.', example: 9 }) total: number;
  @BooleanField({ description: 'Whether managed apps may be missing, because their provider does not say which it has.' })
  managed_unavailable: boolean;
}

/** Something that whoever connects says. */
export class MethodField {
  @StringField({ description: 'Its name in `credentials`.', example: 'token' }) name: string;
  @StringField({ description: 'What people call it.', example: 'Access token' }) label: string;
  @EnumField(FIELD_TYPES, { description: 'How it is asked for.', example: 'password' }) type: (typeof FIELD_TYPES)[number];
  @BooleanField({ description: 'Whether it is never shown again.' }) secret: boolean;
  @BooleanField({ description: 'Whether there is no connecting without it.' }) required: boolean;
  @StringField({ nullable: true, description: 'What else is to be known.', example: 'Sent as a bearer token.' }) help: string | null;
}

/** A way to connect an app. */
export class MethodResponse {
  @EnumField(CONNECTION_METHODS, { name: 'ConnectionMethod', description: 'Names it.', example: 'bearer' }) method: ConnectionMethod;
  @StringField({ description: 'What people call it.', example: 'Access token' }) label: string;
  @IntField({ description: 'From 1, the best.', example: 1 }) rank: number;
  @BooleanField({ description: 'Whether it is the best.' }) recommended: boolean;
  @ListField(() => MethodField, { description: 'What is asked for.' }) fields: MethodField[];
}

export class MethodListResponse {
  @ListField(() => MethodResponse, { description: 'The best first.' }) methods: MethodResponse[];
}
