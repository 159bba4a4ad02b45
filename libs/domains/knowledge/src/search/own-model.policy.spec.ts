import { OwnModel } from './own-model.policy';
import { dot } from './vectors.policy';

const BOOKS = [
  'The invoice is overdue, so ask for payment of the outstanding sum.',
  'A payment that is overdue is the debt of whoever got the invoice.',
  'The debt is the outstanding sum of each invoice.',
];
const ANIMALS = [
  'A hamster eats seeds and sleeps by day.',
  'Rodents like seeds, and a hamster is a rodent.',
  'By day the rodent sleeps in its burrow, full of seeds.',
];
const JAPANESE = ['請求書の支払期限が過ぎています', '支払期限を過ぎた請求書の督促', 'ハムスターは種を食べる'];
const TEXTS = [...BOOKS, ...ANIMALS, ...JAPANESE];

const learnt = (texts: string[]) =>
  OwnModel.learn(async function* () {
    for (let i = 0; i < texts.length; i += 2) yield texts.slice(i, i + 2);
  });
const likeness = (model: OwnModel, one: string, other: string) => dot(model.embed(one), model.embed(other));

describe('a model that is learnt from texts', () => {
  it('has words near to each other that stand in the same company, also where they never met', async () => {
    const model = await learnt(TEXTS);
    expect(likeness(model, 'debt', 'payment')).toBeGreaterThan(likeness(model, 'debt', 'burrow') + 0.2);
    expect(likeness(model, 'rodents', 'hamster')).toBeGreaterThan(likeness(model, 'rodents', 'invoice') + 0.2);
  });

  it('knows an inflected word, one that it has not learnt, and scripts without spaces', async () => {
    const model = await learnt(TEXTS);
    expect(likeness(model, 'paymentless', 'payment')).toBeGreaterThan(0.2);
    expect(likeness(model, 'zyzzyva', 'the zyzzyva')).toBeGreaterThan(0.5);
    expect(likeness(model, '請求書', JAPANESE[1])).toBeGreaterThan(likeness(model, '請求書', JAPANESE[2]) + 0.2);
  });

  it('says vectors of length 1, and nothing of a text without words', async () => {
    const model = await learnt(TEXTS);
    const vector = model.embed('hamster');
    expect(dot(vector, vector)).toBeCloseTo(1, 5);
    expect(new Set(model.embed(' … !'))).toEqual(new Set([0]));
    expect(new Set((await learnt(['', '!'])).embed(''))).toEqual(new Set([0]));
  });

  it('says the same when it was stored', async () => {
    const model = await learnt(TEXTS);
    const again = OwnModel.unpack(model.pack());
    for (const text of TEXTS) again.embed(text).forEach((value, i) => expect(value).toBeCloseTo(model.embed(text)[i], 6));
    expect(() => OwnModel.unpack(Buffer.alloc(100, 9))).toThrow('another format');
  });
});
