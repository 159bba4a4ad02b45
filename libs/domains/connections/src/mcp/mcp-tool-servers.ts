import { Injectable } from '@nestjs/common';
import { storable } from '@aps/platform/database';
import { Egress, EgressError, type EgressReason } from '@aps/platform/egress';
import { NotSent } from '@aps/tools';
import { CallAnswer, ResourceContents, ResourcePage, ToolPage, toResource, toResult, toTool } from './answers';
import { Answered, Session } from './session';
import {
  ServerFailed,
  ServerRefused,
  ToolServers,
  type ListedResource,
  type ListedTool,
  type ResourceContent,
  type ServerAddress,
  type ServerCall,
  type ServerListing,
  type ServerResult,
} from './tool-server';

const MIB = 1024 * 1024;
export const MAX_TOOLS = 500;
export const MAX_LIST_BYTES = MIB;
export const MAX_RESULT_BYTES = 5 * MIB;
/** Of all collections of a server together, and the bytes of their list. */
export const MAX_RESOURCES = 100_000;
export const MAX_RESOURCES_BYTES = 20 * MIB;
export const MAX_READ_BYTES = 10 * MIB;
/** As much in base64, and what is said around it. */
const MAX_READ_ANSWER_BYTES = Math.ceil((MAX_READ_BYTES * 4) / 3) + MIB / 4;

/** Failures before anything was sent. */
export const BEFORE: readonly EgressReason[] = ['url', 'scheme', 'userinfo', 'port', 'dns', 'address', 'connect'];
/** Statuses that say that a request was not taken. */
export const NOT_TAKEN = [403, 404, 405, 413, 415, 429];

/** Servers of the Model Context Protocol. Each question has a session of its own, which costs two short requests and holds nothing. */
@Injectable()
export class McpToolServers extends ToolServers {
  constructor(private readonly egress: Egress) {
    super();
  }

  list(server: ServerAddress, signal: AbortSignal): Promise<ServerListing> {
    return this.inSession(server, MAX_LIST_BYTES, signal, async (session) => {
      const tools = new Map<string, ListedTool>();
      if (session.has('tools'))
        for await (const page of session.pages('tools/list', ToolPage)) {
          // Of two with one name, a call reaches one.
          for (const tool of page.tools) if (!tools.has(tool.name)) tools.set(tool.name, toTool(tool));
          if (tools.size > MAX_TOOLS) throw new ServerFailed(`The server has more than ${MAX_TOOLS} tools.`);
        }
      return storable({ tools: [...tools.values()], hasResources: session.has('resources') });
    });
  }

  async call(server: ServerAddress, { name, args, idempotencyKey, signal, progressed }: ServerCall): Promise<ServerResult> {
    const session = await Session.open(this.egress, server, MAX_RESULT_BYTES, signal).catch((error: unknown) => {
      const failure = toFailure(error);
      throw failure instanceof ServerFailed ? new NotSent(failure.message, { cause: error }) : failure;
    });
    try {
      const params = { name, arguments: args, _meta: { idempotency_key: idempotencyKey } };
      return storable(toResult(await session.ask('tools/call', params, CallAnswer, progressed)));
    } catch (error) {
      if (error instanceof ServerRefused) return storable({ content: error.message, isError: true });
      const failure = toFailure(error);
      throw failure instanceof ServerFailed && wasNotTaken(error) ? new NotSent(failure.message, { cause: error }) : failure;
    } finally {
      void session.end();
    }
  }

  resources(server: ServerAddress, signal: AbortSignal): Promise<ListedResource[]> {
    return this.inSession(server, MAX_RESOURCES_BYTES, signal, async (session) => {
      const resources = new Map<string, ListedResource>();
      for await (const page of session.pages('resources/list', ResourcePage))
        for (const resource of page.resources) resources.set(resource.uri, toResource(resource));
      if (resources.size > MAX_RESOURCES) throw new ServerFailed(`The server has more than ${MAX_RESOURCES} resources.`);
      return storable([...resources.values()]);
    });
  }

  read(server: ServerAddress, uri: string, signal: AbortSignal): Promise<ResourceContent> {
    return this.inSession(server, MAX_READ_ANSWER_BYTES, signal, async (session) => {
      const { contents } = await session.ask('resources/read', { uri }, ResourceContents).catch((error: unknown) => {
        throw error instanceof EgressError && error.reason === 'too_large' ? tooLarge() : error;
      });
      const content = contents.find((one) => one.uri === uri) ?? contents[0];
      if (!content) throw new ServerRefused('The resource has no contents.');
      const bytes = typeof content.blob === 'string' ? Buffer.from(content.blob, 'base64') : Buffer.from(content.text ?? '');
      if (bytes.length > MAX_READ_BYTES) throw tooLarge();
      return { media_type: content.mimeType ?? null, bytes };
    });
  }

  private async inSession<T>(
    server: ServerAddress,
    maxBytes: number,
    signal: AbortSignal,
    work: (session: Session) => Promise<T>,
  ): Promise<T> {
    let session: Session | undefined;
    try {
      session = await Session.open(this.egress, server, maxBytes, signal);
      return await work(session);
    } catch (error) {
      throw toFailure(error);
    } finally {
      void session?.end();
    }
  }
}

const tooLarge = () => new ServerRefused(`The resource is larger than ${MAX_READ_BYTES / MIB} MiB.`);

/** As the port has it. The sentences of the way out are fit for tenants. */
function toFailure(error: unknown): unknown {
  return error instanceof EgressError ? new ServerFailed(error.message, { cause: error }) : error;
}

/** Whether the request has surely come to nothing. */
function wasNotTaken(error: unknown): boolean {
  if (error instanceof EgressError) return BEFORE.includes(error.reason);
  return error instanceof Answered && NOT_TAKEN.includes(error.status);
}
