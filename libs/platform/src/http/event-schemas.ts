import type { Type } from '@nestjs/common';
import { ApiExtraModels, ApiProperty, getSchemaPath, type ApiPropertyOptions } from '@nestjs/swagger';
import { DateTimeField, EnumField, NestedField, StringField, UuidField } from './fields';

type Ctor = new () => object;

export interface EventOptions {
  description: string;
  /** What is of the moment has no number, and no reader gets it again. */
  numbered?: boolean;
  /** What frames call it, where its schema needs a name of its own. */
  type?: string;
}

/** The envelope of one kind of event, as the line `data:` of its frame. Its schema is named `<Kind>Event`. */
export function EventOf(kind: string, data: Ctor | Ctor[], { description, numbered = true, type = kind }: EventOptions): Ctor {
  class StreamEvent {}
  Object.defineProperty(StreamEvent, 'name', { value: `${pascal(kind)}Event` });
  const fields: Record<string, PropertyDecorator> = {
    ...(numbered && { id: StringField({ description: 'Number of the event within its topic.', example: '41' }) }),
    type: EnumField([type], { description }),
    topic: StringField({
      nullable: true,
      description: 'What it is about; null for what concerns a stream of several topics as a whole.',
      example: 'chat:0193488e-8a8c-7cc2-b7a5-1f0c4d1d2a11',
    }),
    org_id: UuidField({ description: 'The organization.' }),
    at: DateTimeField({ description: 'When it happened.' }),
    data: Array.isArray(data)
      ? ApiProperty({
          type: 'object',
          description: 'What it tells, by the kind of its topic.',
          oneOf: data.map((one) => ({ $ref: getSchemaPath(one) })),
        } as ApiPropertyOptions)
      : NestedField(() => data, { description: 'What it tells.' }),
  };
  for (const [field, decorate] of Object.entries(fields)) decorate(StreamEvent.prototype, field);
  if (Array.isArray(data)) ApiExtraModels(...data)(StreamEvent);
  return StreamEvent;
}

const pascal = (type: string): string => type.replace(/(?:^|_)([a-z])/g, (_, letter: string) => letter.toUpperCase());

const unions = new Map<string, Record<string, Ctor>>();

/** A schema that is one of several, told apart by their field `type`. */
export function UnionOf(name: string, byType: Record<string, Ctor>): Type<unknown> {
  class Union {}
  Object.defineProperty(Union, 'name', { value: name });
  ApiExtraModels(...Object.values(byType))(Union);
  unions.set(name, byType);
  return Union;
}

/** The schemas of all {@link UnionOf}, which the generator can write only as empty objects. */
export function unionSchemas(used: Record<string, unknown>): Record<string, unknown> {
  const schemaOf = (byType: Record<string, Ctor>) => ({
    oneOf: Object.values(byType).map((one) => ({ $ref: getSchemaPath(one) })),
    discriminator: {
      propertyName: 'type',
      mapping: Object.fromEntries(Object.entries(byType).map(([type, one]) => [type, getSchemaPath(one)])),
    },
  });
  return Object.fromEntries([...unions].filter(([name]) => name in used).map(([name, byType]) => [name, schemaOf(byType)]));
}
