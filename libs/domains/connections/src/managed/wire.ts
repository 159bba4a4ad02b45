import { ForeignId } from '@aps/contracts';
import { z } from 'zod';

/* What is read of Composio's answers, version 3 of its API. Less strict than its document where nothing hangs on it. */

const words = z.string().nullish();
const page = { next_cursor: words };

export const AuthConfigPage = z.object({
  ...page,
  items: z.array(z.object({ id: z.string().min(1), status: words, toolkit: z.object({ slug: z.string().min(1) }) })),
});

/**
 * Two tools of a toolkit by which what it holds is read as resources are. Composio says no such thing of any; what speaks as it does may
 * (tools/demo-tools). `list_tool {cursor}` has `{items: [{uri, name, mime_type, modified_at}], next_cursor}` as its data, and
 * `read_tool {uri}` `{mime_type, text}`, or `is_gone`.
 */
const Knowledge = z.object({ list_tool: z.string().min(1), read_tool: z.string().min(1) });

export const ToolkitPage = z.object({
  ...page,
  items: z.array(
    z.object({
      slug: z.string().min(1),
      name: z.string().min(1),
      meta: z.object({ description: words, logo: words.catch(null), knowledge: Knowledge.nullish().catch(null) }).nullish(),
    }),
  ),
});

export const LinkAnswer = z.object({ redirect_url: z.url({ protocol: /^https?$/ }), connected_account_id: ForeignId });

export const AccountAnswer = z.object({ status: z.string(), user_id: z.string(), is_disabled: z.boolean().nullish() });

export const ToolPage = z.object({
  ...page,
  items: z.array(
    z.object({
      slug: z.string().min(1),
      name: words,
      description: words,
      input_parameters: z.record(z.string(), z.unknown()).catch({ type: 'object' }),
      tags: z.array(z.string()).nullish().catch(null),
    }),
  ),
});

export const ExecuteAnswer = z.object({ data: z.unknown(), error: z.unknown(), successful: z.boolean() });
export type Executed = z.infer<typeof ExecuteAnswer>;

export const ErrorAnswer = z.object({ error: z.object({ message: z.string() }) });

export const ResourceList = z.object({
  ...page,
  items: z.array(z.object({ uri: z.string().min(1), name: words, mime_type: words, modified_at: words })),
});

export const ResourceText = z.object({ mime_type: words, text: z.string() });
export const ResourceGone = z.object({ is_gone: z.literal(true) });
