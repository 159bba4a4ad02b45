import { type Problem, requireValid } from '@aps/contracts';
import type { PromptField, PromptRevision } from '@aps/entities';
import { changesOf } from '@aps/platform/database';

const MAX_DEPTH = 5;
/** Of all levels together: what an answer is checked with is made of them. */
const MAX_FIELDS = 500;

/** A field as it is sent. */
export type PromptFieldInput = Pick<PromptField, 'name' | 'type'> &
  Partial<{
    description: string | null;
    required: boolean;
    enum_values: string[];
    items: PromptFieldInput | null;
    fields: PromptFieldInput[];
  }>;

/** What of a template makes a revision. */
export type PromptContent = Pick<PromptRevision, 'text' | 'fields' | 'post_processing_instructions'>;

/** The content as it is sent. */
export interface PromptContentInput extends Omit<PromptContent, 'fields'> {
  fields: PromptFieldInput[] | null;
}

export const EMPTY: PromptContent = { text: null, fields: [], post_processing_instructions: null };

/**
 * What of the content an input sets; an empty text is none.
 *
 * @throws DomainError `validation_error`
 */
export function contentOf({ text, fields, post_processing_instructions }: Partial<PromptContentInput>): Partial<PromptContent> {
  return {
    ...(text !== undefined && { text: text || null }),
    ...(fields !== undefined && { fields: fieldsOf(fields ?? []) }),
    ...(post_processing_instructions !== undefined && { post_processing_instructions: post_processing_instructions || null }),
  };
}

/** What of the content a wish changes. */
export const changedParts = (before: PromptContent, wish: Partial<PromptContent>) =>
  Object.keys(changesOf<PromptContent>(before, wish)) as (keyof PromptContent)[];

/**
 * Fields as they are kept: what a type does not use is left out.
 *
 * @throws DomainError `validation_error` that names each problem by its full path
 */
export function fieldsOf(sent: readonly PromptFieldInput[]): PromptField[] {
  const problems: Problem[] = [];
  const fields = level(sent, ['body', 'fields'], 1, problems);
  if (countOf(fields) > MAX_FIELDS)
    problems.push({ loc: ['body', 'fields'], msg: `A template may have ${MAX_FIELDS} fields`, type: 'too_long' });
  requireValid(problems);
  return fields;
}

type Place = (string | number)[];

const countOf = (fields: readonly PromptField[]): number =>
  fields.reduce((sum, { fields: below = [], items }) => sum + 1 + countOf(below) + (items ? countOf([items]) : 0), 0);

function level(sent: readonly PromptFieldInput[], loc: Place, depth: number, problems: Problem[]): PromptField[] {
  const names = new Set<string>();
  return sent.map((field, i) => {
    const here = [...loc, i];
    if (names.has(field.name))
      problems.push({ loc: [...here, 'name'], msg: 'Another field of this level has the name', type: 'value_error' });
    names.add(field.name);
    return fieldOf(field, here, depth, problems);
  });
}

function fieldOf({ name, type, ...sent }: PromptFieldInput, loc: Place, depth: number, problems: Problem[]): PromptField {
  const field: PromptField = { name, type, description: sent.description ?? null, required: sent.required ?? false };
  const refuse = (at: string, msg: string, kind: string) => void problems.push({ loc: [...loc, at], msg, type: kind });
  const missing = (at: string) => refuse(at, `Field required with the type ${type}`, 'missing');
  if (depth > MAX_DEPTH) {
    problems.push({ loc, msg: `Fields may nest ${MAX_DEPTH} levels deep`, type: 'value_error' });
  } else if (type === 'enum') {
    field.enum_values = sent.enum_values ?? [];
    if (!field.enum_values.length) missing('enum_values');
    if (new Set(field.enum_values).size < field.enum_values.length) refuse('enum_values', 'Items should not repeat', 'value_error');
  } else if (type === 'array') {
    if (sent.items) field.items = fieldOf(sent.items, [...loc, 'items'], depth + 1, problems);
    else missing('items');
  } else if (type === 'object') {
    field.fields = level(sent.fields ?? [], [...loc, 'fields'], depth + 1, problems);
    if (!field.fields.length) missing('fields');
  }
  return field;
}
