import { onFailure, onFound, type Effect } from './effects';

const EFFECTS: Effect[] = ['inside', 'repeatable', 'once'];

describe('a step that has no result', () => {
  it('is made where it was not sent, and noted before where it may not be made twice', () => {
    expect(EFFECTS.map((effect) => onFound(effect, 'intent'))).toEqual(['make', 'make', 'send']);
  });

  it('is never made again once it was sent, whatever it is taken for now', () => {
    expect(EFFECTS.map((effect) => onFound(effect, 'sent'))).toEqual(['unknown', 'unknown', 'unknown']);
  });

  it('leaves open what it did only where it may have reached another side', () => {
    expect(EFFECTS.map((effect) => [onFailure(effect, true), onFailure(effect, false)])).toEqual([
      ['none', 'none'],
      ['possible', 'none'],
      ['unknown', 'none'],
    ]);
  });
});
