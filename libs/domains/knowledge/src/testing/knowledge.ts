import { BillingModule } from '@aps/billing';
import { FilesHttpModule } from '@aps/files/http';
import { aTeam, type TestTeam } from '@aps/orgs/testing';
import { MaintenanceModule } from '@aps/platform/maintenance';
import { WorkersModule } from '@aps/platform/queues';
import { eventually, fileForm, sql, type Answer } from '@aps/platform/testing';
import { BASE_MODULES, TestService } from '@aps/testing';
import { KnowledgeHttpModule } from '../http';
import { KnowledgeJobsModule } from '../jobs';

const MODULES = [
  ...BASE_MODULES,
  BillingModule,
  MaintenanceModule,
  FilesHttpModule,
  KnowledgeHttpModule,
  KnowledgeJobsModule,
  WorkersModule.forQueues('knowledge'),
];

/** A base of an organization. */
export interface TestBase {
  id: string;
  slug: string;
  org: TestTeam;
  /** `/api/orgs/<id>/knowledge/<base>` */
  path: string;
}

type Body = Answer['body'];

/** Gateway and indexer in one process. */
export class KnowledgeService extends TestService {
  constructor(beside: typeof BASE_MODULES = []) {
    super([...MODULES, ...beside]);
  }

  async base(org?: TestTeam, name = 'Handbook'): Promise<TestBase> {
    const of = org ?? (await aTeam(this));
    const { id, slug } = await this.make('POST', `${of.path}/knowledge`, { as: of.owner, body: { name } });
    return { id, slug, org: of, path: `${of.path}/knowledge/${id}` };
  }

  asMember({ path, org }: TestBase, method: string, below: string, body?: unknown): Promise<Answer> {
    return this.call(method, path + below, { as: org.member, body });
  }

  asOwner({ path, org }: TestBase, method: string, below: string, body?: unknown): Promise<Answer> {
    return this.call(method, path + below, { as: org.owner, body });
  }

  async text(base: TestBase, title: string, content: string): Promise<Body> {
    return (await this.asMember(base, 'POST', '/sources/text', { title, content })).body;
  }

  async upload({ org }: TestBase, content: Uint8Array<ArrayBuffer> | string, filename: string): Promise<string> {
    return (await this.make('POST', `${org.path}/uploads`, { as: org.member, body: fileForm(content, filename) })).file_id;
  }

  async source(base: TestBase, id: string): Promise<Body> {
    return (await this.asMember(base, 'GET', '/sources')).body.find((source: Body) => source.id === id);
  }

  /** When nothing is to be done with it any more. */
  settled(base: TestBase, id: string): Promise<Body> {
    return eventually(
      () => this.source(base, id),
      ({ status }) => status === 'READY' || status === 'FAILED',
    );
  }

  async chunks(base: TestBase, id: string): Promise<string[]> {
    return (await this.asMember(base, 'GET', `/sources/${id}/chunks`)).body.items.map(({ content }: Body) => content);
  }

  /** What readers of the organization were told of a source, oldest first. */
  async told({ org }: TestBase, id: string): Promise<string[]> {
    const rows = await this.db.query(
      sql<{ seq: number; data: { source_id: string; status: string } }>(
        `SELECT seq, data FROM events WHERE topic = 'org:' || $1 ORDER BY seq`,
      ),
      [org.id],
    );
    return rows.filter(({ data }) => data.source_id === id).map(({ data }) => data.status);
  }
}

/** Starts before the specs of a file, and ends after them. */
export function knowledgeService(beside: typeof BASE_MODULES = []): KnowledgeService {
  const service = new KnowledgeService(beside);
  beforeAll(() => service.start());
  afterAll(() => service.close());
  return service;
}
