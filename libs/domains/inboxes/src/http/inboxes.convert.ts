import { DeployInboxRevisionResponse, InboxChannelResponse, InboxResponse, InboxRevisionResponse, InboxRevisionSummary } from '@aps/dtos';
import type { InboxRevision } from '@aps/entities';
import { answer } from '@aps/platform/http';
import type { ChannelView } from '../channels/channels.queries';
import type { InboxView } from '../inboxes.queries';
import type { Deployment } from '../rules/revisions.service';

export const toChannel = (channel: ChannelView): InboxChannelResponse => answer(InboxChannelResponse, channel);

export const toInbox = (inbox: InboxView): InboxResponse =>
  answer(InboxResponse, inbox, {
    channels: inbox.channels.map(toChannel),
    current_revision: inbox.current_revision && answer(InboxRevisionSummary, inbox.current_revision),
  });

export const toRevision = (revision: InboxRevision): InboxRevisionResponse => answer(InboxRevisionResponse, revision);

export const toDeployment = (deployment: Deployment): DeployInboxRevisionResponse =>
  answer(DeployInboxRevisionResponse, deployment, { revision: toRevision(deployment.revision) });
