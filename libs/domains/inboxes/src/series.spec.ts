import { metrics } from '@aps/platform/observability';
import './intake/refusals';
import './pipeline/evaluation';

const seriesOf = async (name: string) => (await metrics.getSingleMetric(name)!.get()).values;

describe('what alerts ask for the increase of is there from the start, so that the first event is a growth:', () => {
  it('refusals of each door that are faults of ours', async () => {
    const series = ['webhook', 'mail_hook', 'smtp'].flatMap((door) =>
      ['failed', 'service_unavailable', 'too_much_at_once'].map((reason) => ({ labels: { door, reason }, value: 0 })),
    );
    expect(await seriesOf('inbox_refusals_total')).toEqual(series);
  });

  it('messages that could not be handed on', async () => {
    expect(await seriesOf('inbox_messages_settled_total')).toEqual([{ labels: { state: 'failed', reason: '' }, value: 0 }]);
  });
});
