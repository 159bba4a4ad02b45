import { Injectable } from '@nestjs/common';
import { DomainError } from '@aps/contracts';
import { OrgScope } from '@aps/guards';
import { Database, storable, type Db, type Tx } from '@aps/platform/database';
import {
  defineTool,
  fitting,
  MAX_READ,
  partToRead,
  ToolCatalog,
  toolError,
  toolResult,
  type ToolContext,
  type ToolGrants,
  type ToolResult,
} from '@aps/tools';
import { z } from 'zod';
import { KnowledgeDocuments } from '../documents.service';
import { KnowledgeQueries } from '../knowledge.queries';
import { KnowledgeSearch } from '../search/search.service';
import { versionText } from '../tree.policy';
import { GrantedBases, type NamedBase } from './granted-bases.queries';
import { mayRead, mayWrite, readsAll, readsBase, writesBase } from './grants.policy';

const DEFAULT_LIMIT = 8;

const kb = z.string().min(1).max(64).describe('Slug or id of the knowledge base');
const search = z.object({
  query: z.string().trim().min(1).max(2_000).describe('What you look for, in words'),
  kb: kb.optional().describe('Slug or id of the knowledge base to look in; without it, all that you may read'),
  limit: z.number().int().min(1).max(20).default(DEFAULT_LIMIT).describe('Pieces at most'),
});
const read = z.object({
  source_id: z.uuid().describe('The source, as a search names it'),
  ...partToRead,
});
const write = z.object({
  kb,
  source_id: z.uuid().optional().describe('The document to save; without it, a new one is written'),
  title: z.string().trim().min(1).max(500),
  content: z.string().describe('All that it is to say, in Markdown'),
  base_version: z.string().max(64).optional().describe('The version that you have read: where it has been saved since, nothing is written'),
});

const MAX_BYTES = 2 * 1024 * 1024;

const unknown = (what: string) => new DomainError('not_found', `There is no ${what} that you may use.`);

/** The tools by which agents search, read and write what they are granted of knowledge bases. */
@Injectable()
export class KnowledgeTools {
  constructor(
    catalog: ToolCatalog,
    private readonly db: Database,
    private readonly bases: GrantedBases,
    private readonly knowledge: KnowledgeSearch,
    private readonly queries: KnowledgeQueries,
    private readonly documents: KnowledgeDocuments,
  ) {
    catalog.register(
      defineTool({
        ...{
          slug: 'knowledge_search',
          name: 'knowledge_search',
          scope: 'core',
          openedBy: 'kb',
          accessLevel: 'read',
          availableTo: mayRead,
          parameters: search,
        },
        description: 'Searches knowledge bases. Each piece names its source by `source_id`: cite it where you use what it says.',
        callOut: (args, context) => this.answered(() => this.search(args, context)),
      }),
      defineTool({
        ...{
          slug: 'knowledge_read',
          name: 'knowledge_read',
          scope: 'core',
          openedBy: 'kb',
          accessLevel: 'read',
          availableTo: mayRead,
          parameters: read,
        },
        description: 'Reads the text of a source of a knowledge base, or a part of it. Cite it by its `source_id`.',
        run: (tx, args, context) => this.answered(() => this.read(tx, args, context)),
      }),
      defineTool({
        ...{
          slug: 'knowledge_write',
          name: 'knowledge_write',
          scope: 'core',
          openedBy: 'kb',
          accessLevel: 'write',
          availableTo: mayWrite,
          parameters: write,
        },
        description: 'Writes a document of a knowledge base, or saves one.',
        run: (tx, args, context) => this.answered(() => this.write(tx, args, context)),
      }),
    );
  }

  private async search({ query, kb, limit }: z.infer<typeof search>, context: ToolContext): Promise<ToolResult> {
    const scope = scopeOf(context, 'knowledge_search');
    const within =
      kb === undefined && readsAll(context.tools.grants) ? null : (await this.named(scope, context.tools.grants, kb)).map(({ id }) => id);
    const { hits } = await this.knowledge.search(scope, within, storable(query), limit, {
      of: { chatId: context.chatId, turnId: context.turnId, agentId: context.agentId },
      budget: context.budget,
      charge: (tx, cost) => context.charge(tx, cost),
    });
    const found = hits.map(({ source_id, title, heading_path, content, char_start, char_end, url }) => ({
      ...{ source_id, title, heading_path, from: char_start, to: char_end, ...(url !== null && { url }), content },
    }));
    const results = fitting(found);
    const left_off = found.length - results.length;
    return toolResult({ results, ...(left_off > 0 && { left_off }) });
  }

  private async read(tx: Tx, { source_id, from, to }: z.infer<typeof read>, context: ToolContext): Promise<ToolResult> {
    const scope = scopeOf(context, 'knowledge_read');
    const source = await this.queries.readable(tx, scope, source_id);
    if (!source || !readsBase(context.tools.grants, { id: source.kb_id, slug: source.kb_slug })) throw unknown(`source ${source_id}`);
    const length = Math.max(0, Math.min(to ?? Infinity, from + MAX_READ) - from);
    const { text: asked, characters } = await this.queries.textOf(tx, scope, source_id, { from, length });
    const points = fitting([...asked], 2);
    const { title, url, version } = source;
    const named = { source_id, title, ...(url !== null && { url }), ...(version !== null && { version: versionText(version) }) };
    return toolResult({ ...named, from, to: from + points.length, characters, text: points.join('') });
  }

  private async write(tx: Tx, { kb, source_id, ...page }: z.infer<typeof write>, context: ToolContext): Promise<ToolResult> {
    if (Buffer.byteLength(page.content) > MAX_BYTES) return toolError(`content: at most ${MAX_BYTES} bytes`);
    const scope = scopeOf(context, 'knowledge_write');
    const [base] = await this.named(scope, context.tools.grants, kb, tx);
    if (!writesBase(context.tools.grants, base)) return toolError(`You may only read ${base.slug}.`);
    const { title, content } = storable(page);
    const saved = source_id
      ? await this.documents.save(scope, base.id, source_id, { title, content, base_version: page.base_version }, tx)
      : await this.documents.create(scope, base.id, { title, content }, tx);
    return toolResult({ source_id: saved.id, version: versionText(saved.version!) });
  }

  /** @param ref of one base; without it, all that may be read @throws DomainError `not_found` for what is granted not, too */
  private async named(scope: OrgScope, grants: ToolGrants, ref?: string, db: Db = this.db): Promise<NamedBase[]> {
    const readable = await this.bases.readable(db, scope, grants);
    const found = ref === undefined ? readable : readable.filter(({ id, slug }) => id === ref || slug === ref);
    if (ref !== undefined && !found.length) throw unknown(`knowledge base ${ref}`);
    return found;
  }

  /** What the caller is refused, its model is told. */
  private async answered(call: () => Promise<ToolResult>): Promise<ToolResult> {
    try {
      return await call();
    } catch (error) {
      if (!(error instanceof DomainError) || error.status >= 500) throw error;
      return toolError(error.code === 'version_conflict' ? `${error.detail} ${JSON.stringify(error.context)}` : error.detail);
    }
  }
}

const scopeOf = ({ orgId }: ToolContext, tool: string): OrgScope => OrgScope.system(orgId, `tool ${tool}`);
