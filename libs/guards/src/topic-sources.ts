import { Injectable } from '@nestjs/common';
import { DomainError, type TokenArea } from '@aps/contracts';
import type { Audience, Permission, Snapshot } from '@aps/platform/realtime';
import type { OrgScope } from './org-scope';
import type { Principal } from './principal';
import { PrincipalStore, type CredentialRef } from './principal.store';
import { SignInRules } from './sign-in-rules';

/** Who follows a stream, as the stream keeps it: ids alone, and no token. */
export interface StreamReader {
  credential: CredentialRef;
  orgId: string;
  userId: string;
}

export interface TopicQuestion {
  orgId: string;
  userId: string;
  /** What follows the colon of the topic. */
  id: string;
}

/** What streams must know about the topics of one kind; the domain that the kind belongs to provides it. */
export interface TopicSource {
  /** `chat` of `chat:{id}`. */
  readonly kind: string;
  /** What an API token must be allowed to read to follow them; null where being a member is all. */
  readonly area: TokenArea | null;
  /** The state of each topic now; undefined for what is not there or may not be followed. */
  snapshots(scope: OrgScope, ids: string[]): Promise<(Snapshot | undefined)[]>;
  /** Which of these may still be followed, in their order. Asked for all open streams at once. */
  visibleAmong(questions: TopicQuestion[]): Promise<boolean[]>;
  /** What nobody of these organizations is shown of their events, as its snapshots say it; asked beside. Left out where it never changes. */
  concealing?(orgIds: string[]): Promise<Map<string, Snapshot['conceal']>>;
}

/**
 * Topics that every member of their organization may follow, for as long as what they tell of is there.
 *
 * @param statesOf rows of those that are there, of whatever organization; is asked for each id once
 * @param told what the snapshot says of a row, beside `last_id`
 */
export function memberTopics<R extends { id: string; org_id: string; event_seq: number }>(
  kind: string,
  area: TokenArea,
  statesOf: (ids: string[]) => Promise<R[]>,
  told: (row: R) => Record<string, unknown>,
): TopicSource {
  const byId = async (ids: string[]) => new Map((await statesOf([...new Set(ids)])).map((row) => [row.id, row]));
  return {
    kind,
    area,
    async snapshots({ orgId }, ids) {
      const rows = await byId(ids);
      return ids.map((id) => {
        const row = rows.get(id);
        if (row?.org_id !== orgId) return undefined;
        return { data: { ...told(row), last_id: String(row.event_seq) }, newestId: row.event_seq };
      });
    },
    async visibleAmong(questions) {
      const rows = await byId(questions.map(({ id }) => id));
      return questions.map(({ id, orgId }) => rows.get(id)?.org_id === orgId);
    },
  };
}

async function permissionsOf(source: TopicSource, asked: TopicQuestion[]): Promise<Permission[]> {
  const orgIds = [...new Set(asked.map(({ orgId }) => orgId))];
  const [visible, concealing] = await Promise.all([source.visibleAmong(asked), source.concealing?.(orgIds)]);
  return asked.map(({ orgId }, i) => {
    if (!visible[i]) return 'topic_lost';
    return concealing ? { conceal: concealing.get(orgId) } : 'yes';
  });
}

/** The kinds of topics that this process can stream, and who may go on reading them. */
@Injectable()
export class TopicSources {
  private readonly sources = new Map<string, TopicSource>();

  constructor(
    private readonly principals: PrincipalStore,
    private readonly signIns: SignInRules,
  ) {}

  register(source: TopicSource): void {
    this.sources.set(source.kind, source);
  }

  /** Undefined for a kind that this process does not serve. */
  of(kind: string): TopicSource | undefined {
    return this.sources.get(kind);
  }

  readerOf(principal: Principal, scope: OrgScope): StreamReader {
    if (principal.via === 'internal') throw new Error('Streams are opened by callers, and not by services.');
    return { credential: { via: principal.via, id: principal.credentialId }, orgId: scope.orgId, userId: principal.userId };
  }

  /** Bound once: streams that share the function are asked about together. */
  readonly audience: Audience<StreamReader> = async (questions) => {
    // Most streams of a moment are few callers'. What is found is remembered for a second besides.
    const standings = new Map<string, Promise<Permission>>();
    const standingOf = (reader: StreamReader): Promise<Permission> => {
      const key = `${reader.credential.id} ${reader.orgId}`;
      let standing = standings.get(key);
      if (!standing) standings.set(key, (standing = this.standingOf(reader)));
      return standing;
    };
    const answers = await Promise.all(questions.map(({ reader }) => standingOf(reader)));
    const byKind = new Map<string, (TopicQuestion & { at: number })[]>();
    questions.forEach(({ reader: { orgId, userId }, topic }, at) => {
      if (answers[at] !== 'yes') return;
      const colon = topic.indexOf(':');
      const kind = topic.slice(0, colon);
      const asked = byKind.get(kind) ?? [];
      byKind.set(kind, asked);
      asked.push({ at, orgId, userId, id: topic.slice(colon + 1) });
    });
    for (const [kind, asked] of byKind) {
      const source = this.sources.get(kind);
      // One kind that cannot say decides nothing of its topics, and keeps nobody else from being told.
      const permissions = source && (await permissionsOf(source, asked).catch(() => asked.map((): Permission => 'yes')));
      asked.forEach(({ at }, i) => (answers[at] = permissions?.[i] ?? 'topic_lost'));
    }
    return answers;
  };

  private async standingOf({ credential, orgId }: StreamReader): Promise<Permission> {
    try {
      const principal = await this.principals.byCredential(credential);
      const membership = await this.principals.membership(orgId, principal.userId);
      if (!membership || !(await this.signIns.admits(principal, orgId))) return 'no';
      return membership.suspended && !principal.isPlatformAdmin ? 'org_suspended' : 'yes';
    } catch (error) {
      if (error instanceof DomainError) return 'no';
      throw error;
    }
  }
}
