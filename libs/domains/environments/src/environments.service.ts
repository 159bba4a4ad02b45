import { Injectable } from '@nestjs/common';
import { Entitlements } from '@aps/billing';
import { DomainError, requireValid } from '@aps/contracts';
import { Environment, type EnvironmentKind } from '@aps/entities';
import type { OrgScope } from '@aps/guards';
import { Audit } from '@aps/platform/audit';
import { DecryptionError, EnvelopeCrypto, hashToken, newDaemonToken, type SecretPlace } from '@aps/platform/crypto';
import { advisoryLock, changesOf, Database, Deletions, OrgTable, type Columns, type Tx } from '@aps/platform/database';
import { Outbox } from '@aps/platform/outbox';
import { uuidv7 } from 'uuidv7';
import { CommandsRepository } from './commands/commands.repository';
import { EnvironmentLog } from './environment-log';
import { daemonApiUrl } from './environments.config';
import { requestedTimeout, requireChange, requireImage, requireMachine, type EnvironmentChange } from './environments.policy';
import { EnvironmentsQueries, type EnvironmentView } from './environments.queries';
import { namedImage } from './images/named-image';

export interface NewEnvironment {
  kind: EnvironmentKind;
  name?: string | null;
  image_ref?: string | null;
}

/** What a machine proves itself by, and how its daemon is installed. */
export interface MachineAccess {
  daemon_token: string;
  install_command: string;
}

/** An environment, and how its machine gets in, where it is one. */
export interface Entered {
  environment: EnvironmentView;
  access: MachineAccess | null;
}

const MAX_ENVIRONMENTS = 500;
const BUILTIN_NAME = 'Built-in sandbox';

/** Makes, changes and deletes environments. */
@Injectable()
export class EnvironmentsService {
  private readonly rows = new OrgTable(Environment, 'Environment');

  constructor(
    private readonly db: Database,
    private readonly queries: EnvironmentsQueries,
    private readonly commands: CommandsRepository,
    private readonly log: EnvironmentLog,
    private readonly entitlements: Entitlements,
    private readonly crypto: EnvelopeCrypto,
    private readonly outbox: Outbox,
    private readonly deletions: Deletions,
    private readonly audit: Audit,
  ) {}

  /**
   * @returns the token of a machine too, which only an administrator is told again
   * @throws DomainError 403 `entitlement_exceeded`; 409 `sandbox_exists`, `limit_reached`; 422 `validation_error`
   */
  create(scope: OrgScope, { kind, name, image_ref }: NewEnvironment): Promise<Entered> {
    const image = kind === 'CUSTOM_IMAGE' ? namedImage(image_ref) : null;
    if (kind === 'REMOTE_MACHINE' && !name)
      requireValid([{ loc: ['body', 'name'], msg: 'A remote machine needs a name', type: 'missing' }]);
    const called = kind === 'BUILTIN_SANDBOX' ? BUILTIN_NAME : name || image!.slice(0, 120);
    return this.db.transaction(scope, async (tx) => {
      await this.requireRoom(tx, scope, kind);
      const id = uuidv7();
      const token = kind === 'REMOTE_MACHINE' ? await this.newToken(tx, scope, id) : null;
      const made = await this.rows.insertOrNothing(tx, scope, {
        ...{ id, kind, name: called, created_by: scope.actor.userId },
        ...token?.columns,
        ...(image && (await this.validating(tx, scope, id, { image_ref: image }))),
      });
      if (!made) throw new DomainError('sandbox_exists', 'This organization has its built-in sandbox already.');
      await this.audit.record(tx, scope, 'environment.created', id, { kind, name: called });
      await this.log.tell(tx, id);
      return { environment: await this.queries.get(scope, id, tx), access: token && accessOf(token.token) };
    });
  }

  /** @throws DomainError `not_found`; 422 `validation_error` with every problem */
  update(scope: OrgScope, id: string, change: EnvironmentChange): Promise<EnvironmentView> {
    return this.db.transaction(scope, async (tx) => {
      const before = await this.rows.get(tx, scope, id, 'for no key update');
      requireChange(before, change);
      const wish = { name: change.name ?? undefined, exec_timeout_requested_s: requestedTimeout(change) };
      const changes: Columns<Environment> = {
        ...changesOf<Partial<Environment>>(before, wish),
        // Also where it reads as before: a tag may stand for something else now.
        ...(change.image_ref && (await this.validating(tx, scope, id, { image_ref: namedImage(change.image_ref), image_digest: null }))),
      };
      if (change.image_ref) await this.stopValidating(tx, before);
      const fields = Object.keys(changes).filter((field) => !UNTOLD.has(field));
      if (fields.length) {
        await this.rows.update(tx, scope, id, changes);
        await this.audit.record(tx, scope, 'environment.updated', id, { fields });
        if (change.image_ref) await this.log.tell(tx, id);
      }
      return this.queries.get(scope, id, tx);
    });
  }

  /** Looks at the image anew: at the digest that it is, or at what is named where there is none. While it is looked at already, nothing. */
  validate(scope: OrgScope, id: string): Promise<EnvironmentView> {
    return this.db.transaction(scope, async (tx) => {
      const before = await this.rows.get(tx, scope, id, 'for no key update');
      requireImage(before);
      if (before.image_state !== 'validating') {
        await this.rows.update(tx, scope, id, await this.validating(tx, scope, id));
        await this.log.tell(tx, id);
      }
      return this.queries.get(scope, id, tx);
    });
  }

  /** What names it goes on without it; what runs there is killed, its token is dead, its workspaces are removed. */
  async delete(scope: OrgScope, id: string): Promise<void> {
    await this.db.transaction(scope, async (tx) => {
      const before = await this.rows.get(tx, scope, id, 'for update');
      const { kind, name } = before;
      await this.rows.update(tx, scope, id, { token: null, token_hash: null, probe_id: null, connected_until: null, socket_id: null });
      await this.rows.delete(tx, scope, id);
      await this.stopValidating(tx, before);
      await this.commands.cancelOfEnvironment(tx, id);
      await this.deletions.tell(tx, { kind: 'environment', orgId: scope.orgId, id, slug: id });
      if (kind !== 'REMOTE_MACHINE') await this.outbox.enqueue(tx, 'environment.remove', { org_id: scope.orgId, environment_id: id });
      await this.audit.record(tx, scope, 'environment.deleted', id, { kind, name });
      tx.afterCommit(() => this.commands.wakeMachine(id));
    });
  }

  /** @throws DomainError `not_found`; 409 `token_not_stored`; 422 `nothing_to_reveal` */
  reveal(scope: OrgScope, id: string): Promise<MachineAccess> {
    return this.db.transaction(scope, async (tx) => {
      const environment = await this.rows.get(tx, scope, id);
      requireMachine(environment);
      const { token } = environment;
      if (token === null) throw new DomainError('token_not_stored', 'The token was issued before copies were kept; rotate it.');
      const opened = await this.crypto.decrypt(tx, placeOf(scope, id), token).catch((error: unknown) => {
        if (error instanceof DecryptionError)
          throw new DomainError('token_not_stored', 'The stored token cannot be read any more; rotate it.');
        throw error;
      });
      await this.audit.record(tx, scope, 'environment.token_revealed', id);
      return accessOf(opened);
    });
  }

  /** The new token holds at once. What the old one has open, and has taken, goes on; it opens nothing more. @throws as {@link reveal} */
  rotate(scope: OrgScope, id: string): Promise<Entered> {
    return this.db.transaction(scope, async (tx) => {
      requireMachine(await this.rows.get(tx, scope, id, 'for no key update'));
      const { token, columns } = await this.newToken(tx, scope, id);
      await this.rows.update(tx, scope, id, columns);
      await this.audit.record(tx, scope, 'environment.token_rotated', id);
      return { environment: await this.queries.get(scope, id, tx), access: accessOf(token) };
    });
  }

  /** The plan counts custom images alone. */
  private async requireRoom(tx: Tx, scope: OrgScope, kind: EnvironmentKind): Promise<void> {
    await advisoryLock(tx, `cap:max_custom_environments:${scope.orgId}`);
    if ((await this.rows.count(tx, scope)) >= MAX_ENVIRONMENTS)
      throw new DomainError('limit_reached', `An organization has at most ${MAX_ENVIRONMENTS} environments.`, {
        context: { limit: MAX_ENVIRONMENTS },
      });
    if (kind !== 'CUSTOM_IMAGE') return;
    const current = await this.rows.count(tx, scope, { kind });
    await this.entitlements.requireRoom(scope.orgId, 'max_custom_environments', current, tx);
  }

  /** Begins a validation, after which any older one writes nothing more. */
  private async validating(tx: Tx, scope: OrgScope, id: string, columns: Columns<Environment> = {}): Promise<Columns<Environment>> {
    const probe_id = await this.outbox.enqueue(tx, 'environment.validate', { org_id: scope.orgId, environment_id: id });
    return { ...columns, probe_id, image_state: 'validating' };
  }

  /** Of one that has begun, whoever runs it finds out by the row. */
  private async stopValidating(tx: Tx, { probe_id }: Environment): Promise<void> {
    if (probe_id) await this.outbox.cancel(tx, probe_id);
  }

  private async newToken(tx: Tx, scope: OrgScope, id: string) {
    const token = newDaemonToken();
    const sealed = await this.crypto.encrypt(tx, placeOf(scope, id), token);
    return { token, columns: { token: sealed, token_hash: hashToken(token) } };
  }
}

/** What follows from another field, and nobody has asked for. */
const UNTOLD = new Set(['probe_id', 'image_state', 'image_digest']);
const placeOf = ({ orgId }: OrgScope, rowId: string): SecretPlace => ({ orgId, table: 'environments', column: 'token', rowId });

function accessOf(token: string): MachineAccess {
  return { daemon_token: token, install_command: `curl -fsSL ${daemonApiUrl()}/api/daemon/install.sh | APS_DAEMON_TOKEN=${token} sh` };
}
