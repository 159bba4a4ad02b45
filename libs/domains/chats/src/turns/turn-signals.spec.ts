import type { TopicEvent, TopicSignal } from '@aps/contracts';
import { TurnSignals } from './turn-signals';

const event = (id: number): TopicEvent => ({ id, type: 'status_changed', at: '2026-01-01T00:00:00.000Z', data: {} });

describe('what a running turn tells', () => {
  const sent: TopicSignal[] = [];
  const signals = (committed: Promise<void> = Promise.resolve()) => new TurnSignals((signal) => sent.push(signal), committed);
  beforeEach(() => {
    sent.length = 0;
  });

  it('waits for the commit, and then goes out together', async () => {
    let commit = () => {};
    const turn = signals(new Promise((resolve) => (commit = resolve)));
    turn.event(event(2));
    turn.text('m1', 'one ');
    turn.text('m1', 'two');
    await Promise.resolve();
    expect(sent).toEqual([]);
    commit();
    await Promise.resolve();
    expect(sent).toEqual([[event(2), { message_id: 'm1', text: 'one two' }]]);
  });

  it('is never told when the commit fails', async () => {
    const turn = signals(Promise.reject(new Error('lost')));
    turn.text('m1', 'one');
    await new Promise((later) => setTimeout(later, 10));
    turn.flush();
    expect(sent).toEqual([]);
  });

  it('knows whether a message that starts anew has been heard', async () => {
    let commit = () => {};
    const turn = signals(new Promise((resolve) => (commit = resolve)));
    turn.text('m1', 'unheard');
    expect(turn.discardText('m1')).toBe(false);
    commit();
    await Promise.resolve();
    turn.text('m1', 'heard');
    expect(turn.discardText('m1')).toBe(true);
    expect(turn.discardText('m2')).toBe(false);
    expect(sent).toEqual([[{ message_id: 'm1', text: 'heard' }]]);
  });
});
