/** The parts of the SDK that are used, loaded when the first server is asked: they take longer to load, and more memory, than a domain does. */
const load = async () => {
  const [{ Client }, { StreamableHTTPClientTransport }, { SSEClientTransport }, { McpError }] = await Promise.all([
    import('@modelcontextprotocol/sdk/client/index.js'),
    import('@modelcontextprotocol/sdk/client/streamableHttp.js'),
    import('@modelcontextprotocol/sdk/client/sse.js'),
    import('@modelcontextprotocol/sdk/types.js'),
  ]);
  return { Client, StreamableHTTPClientTransport, SSEClientTransport, McpError };
};

export type Sdk = Awaited<ReturnType<typeof load>>;

let loading: Promise<Sdk> | undefined;

/** Loads it once for the process. */
export const loadSdk = (): Promise<Sdk> => (loading ??= load());
