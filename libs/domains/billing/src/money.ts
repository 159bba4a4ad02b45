import { Decimal } from 'decimal.js';

// Own precision, so that no other code's settings change what something costs.
export const Money = Decimal.clone({ precision: 60, rounding: Decimal.ROUND_HALF_UP });
/** Digits after the point that money and credits are kept with. */
export const SCALE = 6;

/** A decimal as answers and columns carry it: no exponent, no trailing zeros, at most six digits after the point, rounded half up. */
export const text = (value: Decimal): string => value.toDecimalPlaces(SCALE, Decimal.ROUND_HALF_UP).toFixed();
