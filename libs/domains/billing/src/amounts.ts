import { Money, SCALE, text } from './money';

/** Credits as decimal texts: no exponent, no trailing zeros, at most six digits after the point. */
export const plus = (...amounts: string[]): string => text(amounts.reduce((sum, amount) => sum.plus(amount), new Money(0)));
export const minus = (from: string, amount: string): string => text(new Money(from).minus(amount));
export const negated = (amount: string): string => text(new Money(amount).negated());
export const smallest = (...amounts: string[]): string => text(Money.min(...amounts));
export const isPositive = (amount: string): boolean => new Money(amount).greaterThan(0);
export const isZero = (amount: string): boolean => new Money(amount).isZero();
/** All the digits of a column, as PostgreSQL answers it. */
export const stored = (amount: string): string => new Money(amount).toFixed(SCALE);
/** What so many of a quantity cost, where all of it costs `price`. */
export const forEach = (many: number, price: string, quantity: string): string => text(new Money(price).times(many).div(quantity));
