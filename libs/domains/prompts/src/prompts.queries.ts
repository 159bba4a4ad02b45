import { Injectable } from '@nestjs/common';
import { listTally, NIL_UUID, type PromptRevision, type PromptTemplate } from '@aps/entities';
import { isOfLive, type OrgScope } from '@aps/guards';
import type { ModelsCounted, ModelUser, ModelUserReader } from '@aps/inference';
import { Database, idOrNone, OrgListing, statement, type Db, type Listed, type Slice } from '@aps/platform/database';
import type { ToolGrants } from '@aps/tools';
import { mayRunPrompts, namedPrompts, reachesPrompt } from './prompt-grants.policy';
import type { PromptContent } from './prompts.policy';
import { variablesIn } from './variables.policy';

/** A template with what it says now. */
export interface PromptTemplateView extends PromptTemplate, PromptContent {
  revision_id: string;
}

const VIEWS = new OrgListing<PromptTemplateView, { project_id?: string }>({
  key: 't.id',
  slug: 't.slug',
  org: 't.org_id',
  select: 't.*, r.id AS revision_id, r.text, r.fields, r.post_processing_instructions',
  from: 'prompt_templates t JOIN prompt_revisions r ON r.template_id = t.id AND r.version = t.version',
  found: 'prompt_templates t',
  always: 't.deleted_at IS NULL',
  where: { project_id: idOrNone('t.project_id') },
  tally: { from: listTally('prompt_templates'), where: { project_id: idOrNone('t.of_id', NIL_UUID) } },
  order: 't.created_at DESC, t.id DESC',
  what: 'Prompt template',
});

/** Templates that a model is told of at most. */
const MAX_LISTED = 50;

/** A template as agents are told of it. */
export interface RunnablePrompt extends Pick<PromptTemplate, 'slug' | 'name' | 'description'> {
  /** It reads `input_text`. */
  structured: boolean;
  variables: string[];
}

const RUNNABLE = statement<Omit<RunnablePrompt, 'variables'> & Pick<PromptContent, 'text' | 'post_processing_instructions'>>(`
  SELECT t.slug, t.name, t.description, r.text, r.post_processing_instructions, jsonb_array_length(r.fields) > 0 AS structured
  FROM prompt_templates t JOIN prompt_revisions r ON r.template_id = t.id AND r.version = t.version
  WHERE t.org_id = $1 AND t.deleted_at IS NULL AND (t.slug = ANY($2) OR $3) ORDER BY t.slug LIMIT $4`);

const FIRST_BY_SLUG = statement<{ slug: string; name: string }>(
  'SELECT slug, name FROM prompt_templates WHERE org_id = $1 AND deleted_at IS NULL ORDER BY slug LIMIT $2',
);
const NAMING_MODELS = statement<ModelUser>(`
  SELECT t.id, t.org_id, t.name, t.model AS model_key FROM prompt_templates t
  WHERE t.model = ANY($1) AND t.deleted_at IS NULL AND ($3::uuid IS NULL OR t.org_id = $3) AND ${isOfLive('t')} ORDER BY t.name, t.id LIMIT $2`);
const MODELS_COUNTED = statement<ModelsCounted>(`
  SELECT t.model AS model_key, count(*)::int AS n FROM prompt_templates t
  WHERE t.model IS NOT NULL AND ($1::text[] IS NULL OR t.model = ANY($1)) AND t.deleted_at IS NULL AND ${isOfLive('t')} GROUP BY t.model`);

/** Templates that name a model. */
export const TEMPLATE_MODELS: ModelUserReader = { kind: 'prompt_template', naming: NAMING_MODELS, counted: MODELS_COUNTED };

/** A revision without what it says. */
export type PromptRevisionSummary = Pick<PromptRevision, 'id' | 'version' | 'changed' | 'created_by' | 'created_at'>;

const REVISIONS = statement<PromptRevisionSummary>(
  'SELECT id, version, changed, created_by, created_at FROM prompt_revisions WHERE org_id = $1 AND template_id = $2 ORDER BY version DESC',
);

/** Reads templates, by an id or a slug. Never writes. */
@Injectable()
export class PromptsQueries {
  constructor(private readonly db: Database) {}

  /** Newest first. */
  list(scope: OrgScope, { project_id }: { project_id?: string }, page: Slice): Promise<Listed<PromptTemplateView>> {
    return VIEWS.page(this.db, scope, { project_id }, page);
  }

  /** What an agent may run, by slug, as its model is told of it; at most fifty. */
  async runnable(db: Db, scope: OrgScope, grants: Pick<ToolGrants, 'allowed_tools' | 'denied_tools'>): Promise<RunnablePrompt[]> {
    if (!mayRunPrompts(grants)) return [];
    const limit = MAX_LISTED + grants.denied_tools.length;
    const found = await db.query(RUNNABLE, [scope.orgId, namedPrompts(grants), grants.allowed_tools.includes('*'), limit]);
    return found
      .filter(({ slug }) => reachesPrompt(grants, slug))
      .slice(0, MAX_LISTED)
      .map(({ text, post_processing_instructions, structured, ...named }) => ({
        ...named,
        structured,
        variables: variablesIn([text, structured ? post_processing_instructions : null]),
      }));
  }

  /** The first so many, by slug. */
  named(db: Db, scope: OrgScope, limit: number): Promise<{ slug: string; name: string }[]> {
    return db.query(FIRST_BY_SLUG, [scope.orgId, limit]);
  }

  /** @throws DomainError `not_found` */
  get(scope: OrgScope, ref: string, db: Db = this.db): Promise<PromptTemplateView> {
    return VIEWS.get(db, scope, ref, {});
  }

  /** Newest first. @throws DomainError `not_found` */
  async revisionsOf(scope: OrgScope, ref: string): Promise<PromptRevisionSummary[]> {
    const { id } = await this.get(scope, ref);
    return this.db.query(REVISIONS, [scope.orgId, id]);
  }
}
