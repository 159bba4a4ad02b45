import { randomBytes } from 'node:crypto';
import { existsSync, readFileSync, renameSync, writeFileSync } from 'node:fs';
import { type INestApplicationContext, Logger, Module } from '@nestjs/common';
import { NestFactory } from '@nestjs/core';
import { AgentsModule, AgentsService } from '@aps/agents';
import { BillingModule, OrgPlans, Subscriptions, SubscriptionsRepository } from '@aps/billing';
import { ENTITIES, MIGRATIONS, Subscription } from '@aps/entities';
import { actingUser, actingOperator, OrgScope } from '@aps/guards';
import { ApiTokensService, IdentityModule, PlatformAdminsService, UsersService } from '@aps/identity';
import { AnsweringModule, InboxesModule, InboxesService, RevisionsService } from '@aps/inboxes';
import { InferenceModule } from '@aps/inference';
import { OrganizationsService, OrgsModule } from '@aps/orgs';
import { hashPassword } from '@aps/platform/crypto';
import { NO_CALLER, Database } from '@aps/platform/database';
import { MailModule } from '@aps/platform/mail';
import { PlatformModule } from '@aps/platform/runtime';
import { ProcessesModule, ProcessesService, ProcessRevisions } from '@aps/processes';
import { REFUND_DEFINITION } from './demo-process';

/** Credentials of the demo, as the development stack's file has them. */
interface Demo {
  org_id: string;
  agent_id: string;
  user: { email: string; password: string };
  api_token: string;
  platform_admin: { email: string; password: string };
  admin_token: string;
  inbox: DemoInbox;
  process: { id: string; inbox: DemoInbox };
}

interface DemoInbox {
  id: string;
  address: string;
}

const INSTRUCTION = `You are the guide to this platform. Answer briefly and concretely.

Explain what agents, chats, tools and revisions are when somebody asks, and use your todo list for work of several steps.`;

/** Of the demo's inboxes. */
const RULES = {
  stages: [
    { id: 'newsletters', kind: 'match', when: { field: 'subject', op: 'contains', value: 'newsletter' }, then: { action: 'drop' } },
    {
      id: 'urgent',
      kind: 'match',
      when: { field: 'subject', op: 'contains', value: 'urgent' },
      then: { action: 'continue', tags: ['urgent'] },
    },
  ],
};

@Module({
  imports: [
    PlatformModule.forRoot('migrate', { entities: ENTITIES, migrations: MIGRATIONS }),
    MailModule,
    BillingModule,
    InferenceModule,
    OrgsModule.forRoot(OrgPlans),
    IdentityModule,
    AgentsModule,
    InboxesModule,
    // The demo's process answers mails.
    AnsweringModule,
    ProcessesModule,
  ],
})
class DemoModule {}

/**
 * Makes the demo organization, its owner, an agent, and a platform administrator who is no member of it, and writes their credentials
 * to `file`. The passwords are random: this is a development stack, but it may be reachable.
 */
export async function seedDemo(file: string): Promise<void> {
  if (existsSync(file) && (await stillThere(JSON.parse(readFileSync(file, 'utf8')) as Partial<Demo>))) return;
  const app = await NestFactory.createApplicationContext(DemoModule, { logger: ['error', 'fatal'], abortOnError: false });
  try {
    const db = app.get(Database);
    const users = app.get(UsersService, { strict: false });
    const tokens = app.get(ApiTokensService, { strict: false });
    const suffix = randomBytes(3).toString('hex');
    const person = async (email: string, name: string) => {
      const password = randomBytes(12).toString('base64url');
      const password_hash = await hashPassword(password);
      const user = await db.transaction(NO_CALLER, (tx) => users.create(tx, { email, name, password_hash, proven: true }));
      return { email, password, id: user.id };
    };
    const taken = await users.findByEmail(db, 'demo@example.com');
    const owner = await person(taken ? `demo-${suffix}@example.com` : 'demo@example.com', 'Demo Owner');
    const admin = await person(taken ? `operator-${suffix}@example.com` : 'operator@example.com', 'Demo Operator');
    await app.get(PlatformAdminsService, { strict: false }).add(actingOperator(admin.id, {}), admin.email);
    const found = (name: string) => app.get(OrganizationsService, { strict: false }).create(db, actingUser(owner.id), { name });
    // First, so that it gets the credits that a person is given once.
    await putOn(app, (await found('Demo Trial')).id, 'trial');
    const org = await found('Demo Organization');
    await putOn(app, org.id, 'enterprise', {
      overrides: { enforced_idp_sso: false },
      override_reason: 'The demo signs in by password.',
    });
    const scope = OrgScope.member(org.id, owner.id, 'OWNER');
    const agent = await app.get(AgentsService, { strict: false }).create(scope, {
      name: 'Guide',
      description: 'Shows what an agent can do.',
      instruction: INSTRUCTION,
    });
    const demo: Demo = {
      org_id: org.id,
      agent_id: agent.id,
      user: { email: owner.email, password: owner.password },
      api_token: (await tokens.create(actingUser(owner.id), { name: 'Demo' })).token,
      platform_admin: { email: admin.email, password: admin.password },
      admin_token: (await tokens.create(actingUser(admin.id), { name: 'Demo operator' })).token,
      inbox: await inboxOf(app, scope, 'Support', { target_kind: 'agent', target_id: agent.id, settings: { reply: 'auto' } }),
      process: await processOf(app, scope),
    };
    writeFileSync(`${file}.tmp`, `${JSON.stringify(demo, null, 2)}\n`, { mode: 0o600 });
    renameSync(`${file}.tmp`, file);
  } finally {
    await app.close();
    Logger.flush();
  }
}

/** An inbox that hands mails and webhooks on, by rules that are deployed. */
async function inboxOf(
  app: INestApplicationContext,
  scope: OrgScope,
  name: string,
  hands: { target_kind: 'agent' | 'process'; target_id: string; settings: Record<string, unknown> },
): Promise<DemoInbox> {
  const inboxes = app.get(InboxesService, { strict: false });
  const { id, channels } = await inboxes.create(scope, { name, slug: name.toLowerCase(), ...hands, channels: ['email', 'webhook'] });
  const revisions = app.get(RevisionsService, { strict: false });
  const { revision } = await revisions.push(scope, id, RULES);
  await revisions.deploy(scope, id, revision.id);
  return { id, address: channels[0].address! };
}

/** A process that is deployed, and an inbox that hands on to it. */
async function processOf(app: INestApplicationContext, scope: OrgScope): Promise<Demo['process']> {
  const { id } = await app.get(ProcessesService, { strict: false }).create(scope, {
    name: 'Refund',
    title: 'Refund an order',
    description: 'Reads what a customer writes, asks a human about more than 100 USD, and answers.',
  });
  const revisions = app.get(ProcessRevisions, { strict: false });
  const { revision } = await revisions.push(scope, id, { definition: REFUND_DEFINITION });
  await revisions.deploy(scope, id, revision.id);
  return { id, inbox: await inboxOf(app, scope, 'Refunds', { target_kind: 'process', target_id: id, settings: { reply: 'tool' } }) };
}

/** Where an operator has deleted the plan, the organization stays on that of new ones. */
async function putOn(
  app: INestApplicationContext,
  orgId: string,
  code: string,
  otherwise: Pick<Partial<Subscription>, 'overrides' | 'override_reason'> = {},
): Promise<void> {
  const subscriptions = app.get(Subscriptions, { strict: false });
  await app.get(Database).transaction(NO_CALLER, async (tx) => {
    const plan = await app.get(SubscriptionsRepository, { strict: false }).planByCode(tx, code);
    const before = await subscriptions.lock(tx, orgId);
    if (!plan) return;
    if (!before) await subscriptions.subscribe(tx, orgId, plan);
    else if (before.plan.id !== plan.id) await subscriptions.change(tx, orgId, plan, `demo:${orgId}`);
    if (otherwise.overrides) await tx.manager.update(Subscription, { org_id: orgId }, otherwise);
  });
}

/** The file may be older than the database, when only one of them was thrown away, or than what a demo has today. */
async function stillThere(demo: Partial<Demo>): Promise<boolean> {
  if (!demo.process) return false;
  const { createDataSource } = await import('@aps/platform/database');
  const dataSource = await createDataSource({ entities: [] }, { poolSize: 1 }).initialize();
  try {
    const rows = await dataSource.query<unknown[]>(
      'SELECT 1 FROM agents a JOIN organizations o ON o.id = a.org_id WHERE a.id = $1 AND o.id = $2 AND o.deleted_at IS NULL',
      [demo.agent_id, demo.org_id],
    );
    return rows.length > 0;
  } finally {
    await dataSource.destroy();
  }
}
