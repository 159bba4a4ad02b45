import { Injectable, Logger } from '@nestjs/common';
import { ViewCache } from '@aps/platform/cache';
import { storable } from '@aps/platform/database';
import { Egress, EgressError, jsonOf, type EgressResponse } from '@aps/platform/egress';
import { inferenceConfig } from '@aps/inference';
import { NotSent } from '@aps/tools';
import type { z } from 'zod';
import { connectionsConfig } from '../connections.config';
import { nests, toTool } from '../mcp/answers';
import {
  BEFORE,
  MAX_LIST_BYTES,
  MAX_READ_BYTES,
  MAX_RESOURCES,
  MAX_RESOURCES_BYTES,
  MAX_RESULT_BYTES,
  MAX_TOOLS,
  NOT_TAKEN,
} from '../mcp/mcp-tool-servers';
import {
  ServerFailed,
  ServerRefused,
  Unauthorized,
  type ListedResource,
  type ListedTool,
  type ManagedAccount,
  type ResourceContent,
  type ServerAddress,
  type ServerCall,
  type ServerListing,
  type ServerResult,
} from '../mcp/tool-server';
import { ManagedApps, type Link, type ManagedApp, type ManagedListing } from './managed-apps';
import * as wire from './wire';

const MIB = 1024 * 1024;
/** How long the list of apps is kept, and that there is none, before it is asked for anew, milliseconds. */
const KEPT_MS = 60_000;
/** How long it is good for those who ask meanwhile, milliseconds. */
const GOOD_MS = 3_600_000;
const MAX_APPS = 500;
/** The catalog waits for it no longer, milliseconds. */
const LIST_MS = 5_000;
const ASK_MS = 10_000;
/** Whoever calls has a shorter time of their own. */
const CALL_MS = 600_000;
/** Of one answer: tools are listed with what they answer, too. */
const MAX_PAGE_BYTES = 16 * MIB;
const PAGE = 200;
/** No list is followed further. */
const MAX_PAGES = 60;
const MAX_RESOURCE_PAGES = 1_000;
/** Keys of apps are no longer. */
const MAX_KEY = 64;
/** Of a sentence of the provider. */
const MAX_ERROR = 500;
/** Of tools and their arguments: those that are there when they are called. */
const VERSION = 'latest';
const HINTS = ['readOnlyHint', 'destructiveHint', 'idempotentHint'] as const;

const AWAY = 'The provider of managed apps cannot be reached at present.';
const SIGN_IN = 'The account is not connected at the provider any more. Somebody has to sign in again.';

type Toolkit = ManagedApp & { authConfigId: string; knowledge: { list_tool: string; read_tool: string } | null };
interface Toolkits {
  apps: Toolkit[];
  isAway: boolean;
}
interface Asking {
  method?: 'GET' | 'POST' | 'DELETE';
  body?: object;
  headers?: Record<string, string>;
  maxBytes?: number;
  timeoutMs?: number;
  signal?: AbortSignal;
}

/** Statuses that say that a call was not taken as it is. */
const NOT_TAKEN_AS_IT_IS = [...NOT_TAKEN, 400, 402, 410, 422];

/** An answer that is none to what was asked. What it says may be shown. */
class Refused extends ServerFailed {
  constructor(
    readonly status: number,
    message: string,
  ) {
    super(message);
  }
}

/** Where managed apps come from, and what we are known by there; null: from nowhere. */
function provider(): { url: string; key: string } | null {
  const { composioApiKey, composioUrl, demoAppsUrl } = connectionsConfig.value;
  if (composioApiKey) return { url: composioUrl, key: composioApiKey };
  if (demoAppsUrl && inferenceConfig.value.nodeEnv !== 'production') return { url: demoAppsUrl, key: 'demo' };
  return null;
}

/**
 * Composio, or what speaks as it does (tools/demo-tools). Its apps are the toolkits that the operator has made an enabled auth config for;
 * of several of one toolkit the first. The key goes to its own address alone, and into no sentence.
 */
@Injectable()
export class Composio extends ManagedApps {
  private readonly logger = new Logger('Composio');
  private readonly toolkits = new ViewCache<string, Toolkits>(KEPT_MS, 1, (url) => this.listToolkits(url));
  /** What was listed last, and where and when. */
  private last?: { url: string; at: number; toolkits: Toolkits };

  constructor(private readonly egress: Egress) {
    super();
  }

  async listing(): Promise<ManagedListing> {
    return this.known();
  }

  async link(app_key: string, user: string, backTo: string): Promise<Link> {
    const { authConfigId } = await this.toolkit(app_key);
    const answer = await this.ask('connected_accounts/link', wire.LinkAnswer, {
      method: 'POST',
      body: { auth_config_id: authConfigId, user_id: user, callback_url: backTo },
    });
    return { url: answer.redirect_url, account: { app_key, user, id: answer.connected_account_id } };
  }

  async isActive({ id, user }: ManagedAccount, signal?: AbortSignal): Promise<boolean> {
    const account = await this.ask(`connected_accounts/${encodeURIComponent(id)}`, wire.AccountAnswer, { signal }).catch(noneWhereUnknown);
    return account !== null && account.user_id === user && account.status === 'ACTIVE' && account.is_disabled !== true;
  }

  async forget(accountId: string): Promise<void> {
    await this.exchange(`connected_accounts/${encodeURIComponent(accountId)}`, { method: 'DELETE' }).catch(noneWhereUnknown);
  }

  async list({ account }: ServerAddress, signal: AbortSignal): Promise<ServerListing> {
    const { app_key } = account!;
    if (!(await this.isActive(account!, signal))) throw new Unauthorized(SIGN_IN, null);
    const { knowledge } = await this.toolkit(app_key);
    // Some have a thousand; those that matter are marked.
    const tools = (await this.tools(app_key, {}, signal)) ?? (await this.tools(app_key, { important: 'true' }, signal));
    if (!tools) throw new ServerFailed(`The app has more than ${MAX_TOOLS} tools.`);
    return storable({ tools, hasResources: knowledge !== null });
  }

  async call({ account }: ServerAddress, { name, args, idempotencyKey, signal }: ServerCall): Promise<ServerResult> {
    // Composio knows of no such key; whatever stands before it, or speaks as it does, may.
    const headers = { 'idempotency-key': idempotencyKey };
    const { data, error, successful } = await this.execute(account!, name, args, { headers, signal, maxBytes: MAX_RESULT_BYTES }).catch(
      (failure: unknown) => {
        if (!(failure instanceof ServerRefused)) throw failure;
        return { data: null, error: failure.message, successful: false };
      },
    );
    const said = successful ? data : (error ?? data);
    if (nests(said)) return { content: '[nests too deep to be written]', isError: !successful };
    return storable({ content: typeof said === 'string' ? said : JSON.stringify(said ?? null), isError: !successful });
  }

  async resources({ account }: ServerAddress, signal: AbortSignal): Promise<ListedResource[]> {
    const { list_tool } = await this.knowledgeOf(account!);
    const resources = new Map<string, ListedResource>();
    let bytes = 0;
    let cursor: string | undefined;
    for (let pages = 0; pages < MAX_RESOURCE_PAGES; pages++) {
      const { data } = await this.answered(account!, list_tool, cursor ? { cursor } : {}, signal);
      const { items, next_cursor } = readAs(wire.ResourceList, data);
      for (const { uri, name, mime_type, modified_at } of items)
        resources.set(uri, { uri, name: name ?? uri, media_type: mime_type ?? null, modified: modified_at ?? null });
      bytes += Buffer.byteLength(JSON.stringify(items));
      if (bytes > MAX_RESOURCES_BYTES || resources.size > MAX_RESOURCES) throw new ServerFailed('The app holds too much to be listed.');
      if (!next_cursor) return storable([...resources.values()]);
      cursor = next_cursor;
    }
    throw new ServerFailed('The list of what the app holds does not end.');
  }

  async read({ account }: ServerAddress, uri: string, signal: AbortSignal): Promise<ResourceContent> {
    const { read_tool } = await this.knowledgeOf(account!);
    const { data } = await this.answered(account!, read_tool, { uri }, signal);
    const { text, mime_type } = readAs(wire.ResourceText, data);
    const bytes = Buffer.from(text);
    if (bytes.length > MAX_READ_BYTES) throw new ServerRefused(`The resource is larger than ${MAX_READ_BYTES / MIB} MiB.`);
    return { media_type: mime_type ?? null, bytes };
  }

  /** Of a tool that only reads. @throws ServerRefused for what it does not do; Unauthorized, ServerFailed */
  private async answered(account: ManagedAccount, tool: string, args: object, signal: AbortSignal): Promise<{ data: unknown }> {
    const answer = await this.execute(account, tool, args, { signal, maxBytes: MAX_PAGE_BYTES }).catch((error: unknown) => {
      throw error instanceof NotSent ? new ServerFailed(error.message, { cause: error }) : error;
    });
    if (answer.successful) return answer;
    throw new ServerRefused(sentence(answer.error), wire.ResourceGone.safeParse(answer.data).success);
  }

  /**
   * Calls a tool with an account.
   *
   * @throws ServerRefused for what the provider did not take as it was; Unauthorized where the account is no longer any good; NotSent for what
   *   surely was not done; ServerFailed after which it may have been
   */
  private async execute(account: ManagedAccount, tool: string, args: object, asking: Asking): Promise<wire.Executed> {
    const body = { connected_account_id: account.id, user_id: account.user, version: VERSION, arguments: args };
    try {
      return await this.ask(`tools/execute/${encodeURIComponent(tool)}`, wire.ExecuteAnswer, {
        ...{ ...asking, method: 'POST', body, timeoutMs: CALL_MS },
      });
    } catch (error) {
      if (isUnsent(error)) throw new NotSent((error as Error).message, { cause: error });
      if (!(error instanceof Refused) || error.status >= 500) throw error;
      // After any other, as one that says that time was up, it may have been done, also where the account is over by then: that may be what it did.
      if (!NOT_TAKEN_AS_IT_IS.includes(error.status)) throw error;
      if (!(await this.isActive(account, asking.signal))) throw new Unauthorized(SIGN_IN, null);
      throw new ServerRefused(error.message);
    }
  }

  /** @returns null where there are more than may be */
  private async tools(toolkit_slug: string, only: Record<string, string>, signal: AbortSignal): Promise<ListedTool[] | null> {
    const tools: ListedTool[] = [];
    let bytes = 0;
    for await (const { items } of this.pages('tools', { toolkit_slug, toolkit_versions: VERSION, ...only }, wire.ToolPage, signal)) {
      for (const { slug, name, description, input_parameters: inputSchema, tags } of items) {
        const annotations = Object.fromEntries(HINTS.map((hint) => [hint, tags?.includes(hint) || undefined]));
        const tool = toTool({ name: slug, title: name, description, inputSchema, annotations });
        tools.push(tool);
        bytes += Buffer.byteLength(JSON.stringify(tool));
        if (tools.length > MAX_TOOLS || bytes > MAX_LIST_BYTES) return null;
      }
    }
    return tools;
  }

  private async knowledgeOf({ app_key }: ManagedAccount): Promise<NonNullable<Toolkit['knowledge']>> {
    const { knowledge } = await this.toolkit(app_key);
    if (!knowledge) throw new ServerRefused('The app holds nothing that knowledge can be made of.');
    return knowledge;
  }

  /** @throws ServerFailed where it is not there */
  private async toolkit(key: string): Promise<Toolkit> {
    const find = ({ apps }: Toolkits) => apps.find(({ app_key }) => app_key === key);
    const known = find(await this.known());
    if (known) return known;
    // It may have been enabled since.
    const from = provider();
    const now = from && (await this.toolkits.get(from.url));
    const toolkit = now && find(now);
    if (!toolkit) throw new ServerFailed(now?.isAway ? AWAY : 'This app cannot be connected here any more.');
    return toolkit;
  }

  private async known(): Promise<Toolkits> {
    const from = provider();
    if (!from) return { apps: [], isAway: false };
    const next = this.toolkits.get(from.url);
    const { last } = this;
    if (last?.url !== from.url || last.toolkits.isAway || last.at + GOOD_MS < performance.now()) return next;
    // Nobody waits for it.
    next.catch((error: Error) => this.logger.error({ msg: 'Managed apps could not be listed', error: error.stack }));
    return last.toolkits;
  }

  private async listToolkits(url: string): Promise<Toolkits> {
    const toolkits = await this.toolkitsNow();
    this.last = { url, at: performance.now(), toolkits };
    return toolkits;
  }

  private async toolkitsNow(): Promise<Toolkits> {
    const signal = AbortSignal.timeout(LIST_MS);
    try {
      const configs = new Map<string, string>();
      for await (const { items } of this.pages('auth_configs', { show_disabled: 'false' }, wire.AuthConfigPage, signal))
        for (const { id, status, toolkit } of items)
          if (status !== 'DISABLED' && toolkit.slug.length <= MAX_KEY && configs.size < MAX_APPS && !configs.has(toolkit.slug))
            configs.set(toolkit.slug, id);
      if (configs.size === 0) return { apps: [], isAway: false };
      const body = { toolkits: [...configs.keys()], limit: MAX_APPS };
      const { items } = await this.ask('toolkits/multi', wire.ToolkitPage, { method: 'POST', body, signal });
      const apps = items.flatMap(({ slug, name, meta }): Toolkit[] => {
        const authConfigId = configs.get(slug);
        if (!authConfigId) return [];
        const knowledge = meta?.knowledge ?? null;
        const shown = { app_key: slug, name, description: meta?.description ?? '', icon_url: meta?.logo ?? null };
        return [{ ...shown, authConfigId, knowledge, knowledge_capable: knowledge !== null }];
      });
      return { apps: apps.sort((a, b) => (a.app_key < b.app_key ? -1 : 1)), isAway: false };
    } catch (error) {
      if (!(error instanceof ServerFailed)) throw error;
      this.logger.warn({ msg: 'The provider of managed apps does not say which there are', error: error.message });
      return { apps: [], isAway: true };
    }
  }

  /** Every page of a list. @throws Refused, ServerFailed */
  private async *pages<Page extends { next_cursor?: string | null }>(
    path: string,
    query: Record<string, string>,
    schema: z.ZodType<Page>,
    signal: AbortSignal,
  ): AsyncGenerator<Page> {
    let cursor: string | undefined;
    for (let pages = 0; pages < MAX_PAGES; pages++) {
      const asked = new URLSearchParams({ ...query, limit: String(PAGE), ...(cursor && { cursor }) });
      const page = await this.ask(`${path}?${asked.toString()}`, schema, { signal });
      yield page;
      if (!page.next_cursor || page.next_cursor === cursor) return;
      cursor = page.next_cursor;
    }
    throw new ServerFailed('A list of the provider of managed apps does not end.');
  }

  /** @throws Refused, ServerFailed */
  private async ask<S extends z.ZodType>(path: string, schema: S, asking: Asking): Promise<z.infer<S>> {
    return readAs(schema, jsonOf(await this.exchange(path, asking)));
  }

  private async exchange(
    path: string,
    { method = 'GET', body, headers, signal, maxBytes = MAX_PAGE_BYTES, timeoutMs = ASK_MS }: Asking,
  ): Promise<EgressResponse> {
    const from = provider();
    if (!from) throw new ServerFailed('There is no provider of managed apps here any more.');
    const answer = await this.egress
      .fetch(`${from.url.replace(/\/+$/, '')}/api/v3/${path}`, {
        ...{ purpose: 'platform', method, signal, maxBytes, timeoutMs, maxRedirects: 0 },
        headers: { ...headers, accept: 'application/json', 'x-api-key': from.key, ...(body && { 'content-type': 'application/json' }) },
        ...(body && { body: JSON.stringify(body) }),
      })
      .catch((error: unknown) => {
        if (!(error instanceof EgressError || signal?.aborted)) throw error;
        throw new ServerFailed(AWAY, { cause: error });
      });
    const { status } = answer;
    if (status >= 200 && status < 300) return answer;
    const isOurs = status === 401 || status === 429;
    if (status === 401) this.logger.error({ msg: 'The provider of managed apps does not take its key' });
    // A 401 would tell of our key, and whoever is told has no way to change it.
    const said = isOurs || status >= 500 ? undefined : wire.ErrorAnswer.safeParse(jsonOf(answer)).data?.error.message;
    throw new Refused(status, said ? sentence(said) : isOurs ? AWAY : `The provider of managed apps answered with status ${status}.`);
  }
}

/** Whether it has surely come to nothing, for a reason that who calls can do nothing about. */
function isUnsent(error: unknown): boolean {
  if (error instanceof Refused) return error.status === 401 || error.status === 429;
  return error instanceof ServerFailed && error.cause instanceof EgressError && BEFORE.includes(error.cause.reason);
}

/** Of an account that is not there. @throws everything else */
function noneWhereUnknown(error: unknown): null {
  if (error instanceof Refused && (error.status === 404 || error.status === 410)) return null;
  throw error;
}

/** What somebody else has said, as much of it as may be shown. */
function sentence(said: unknown): string {
  const words = typeof said === 'string' ? said : nests(said) ? '' : JSON.stringify(said ?? '');
  return storable(words.slice(0, MAX_ERROR)) || 'The tool has failed.';
}

function readAs<S extends z.ZodType>(schema: S, answer: unknown): z.infer<S> {
  const { success, data } = schema.safeParse(answer);
  if (!success) throw new ServerFailed('The provider of managed apps gave an answer that cannot be used.');
  return data;
}
