import * as agents from './agents/agents.entities';
import * as billing from './billing/billing.entities';
import * as chats from './chats/chats.entities';
import * as waits from './chats/waits.entities';
import * as connections from './connections/connections.entities';
import * as decisions from './decisions/decisions.entities';
import * as environments from './environments/environments.entities';
import * as files from './files/files.entities';
import * as identity from './identity/identity.entities';
import * as inboxes from './inboxes/inboxes.entities';
import * as inference from './inference/inference.entities';
import * as knowledge from './knowledge/knowledge.entities';
import * as orgs from './orgs/orgs.entities';
import * as processes from './processes/processes.entities';
import * as projects from './projects/projects.entities';
import * as prompts from './prompts/prompts.entities';
import * as replays from './replays/replays.entities';
import * as auditLog from './platform/audit-log.entity';
import * as dataKey from './platform/data-key.entity';
import * as event from './platform/event.entity';
import * as idempotencyKey from './platform/idempotency-key.entity';
import * as outboundMail from './platform/outbound-mail.entity';
import * as outbox from './platform/outbox.entity';
import * as runOwner from './platform/run-owner.entity';
import * as worker from './platform/worker.entity';

export * from './agents/agents.entities';
export { SharedBlock } from './agents/shared-block.entity';
export * from './billing/billing.entities';
export * from './chats/chats.entities';
export * from './chats/waits.entities';
export * from './connections/connections.entities';
export * from './decisions/decisions.entities';
export * from './environments/environments.entities';
export * from './files/files.entities';
export * from './identity/identity.entities';
export * from './inboxes/inboxes.entities';
export * from './inference/inference.entities';
export * from './knowledge/knowledge.entities';
export * from './orgs/orgs.entities';
export * from './processes/processes.entities';
export * from './projects/projects.entities';
export * from './prompts/prompts.entities';
export * from './replays/replays.entities';
export * from './platform/audit-log.entity';
export * from './platform/data-key.entity';
export * from './platform/durable-run.entity';
export * from './platform/event.entity';
export * from './platform/idempotency-key.entity';
export * from './platform/outbound-mail.entity';
export * from './platform/outbox.entity';
export * from './platform/run-owner.entity';
export * from './platform/worker.entity';
export { MIGRATIONS } from './migrations';
export { SCHEMA_EXTRAS } from './schema-extras';
export {
  BASIS_TALLY,
  CHAT_TALLY,
  DECISION_TALLY,
  HITL_TALLY,
  INBOX_TALLY,
  KNOWLEDGE_TALLY,
  LIST_TALLY,
  NIL_UUID,
  USAGE_TALLY,
  foldOf,
  listTally,
  PLATFORM_AUDIT,
  recountOf,
  sourceState,
  TALLIES,
  type Tally,
} from './tallies';

// eslint-disable-next-line @typescript-eslint/no-unsafe-function-type -- the type by which TypeORM itself knows entity classes
type EntityClass = Function;
const classesOf = (file: Record<string, unknown>): EntityClass[] =>
  Object.values(file).filter((v): v is EntityClass => typeof v === 'function');

/** Every table of the service. */
export const ENTITIES: EntityClass[] = [
  agents,
  billing,
  chats,
  waits,
  connections,
  decisions,
  environments,
  files,
  identity,
  inboxes,
  inference,
  knowledge,
  orgs,
  processes,
  projects,
  prompts,
  replays,
  auditLog,
  dataKey,
  event,
  idempotencyKey,
  outboundMail,
  outbox,
  runOwner,
  worker,
].flatMap((file) => classesOf(file as unknown as Record<string, unknown>));
