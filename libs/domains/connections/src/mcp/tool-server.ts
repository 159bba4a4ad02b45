import type { ToolHints } from '@aps/tools';

/** An account that somebody has connected at the provider of managed apps. No secret: nobody calls with it but who has the provider's key. */
export interface ManagedAccount {
  app_key: string;
  id: string;
  /** Whose it is at the provider. */
  user: string;
}

/** Where a tool server is, and what it is told of who calls. */
export interface ServerAddress {
  /** Its tools are asked of the provider of managed apps, and there is no address. */
  account?: ManagedAccount;
  url: string;
  /** Credentials among them: never logged, and sent to this origin alone. */
  headers: Record<string, string>;
  /** Written by us, so it may be internal; what a tenant has chosen is guarded. */
  trusted?: boolean;
}

/** A tool as its server lists it. */
export interface ListedTool {
  name: string;
  title: string | null;
  description: string;
  /** JSON Schema of the arguments. */
  input_schema: Record<string, unknown>;
  hints: ToolHints;
}

/** What a server answered when it was dialed. */
export interface ServerListing {
  tools: ListedTool[];
  /** It has resources, which knowledge can be made of. */
  hasResources: boolean;
}

/** One resource of a server. */
export interface ListedResource {
  uri: string;
  name: string;
  media_type: string | null;
  /** As its server says when it was changed; null where it does not. */
  modified: string | null;
}

/** What a resource says. */
export interface ResourceContent {
  media_type: string | null;
  bytes: Buffer;
}

/** What a call came to. */
export interface ServerResult {
  /** As a model reads it. */
  content: string;
  isError: boolean;
}

export interface ServerCall {
  name: string;
  args: Record<string, unknown>;
  /** Sent as `_meta.idempotency_key`. */
  idempotencyKey: string;
  /** When aborted, the server is told that the call is cancelled. */
  signal: AbortSignal;
  progressed: () => void;
}

/** The server wants (other) credentials: 401. A 403 says nothing of them: it is what these may not do, and others may still. */
export class Unauthorized extends Error {
  constructor(
    message: string,
    /** Its `WWW-Authenticate`, where it sent one. */
    readonly challenge: string | null,
  ) {
    super(message);
  }
}

/** The server cannot be reached, or does not speak the protocol. The sentence may be shown to who owns the connection. */
export class ServerFailed extends Error {}

/** The server answers that it does not do what it was asked, and goes on to be asked other things. */
export class ServerRefused extends ServerFailed {
  constructor(
    message: string,
    /** What was asked for is not there. */
    readonly isGone = false,
  ) {
    super(message);
  }
}

/** What the platform asks of tool servers. */
export abstract class ToolServers {
  /** All tools, by all cursors: 500 and 1 MiB at most, and none whose schema cannot be walked. @throws Unauthorized, ServerFailed */
  abstract list(server: ServerAddress, signal: AbortSignal): Promise<ServerListing>;
  /** @throws Unauthorized; NotSent for what surely never got there; ServerFailed after which the call may have had its effect */
  abstract call(server: ServerAddress, call: ServerCall): Promise<ServerResult>;
  /** All resources, by all cursors: 20 MiB at most. @throws Unauthorized, ServerFailed */
  abstract resources(server: ServerAddress, signal: AbortSignal): Promise<ListedResource[]>;
  /** @throws Unauthorized; ServerRefused for this resource; ServerFailed */
  abstract read(server: ServerAddress, uri: string, signal: AbortSignal): Promise<ResourceContent>;
}
