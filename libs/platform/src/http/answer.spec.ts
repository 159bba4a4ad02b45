import { ApiProperty } from '@nestjs/swagger';
import { answer } from './answer';
import { BooleanField, DateTimeField, DecimalString, StringField } from './fields';

class Base {
  @StringField()
  id: string;

  @DateTimeField({ nullable: true })
  ended_at: string | null;
}

class Documented {
  @ApiProperty({ type: 'object', additionalProperties: { type: 'string' } })
  names: Record<string, string>;
}

class Thing extends Base {
  @DecimalString({ nullable: true })
  cost: string | null;

  @BooleanField()
  is_over: boolean;
}

const row = { id: 'x', ended_at: new Date('2026-01-02T03:04:05.678Z'), cost: '12.500000', secret_hash: 'never' };

describe('an answer', () => {
  it('has the fields that its class and those before it declare, and nothing else of the row', () => {
    expect(answer(Thing, row, { is_over: true })).toEqual({ id: 'x', ended_at: '2026-01-02T03:04:05.678Z', cost: '12.5', is_over: true });
  });

  it.each([
    ['100.000000', '100'],
    ['0.100000', '0.1'],
    ['100', '100'],
    [null, null],
  ])('writes the decimal %s as %s', (cost, text) => {
    expect(answer(Thing, { ...row, cost }, { is_over: false }).cost).toBe(text);
  });

  it('takes what is given beside the row first', () => {
    expect(answer(Thing, row, { is_over: false, ended_at: null, cost: null })).toMatchObject({ ended_at: null, cost: null });
  });

  it('has what only the API document knows of its class', () => {
    expect(answer(Documented, { names: { a: 'b' }, secret_hash: 'never' })).toEqual({ names: { a: 'b' } });
  });

  it('does not compile without a field that the row lacks, or has in another form', () => {
    // @ts-expect-error is_over is missing
    answer(Thing, row);
    // @ts-expect-error a number is no decimal
    answer(Thing, { ...row, cost: 1 }, { is_over: true });
    expect(answer(Base, row)).toEqual({ id: 'x', ended_at: '2026-01-02T03:04:05.678Z' });
  });
});
