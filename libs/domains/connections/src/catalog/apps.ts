import type { ConnectionMethod } from '@aps/entities';
import { inferenceConfig } from '@aps/inference';
import { connectionsConfig } from '../connections.config';

/** Something that can be connected. */
export interface App {
  app_key: string;
  name: string;
  description: string;
  icon_url: string | null;
  /** Null: whoever connects says it. */
  server_url: string | null;
  /** What it can be connected by, the recommended one first. */
  methods: readonly [ConnectionMethod, ...ConnectionMethod[]];
  /** The header that it wants an API key in. Default: `x-api-key`. */
  api_key_header?: string;
  knowledge_capable: boolean;
  /** Its address is ours, so it may be internal. */
  trusted?: boolean;
}

const hosted = (app: Pick<App, 'app_key' | 'name' | 'description' | 'methods'> & { server_url: string }): App => ({
  ...app,
  icon_url: null,
  knowledge_capable: false,
});

/** Services that run tool servers of their own for everybody. */
const HOSTED: readonly App[] = [
  hosted({
    app_key: 'deepwiki',
    name: 'DeepWiki',
    description: 'Answers questions about public GitHub repositories.',
    server_url: 'https://mcp.deepwiki.com/mcp',
    methods: ['none'],
  }),
  hosted({
    app_key: 'github',
    name: 'GitHub',
    description: 'Repositories, issues and pull requests.',
    server_url: 'https://api.githubcopilot.com/mcp/',
    methods: ['bearer'],
  }),
  hosted({
    app_key: 'hugging-face',
    name: 'Hugging Face',
    description: 'Models, data sets, papers and Spaces.',
    server_url: 'https://huggingface.co/mcp',
    methods: ['bearer', 'none'],
  }),
  hosted({
    app_key: 'linear',
    name: 'Linear',
    description: 'Issues, projects and cycles.',
    server_url: 'https://mcp.linear.app/mcp',
    methods: ['mcp_oauth', 'bearer'],
  }),
  hosted({
    app_key: 'microsoft-learn',
    name: 'Microsoft Learn',
    description: 'Documentation of Microsoft products.',
    server_url: 'https://learn.microsoft.com/api/mcp',
    methods: ['none'],
  }),
  hosted({
    app_key: 'notion',
    name: 'Notion',
    description: 'Pages and databases of a workspace.',
    server_url: 'https://mcp.notion.com/mcp',
    methods: ['mcp_oauth'],
  }),
  hosted({
    app_key: 'sentry',
    name: 'Sentry',
    description: 'Errors and performance of applications.',
    server_url: 'https://mcp.sentry.dev/mcp',
    methods: ['mcp_oauth'],
  }),
  hosted({
    app_key: 'stripe',
    name: 'Stripe',
    description: 'Customers, payments and subscriptions.',
    server_url: 'https://mcp.stripe.com',
    methods: ['mcp_oauth', 'bearer'],
  }),
];

/** Any tool server at all. */
export const CUSTOM_APP: App = {
  app_key: 'custom-mcp',
  name: 'Custom tool server',
  description: 'Any server that speaks the Model Context Protocol.',
  icon_url: null,
  server_url: null,
  methods: ['mcp_oauth', 'mcp_token', 'bearer', 'api_key', 'basic', 'none'],
  knowledge_capable: false,
};

/** The server that development tries connections with. */
function demo(): App | undefined {
  const { demoToolsUrl } = connectionsConfig.value;
  if (!demoToolsUrl || inferenceConfig.value.nodeEnv === 'production') return undefined;
  return {
    app_key: 'demo',
    name: 'Demo tools',
    description: 'Tools and notes to try connections with.',
    icon_url: null,
    server_url: demoToolsUrl,
    methods: ['none', 'api_key'],
    knowledge_capable: true,
    trusted: true,
  };
}

/** All that can be connected here: the demo first, any server last. */
export const apps = (): App[] => [...[demo()].filter((app) => app !== undefined), ...HOSTED, CUSTOM_APP];

export const appOf = (key: string): App | undefined => apps().find(({ app_key }) => app_key === key);
