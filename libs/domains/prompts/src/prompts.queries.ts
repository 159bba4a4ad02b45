import { Injectable } from '@nestjs/common';
import { PromptTemplate } from '@aps/entities';
import type { OrgScope } from '@aps/guards';
import { Database, OrgListing, OrgTable, type Db, type Listed, type Slice } from '@aps/platform/database';
import { In } from 'typeorm';
import type { PromptContent } from './prompts.policy';

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
  always: 't.deleted_at IS NULL',
  where: { project_id: `t.project_id::text IS NOT DISTINCT FROM nullif($, 'none')` },
  order: 't.created_at DESC, t.id DESC',
  what: 'Prompt template',
});

/** Reads templates, by an id or a slug. Never writes. */
@Injectable()
export class PromptsQueries {
  private readonly templates = new OrgTable(PromptTemplate, 'Prompt template');

  constructor(private readonly db: Database) {}

  /** Newest first. */
  list(scope: OrgScope, { project_id }: { project_id?: string }, page: Slice): Promise<Listed<PromptTemplateView>> {
    return VIEWS.page(this.db, scope, { project_id: project_id?.toLowerCase() }, page);
  }

  /** Those of the slugs that templates have. */
  async slugsAmong(db: Db, scope: OrgScope, slugs: string[]): Promise<Set<string>> {
    const found = slugs.length ? await this.templates.list(db, scope, { slug: In(slugs) }, {}) : [];
    return new Set(found.map(({ slug }) => slug));
  }

  /** @throws DomainError `not_found` */
  get(scope: OrgScope, ref: string, db: Db = this.db): Promise<PromptTemplateView> {
    return VIEWS.get(db, scope, ref, {});
  }
}
