import { DateTimeField, EnumField, ListField, NestedField, StringField } from '@aps/platform/http';
import { RunLease, RunQueue } from '../common/run-standing.dto';
import { SourceState } from './source.dto';

export class KnowledgeSourceBlockedBy {
  @EnumField(['cap', 'lease', 'org_suspended', 'source', 'fault'], {
    name: 'KnowledgeSourceBlockedByKind',
    description:
      '`cap`: as many sources of the organization are at work as may. `lease`: its worker has gone silent, another one takes over. `source`: it cannot be indexed as it is. `fault`: something went wrong that may pass.',
  })
  kind: string;
  @DateTimeField({ nullable: true, description: 'Since when.' }) since: string | null;
  @StringField({ nullable: true, description: 'What of that kind: the worker, the organization, or the code of its error.' })
  ref: string | null;
}

export class KnowledgeSourceDiagnosisResponse {
  @SourceState('What the source is.') state: string;
  @NestedField(() => KnowledgeSourceBlockedBy, {
    nullable: true,
    description: 'What keeps it from being indexed; null when nothing does, or there is nothing to do.',
  })
  blocked_by: KnowledgeSourceBlockedBy | null;
  @NestedField(() => RunLease, { nullable: true, description: 'Who indexes it.' }) lease: RunLease | null;
  @NestedField(() => RunQueue, { nullable: true, description: 'Where one that has not begun stands among those of the organization.' })
  queue: RunQueue | null;
  @EnumField(['wait', 'resync', 'replace', 'unsuspend'], {
    name: 'KnowledgeSourceNextAction',
    nullable: true,
    description: 'What would have it go on. `replace`: another source in its place. Null where nothing will, or need be done.',
  })
  next_action: string | null;
  @ListField(['resync', 'delete'], { description: 'What the caller can do with it now that has an effect.' }) allowed_actions: string[];
}
