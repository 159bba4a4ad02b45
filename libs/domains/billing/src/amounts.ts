import { Decimal } from 'decimal.js';

// Own precision, so that no other code's settings change what is owed.
const Amount = Decimal.clone({ precision: 60, rounding: Decimal.ROUND_HALF_UP });
/** Digits after the point that credits are kept with. */
const SCALE = 6;

const text = (value: Decimal): string => value.toDecimalPlaces(SCALE).toFixed();

/** Credits as decimal texts: no exponent, no trailing zeros, at most six digits after the point. */
export const plus = (...amounts: string[]): string => text(amounts.reduce((sum, amount) => sum.plus(amount), new Amount(0)));
export const minus = (from: string, amount: string): string => text(new Amount(from).minus(amount));
export const negated = (amount: string): string => text(new Amount(amount).negated());
export const percentOf = (amount: string, percent: string): string => text(new Amount(amount).times(percent).div(100));
export const smallest = (...amounts: string[]): string => text(Amount.min(...amounts));
export const isPositive = (amount: string): boolean => new Amount(amount).greaterThan(0);
export const isZero = (amount: string): boolean => new Amount(amount).isZero();
