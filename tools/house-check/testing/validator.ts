import { readFileSync } from 'node:fs';
import path from 'node:path';
import Ajv2020, { type ValidateFunction } from 'ajv/dist/2020';
import addFormats from 'ajv-formats';
import type { Document } from './document';

/** Judges values by the schemas of an OpenAPI document. */
export class DocumentValidator {
  private readonly ajv = new Ajv2020({
    strict: false,
    allErrors: true,
    validateSchema: false,
    formats: { binary: true, decimal: /^[+-]?\d+(\.\d+)?$/ },
  });
  /** By their schemas as JSON: most answers of a document are of few. */
  private readonly known = new Map<string, ValidateFunction>();

  constructor(readonly document: Document) {
    addFormats(this.ajv);
    this.ajv.addSchema(closed(document), 'api');
  }

  /** Of the committed document. */
  static committed(): DocumentValidator {
    return new DocumentValidator(JSON.parse(readFileSync(path.join(__dirname, '../../../openapi/openapi.json'), 'utf8')) as Document);
  }

  /** @param pointer to the schema, as keys from the document's root; @returns what is wrong, nothing when all is well */
  faults(value: unknown, ...pointer: string[]): string[] {
    const ref = `api#/${pointer.map((key) => encodeURIComponent(key.replaceAll('~', '~0').replaceAll('/', '~1'))).join('/')}`;
    const schema = JSON.stringify(pointer.reduce<unknown>((node, key) => (node as Record<string, unknown>)[key], this.document));
    let validate = this.known.get(schema);
    if (!validate) this.known.set(schema, (validate = this.ajv.compile({ $ref: ref })));
    if (validate(value)) return [];
    return (validate.errors ?? []).map(({ instancePath, message, params }) => `${instancePath} ${message} ${JSON.stringify(params)}`);
  }

  /** The same of an event, by the schema of its own name. */
  eventFaults(event: { type: string }, union: string): string[] {
    const ref = this.document.components.schemas[union].discriminator?.mapping[event.type];
    return ref ? this.faults(event, ...ref.split('/').slice(1)) : [`${union} knows no ${event.type}`];
  }
}

/** The document with objects that hold what they declare and nothing else: clients must pass over more, but we must have said it. */
function closed(document: Document): object {
  const schemas = Object.entries(document.components.schemas).map(([name, schema]) => [
    name,
    schema.properties && schema.additionalProperties === undefined ? { ...schema, additionalProperties: false } : schema,
  ]);
  return { ...document, components: { ...document.components, schemas: Object.fromEntries(schemas) as Document['components']['schemas'] } };
}
