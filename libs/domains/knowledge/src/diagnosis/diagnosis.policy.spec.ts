import { diagnosisOf, type SourceFacts } from './diagnosis.policy';

const AT = new Date();
const facts = (over: Partial<SourceFacts>): SourceFacts =>
  ({
    status: 'queued',
    state: 'PENDING',
    org_id: 'org',
    dispatched_at: AT,
    ahead: 2,
    oldest_ahead_s: 3.4,
    parked: false,
    ...over,
  }) as SourceFacts;
const failed = (code: string): Partial<SourceFacts> => ({
  ...{ status: 'failed', state: 'FAILED', finished_at: AT },
  error: { code, message: '', stage: 'extract', retryable: false },
});
const running: Partial<SourceFacts> = { status: 'running', state: 'PROCESSING', lease_owner: 'w', lease_expires_at: AT, fence: '7' };

describe('why a source does what it does', () => {
  it.each<[string, Partial<SourceFacts>, string | null, string | null]>([
    ['it waits for a worker', {}, null, 'wait'],
    ['others of the organization are at work', { parked: true }, 'cap', 'wait'],
    ['it is being indexed', running, null, 'wait'],
    ['its worker is silent', { ...running, lease_expired: true }, 'lease', 'wait'],
    ['its organization is suspended', { org_suspended_at: AT }, 'org_suspended', 'unsuspend'],
    ['it cannot be read', failed('encrypted'), 'source', 'replace'],
    ['its address does not answer', failed('fetch_failed'), 'fault', 'resync'],
    ['it is indexed', { status: 'ready', state: 'READY', org_suspended_at: AT }, null, null],
  ])('%s', (_, over, kind, next) => {
    const { blocked_by, next_action } = diagnosisOf(facts(over));
    expect([blocked_by?.kind ?? null, next_action]).toEqual([kind, next]);
  });

  it('says who is at work, and who comes before', () => {
    expect(diagnosisOf(facts({}))).toMatchObject({ lease: null, queue: { position: 2, oldest_ahead_s: 3 } });
    expect(diagnosisOf(facts(running))).toMatchObject({ lease: { worker: 'w', expires_at: AT, fence: '7' }, queue: null });
  });
});
