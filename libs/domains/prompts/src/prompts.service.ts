import { Injectable } from '@nestjs/common';
import { slugsFor } from '@aps/contracts';
import { Entitlements } from '@aps/billing';
import { PromptRevision, PromptTemplate } from '@aps/entities';
import type { OrgScope } from '@aps/guards';
import { ModelCatalog } from '@aps/inference';
import { Audit } from '@aps/platform/audit';
import { changesOf, Database, Deletions, OrgTable, type Tx } from '@aps/platform/database';
import { changedParts, contentOf, EMPTY, type PromptContentInput } from './prompts.policy';
import { PromptsQueries, type PromptTemplateView } from './prompts.queries';

/** What a caller sets of a template. Absent leaves it as it is (or as it begins), null clears it. */
export type PromptTemplateInput = Partial<
  Pick<PromptTemplate, 'name' | 'description' | 'model' | 'reasoning_effort' | 'tags'> &
    PromptContentInput & { file_input_mode: PromptTemplate['file_input_mode'] | null }
>;

/** Makes, edits and deletes prompt templates. */
@Injectable()
export class PromptsService {
  private readonly templates = new OrgTable(PromptTemplate, 'Prompt template');
  private readonly revisions = new OrgTable(PromptRevision);

  constructor(
    private readonly db: Database,
    private readonly queries: PromptsQueries,
    private readonly entitlements: Entitlements,
    private readonly catalog: ModelCatalog,
    private readonly deletions: Deletions,
    private readonly audit: Audit,
  ) {}

  /** Version 1 of a template, even without a text. Its slug is made from its name, and stays. */
  create(scope: OrgScope, input: PromptTemplateInput & { name: string }): Promise<PromptTemplateView> {
    const content = { ...EMPTY, ...contentOf(input) };
    const created_by = scope.actor.userId;
    return this.db.transaction(scope, async (tx) => {
      await this.requireUsable(tx, scope, input);
      const slugs = slugsFor(input.name, null, 'prompt');
      const { id, slug } = await this.templates.insertUnder(tx, scope, slugs, { ...columnsOf(input), version: 1, created_by });
      await this.revisions.insert(tx, scope, {
        template_id: id,
        version: 1,
        changed: changedParts(EMPTY, content),
        created_by,
        ...content,
      });
      await this.audit.record(tx, scope, 'prompt_template.created', id, { slug });
      return this.queries.get(scope, id, tx);
    });
  }

  /** Edits a template. Only a text, fields or instructions that differ from what they were make a new version. */
  update(scope: OrgScope, ref: string, input: PromptTemplateInput): Promise<PromptTemplateView> {
    const given = contentOf(input);
    return this.db.transaction(scope, async (tx) => {
      const { id } = await this.templates.get(tx, scope, ref, 'for no key update');
      const before = await this.queries.get(scope, id, tx);
      await this.requireUsable(tx, scope, input, before);
      const changed = changedParts(before, given);
      const columns = changesOf<PromptTemplate>(before, columnsOf(input));
      const edited = [...changed, ...Object.keys(columns)];
      if (!edited.length) return before;
      const version = before.version + (changed.length ? 1 : 0);
      if (changed.length) {
        const { text, fields, post_processing_instructions } = { ...before, ...given };
        const content = { text, fields, post_processing_instructions };
        await this.revisions.insert(tx, scope, { template_id: id, version, changed, created_by: scope.actor.userId, ...content });
      }
      await this.templates.update(tx, scope, id, { ...columns, version });
      await this.audit.record(tx, scope, 'prompt_template.updated', id, { fields: edited, version });
      return this.queries.get(scope, id, tx);
    });
  }

  /** Its slug is free again; its revisions and runs stay, and nobody sees them any more. */
  async delete(scope: OrgScope, ref: string): Promise<void> {
    await this.db.transaction(scope, async (tx) => {
      const gone = await this.templates.remove(tx, scope, ref);
      await this.deletions.tell(tx, { kind: 'prompt_template', orgId: scope.orgId, id: gone.id, slug: gone.slug });
      await this.audit.record(tx, scope, 'prompt_template.deleted', gone.id, { slug: gone.slug });
    });
  }

  /** What is set anew, needs the plan and the organization's consent; what is cleared or sent again as it is, does not. */
  private async requireUsable(tx: Tx, scope: OrgScope, input: PromptTemplateInput, before?: PromptTemplate): Promise<void> {
    const model = input.model === before?.model ? null : input.model;
    const effort = input.reasoning_effort === before?.reasoning_effort ? null : input.reasoning_effort;
    if (model ?? effort) await this.entitlements.require(scope.orgId, 'direct_model_choice', tx);
    if (model) await this.catalog.holdChatModel(tx, scope, model, 'prompt');
  }
}

const columnsOf = ({ name, description, model, reasoning_effort, file_input_mode, tags }: PromptTemplateInput) => ({
  name,
  description,
  model,
  reasoning_effort,
  tags: tags && [...new Set(tags)],
  file_input_mode: file_input_mode === null ? ('auto' as const) : file_input_mode,
});
